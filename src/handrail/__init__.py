"""Handrail: one tool definition, safe in every hand."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handrail.core.define.call import Call, Outcome
    from handrail.core.define.constructors import BaseTool, define, from_json_schema, from_params, tool
    from handrail.core.define.context import Context
    from handrail.core.define.decision import Decision
    from handrail.core.define.lookup import ToolMatch
    from handrail.core.define.principal import Principal
    from handrail.core.define.result import Attachment, Result
    from handrail.core.define.retry import Retry
    from handrail.core.define.tool import Tool
    from handrail.core.errors import HandrailError, ToolError
    from handrail.core.find.registry import Registry
    from handrail.core.find.toolsets import Toolset
    from handrail.core.guard.approval_request import ApprovalRequest
    from handrail.core.guard.policy import Policy
    from handrail.core.guard.rules import Rule
    from handrail.engine.handrail import Handrail
    from handrail.policy_file import load_policies

__version__ = "0.1.0"

__all__ = [
    "ApprovalRequest",
    "Attachment",
    "BaseTool",
    "Call",
    "Context",
    "Decision",
    "Handrail",
    "HandrailError",
    "Outcome",
    "Policy",
    "Principal",
    "Registry",
    "Result",
    "Retry",
    "Rule",
    "Tool",
    "ToolError",
    "ToolMatch",
    "Toolset",
    "define",
    "from_json_schema",
    "from_params",
    "load_policies",
    "tool",
]

_NAMES_BY_MODULE = {
    "core.define.call": ("Call", "Outcome"),
    "core.define.constructors": ("BaseTool", "define", "from_json_schema", "from_params", "tool"),
    "core.define.context": ("Context",),
    "core.define.decision": ("Decision",),
    "core.define.lookup": ("ToolMatch",),
    "core.define.principal": ("Principal",),
    "core.define.result": ("Attachment", "Result"),
    "core.define.retry": ("Retry",),
    "core.define.tool": ("Tool",),
    "core.errors": ("HandrailError", "ToolError"),
    "core.find.registry": ("Registry",),
    "core.find.toolsets": ("Toolset",),
    "core.guard.approval_request": ("ApprovalRequest",),
    "core.guard.policy": ("Policy",),
    "core.guard.rules": ("Rule",),
    "engine.handrail": ("Handrail",),
    "policy_file": ("load_policies",),
}
_MODULES = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that `import handrail` alone costs next to nothing."""
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'handrail' has no attribute {name!r}")
    value = getattr(import_module(f"handrail.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
