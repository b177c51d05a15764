"""Watching: which of those that look at calls look at the calls of one tool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from handrail.core.define.tool import Tool

Watcher = TypeVar("Watcher")
REMEMBERED = 20_000
"""How many tools a memory by tool holds before it begins anew."""


def watching(watchers: Iterable[Watcher], tool: Tool) -> tuple[Watcher, ...]:
    """Those whose `watches(tool)` says so, and those that have no such word: they see every tool."""
    return tuple(one for one in watchers if _watches(one, tool))


def _watches(watcher: Any, tool: Tool) -> bool:
    says = getattr(watcher, "watches", None)
    return says is None or bool(says(tool))
