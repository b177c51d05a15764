"""Fitting: the tools of one workspace, with what stands around them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from handrail import Tool
from handrail.ext import Hook, SafetyCheck
from handrail.toolsets.spawning import spawning
from handrail.toolsets.tasks import FileTaskBook, task_tools
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.options import Options


@dataclass(frozen=True, slots=True)
class Fitted:
    """A workspace ready for work."""

    tools: tuple[Tool, ...]
    named: dict[str, Tool]
    """By id and by every alias."""
    hooks: tuple[Hook, ...]
    safety: tuple[SafetyCheck, ...]
    close: Callable[[], Awaitable[None]]


def fit(workspace: Workspace, options: Options) -> Fitted:
    """Everything there is for a workspace."""
    book = FileTaskBook(partial(workspace.own, "tasks"))
    tools = (
        *task_tools(book),
        spawning().tool,
    )
    named = {name: tool for tool in tools for name in tool.names}

    async def close() -> None:
        await book.close()
        workspace.close()

    return Fitted(tools, named, (), (), close)
