"""For the tests of whoever writes tools, or calls them: doubles that keep to the rules of the real thing."""

from handrail.testing.answers import Recorded, in_turn
from handrail.testing.approver import ScriptedApprover
from handrail.testing.calls import call, call_sync, events
from handrail.testing.capture import Captured, capture_tool
from handrail.testing.clock import TurnedClock
from handrail.testing.conformant import ConformanceCase, assert_conformant, conformance_cases
from handrail.testing.registry import MockRegistry, mock_tool_registry

__all__ = [
    "Captured",
    "ConformanceCase",
    "MockRegistry",
    "Recorded",
    "ScriptedApprover",
    "TurnedClock",
    "assert_conformant",
    "call",
    "call_sync",
    "capture_tool",
    "conformance_cases",
    "events",
    "in_turn",
    "mock_tool_registry",
]
