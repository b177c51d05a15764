"""For the tests of whoever writes tools, or calls them: doubles that keep to the rules of the real thing."""

from handrail.testing.calls import call, call_sync, events
from handrail.testing.conformance import ConformanceCase, assert_conformant, conformance_cases
from handrail.testing.fakes import FakeClock, ScriptedApprover
from handrail.testing.mock_tools import (
    CapturedTool,
    MockRegistry,
    RecordedCall,
    capture_tool,
    in_turn,
    mock_tool_registry,
)

__all__ = [
    "CapturedTool",
    "ConformanceCase",
    "MockRegistry",
    "RecordedCall",
    "ScriptedApprover",
    "FakeClock",
    "assert_conformant",
    "call",
    "call_sync",
    "capture_tool",
    "conformance_cases",
    "events",
    "in_turn",
    "mock_tool_registry",
]
