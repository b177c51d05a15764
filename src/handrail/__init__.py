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
    from handrail.core.define.result import Result
    from handrail.core.define.retry import Retry
    from handrail.core.define.tool import Tool
    from handrail.core.find.registry import Registry
    from handrail.core.find.toolsets import Toolset
    from handrail.core.guard.policy import Policy
    from handrail.core.guard.rules import Rule
    from handrail.engine.handrail import Handrail

__version__ = "0.1.0"

__all__ = [
    "BaseTool",
    "Call",
    "Context",
    "Decision",
    "ToolMatch",
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
    "BaseTool": "core.define.constructors",
    "Call": "core.define.call",
    "Context": "core.define.context",
    "Decision": "core.define.decision",
    "ToolMatch": "core.define.lookup",
    "Handrail": "engine.handrail",
    "Outcome": "core.define.call",
    "Policy": "core.guard.policy",
    "Principal": "core.define.principal",
    "Registry": "core.find.registry",
    "Result": "core.define.result",
    "Retry": "core.define.retry",
    "Rule": "core.guard.rules",
    "Tool": "core.define.tool",
    "Toolset": "core.find.toolsets",
    "define": "core.define.constructors",
    "from_json_schema": "core.define.constructors",
    "from_params": "core.define.constructors",
    "tool": "core.define.constructors",
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
