"""Hooks: stages that toolsets add around bodies, such as caches, change tracking and syntax checks."""

from __future__ import annotations

import logging
from typing import Any, Protocol

from handrail.core.define.context import Context
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.core.run.normalise import normalise

_log = logging.getLogger("handrail.run")


class Hook(Protocol):
    """One such stage. They run in the order in which they were given."""

    async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
        """A result to use instead of running the body, or None."""
        ...

    async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
        """The result, perhaps with a warning added; called for every body that ran to its end."""
        ...


async def cached_result(hooks: tuple[Hook, ...], tool: Tool, values: Any, ctx: Context) -> Result | None:
    """The first result a hook has at hand, held to what the tool promises like one of its body."""
    for hook in hooks:
        if (result := await hook.before(tool, values, ctx)) is not None:
            return normalise(result, tool).with_metadata(cached=True)
    return None


async def recorded(hooks: tuple[Hook, ...], tool: Tool, values: Any, ctx: Context, result: Result) -> Result:
    """The result after every hook has seen it.

    The body has had its effect: a hook that fails now is reported beside the result, not instead of it.
    """
    for hook in hooks:
        try:
            told = await hook.after(tool, values, ctx, result)
            if not isinstance(told, Result):
                raise TypeError(f"a hook returned {type(told).__name__}, not the result")
            result = told if told is result else normalise(told, tool)
        except Exception as error:
            _log.exception("a hook failed after %s", tool.id)
            result = result.with_metadata(warning=f"recording failed: {error}")
    return result
