"""Handrail: one tool definition, safe in every hand."""

from handrail.core.define.call import Call, Outcome
from handrail.core.define.context import Context
from handrail.core.define.decision import Decision
from handrail.core.define.principal import Principal
from handrail.core.define.result import Result
from handrail.core.define.styles import BaseTool, define, from_json_schema, from_params, tool
from handrail.core.define.tool import Tool
from handrail.core.define.toolset import Toolset
from handrail.core.find.registry import Registry
from handrail.core.guard.policy import Policy
from handrail.core.guard.rules import Rule
from handrail.engine import Handrail

__version__ = "0.1.0"

__all__ = [
    "BaseTool",
    "Call",
    "Context",
    "Decision",
    "Handrail",
    "Outcome",
    "Policy",
    "Principal",
    "Registry",
    "Result",
    "Rule",
    "Tool",
    "Toolset",
    "define",
    "from_json_schema",
    "from_params",
    "tool",
]
