"""Groups of tools that are handed out by permission, and to nobody when permissions are unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from handrail.core.define.principal import EVERYTHING
from handrail.core.define.tool import Tool


def tool_group(tools: Iterable[Tool]) -> Callable[[Iterable[str] | None], list[Tool]]:
    """A function from permissions to the tools of a group that they open; without permissions, none."""
    listed = tuple(tools)

    def group(permissions: Iterable[str] | None = None) -> list[Tool]:
        held = frozenset(permissions or ())
        if not held:
            return []
        return [tool for tool in listed if tool.requires is None or {tool.requires, EVERYTHING} & held]

    return group
