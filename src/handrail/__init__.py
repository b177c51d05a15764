"""Handrail: one tool definition, safe in every hand."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handrail.core.define.call import Call, Outcome
    from handrail.core.define.context import Context
    from handrail.core.define.decision import Decision
    from handrail.core.define.found import Found
    from handrail.core.define.principal import Principal
    from handrail.core.define.result import Result
    from handrail.core.define.retry import Retry
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
    "Found",
    "Handrail",
    "Outcome",
    "Policy",
    "Principal",
    "Registry",
    "Result",
    "Retry",
    "Rule",
    "Tool",
    "Toolset",
    "define",
    "from_json_schema",
    "from_params",
    "tool",
]

_HOMES = {
    "BaseTool": "core.define.styles",
    "Call": "core.define.call",
    "Context": "core.define.context",
    "Decision": "core.define.decision",
    "Found": "core.define.found",
    "Handrail": "engine",
    "Outcome": "core.define.call",
    "Policy": "core.guard.policy",
    "Principal": "core.define.principal",
    "Registry": "core.find.registry",
    "Result": "core.define.result",
    "Retry": "core.define.retry",
    "Rule": "core.guard.rules",
    "Tool": "core.define.tool",
    "Toolset": "core.define.toolset",
    "define": "core.define.styles",
    "from_json_schema": "core.define.styles",
    "from_params": "core.define.styles",
    "tool": "core.define.styles",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that `import handrail` alone costs next to nothing."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'handrail' has no attribute {name!r}")
    value = getattr(import_module(f"handrail.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
