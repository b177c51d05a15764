"""Hooks: stages that toolsets add around bodies, such as caches, change tracking and syntax checks."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from handrail.core.define.context import Context
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.core.guard.decide import SafetyCheck
from handrail.core.guard.guard import MAX_REMEMBERED_TOOLS, watchers_of
from handrail.core.run.normalise import normalise

_log = logging.getLogger("handrail.run")


class Hook(Protocol):
    """One such stage. They run in the order in which they were given.

    One with a method `watches(tool) -> bool` sees those tools alone, and the calls of others pay nothing for
    it. It is asked once for each tool.
    """

    async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
        """A result to use instead of running the body, or None."""
        ...

    async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
        """The result, perhaps with a warning added; called for every body that ran to its end."""
        ...


@runtime_checkable
class Equipped(Protocol):
    """A toolset that brings its own hooks and safety checks: a Handrail takes them after its own.

    One that has only one of the two attributes brings that.
    """

    @property
    def hooks(self) -> Sequence[Hook]: ...
    @property
    def safety(self) -> Sequence[SafetyCheck]: ...


class ToolHooks(NamedTuple):
    """What looks at the calls of one tool beside its body."""

    hooks: tuple[Hook, ...] = ()
    plain: bool = True
    """Whether nothing but the body looks at validated arguments, so that flat ones may go the short way."""


NO_HOOKS = ToolHooks()


class Hooks:
    """The hooks and safety checks of a Handrail, sorted once for each tool."""

    __slots__ = ("_hooks", "_of", "_safety")

    def __init__(self, hooks: tuple[Hook, ...], safety: tuple[SafetyCheck, ...]) -> None:
        self._hooks, self._safety = hooks, safety
        self._of: dict[Tool, ToolHooks] = {}

    def of(self, tool: Tool) -> ToolHooks:
        """What looks at this tool."""
        watched = self._of.get(tool)
        if watched is None:
            hooks = watchers_of(self._hooks, tool)
            checks = watchers_of(self._safety, tool)
            watched = ToolHooks(hooks, not hooks and not checks)
            if len(self._of) >= MAX_REMEMBERED_TOOLS:
                self._of.clear()
            self._of[tool] = watched
        return watched


async def cached_result(hooks: tuple[Hook, ...], tool: Tool, values: Any, ctx: Context) -> Result | None:
    """The first result a hook has at hand, held to what the tool promises like one of its body."""
    for hook in hooks:
        if (result := await hook.before(tool, values, ctx)) is not None:
            return normalise(result, tool).with_metadata(cached=True)
    return None


async def after_hooks(
    hooks: tuple[Hook, ...], tool: Tool, values: Any, ctx: Context, result: Result
) -> Result:
    """The result after every hook has seen it.

    The body has had its effect: a hook that fails now is reported beside the result, not instead of it.
    """
    for hook in hooks:
        try:
            changed = await hook.after(tool, values, ctx, result)
            if not isinstance(changed, Result):
                raise TypeError(f"a hook returned {type(changed).__name__}, not the result")
            result = changed if changed is result else normalise(changed, tool)
        except Exception as error:
            _log.exception("a hook failed after %s", tool.id)
            told_before = result.metadata.get("warning")
            message = f"recording failed: {error}"
            result = result.with_metadata(warning=f"{told_before} {message}" if told_before else message)
    return result
