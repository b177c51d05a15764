"""Fitting: the tools of one workspace, with what stands around them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from handrail import Tool
from handrail.ext import Hook, SafetyCheck, wire_name
from handrail.toolsets.spawning import Spawner, Spawning, spawning
from handrail.toolsets.tasks import FileTaskBook, task_tools
from handrail.toolsets.web import WebOptions, web_tools
from handrail.toolsets.workspace.changes.journal import Changes
from handrail.toolsets.workspace.changes.undo_file import undo_file
from handrail.toolsets.workspace.changes.undo_turn import undo_turn
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.files import file_tools
from handrail.toolsets.workspace.hooks.file_cache import FileCache
from handrail.toolsets.workspace.hooks.syntax_check import SyntaxCheck
from handrail.toolsets.workspace.hooks.syntax_trees import SyntaxTrees
from handrail.toolsets.workspace.options import Options
from handrail.toolsets.workspace.search import searching_tools
from handrail.toolsets.workspace.shell import SandboxCheck, ShellOptions, shell_tools


@dataclass(frozen=True, slots=True)
class Fitted:
    """A workspace ready for work."""

    tools: tuple[Tool, ...]
    named: dict[str, Tool]
    """By id and by every alias."""
    hooks: tuple[Hook, ...]
    safety: tuple[SafetyCheck, ...]
    spawning: Spawning
    close: Callable[[], Awaitable[None]]


def fit(workspace: Workspace, options: Options, tenant: str, spawner: Spawner | None = None) -> Fitted:
    """Everything there is for a workspace of this tenant, and of no other."""
    book = FileTaskBook(partial(workspace.own, "tasks"))
    changes = Changes(workspace)
    changes.settle()
    workspace.journal = changes
    agents = spawning(spawner)
    shell = ShellOptions(options.network, options.unsandboxed, tuple(map(Path, options.readable)))
    made = (
        *file_tools(workspace),
        *searching_tools(workspace),
        *shell_tools(workspace, shell),
        undo_file(changes),
        undo_turn(changes),
        *web_tools(web_options(options)),
        *task_tools(book),
        agents.tool,
    )
    # whoever sets up a workspace chose its tools: a tenant need not enable each, as it must what is built in
    tools = tuple(replace(tool, tenants=frozenset({tenant}), origin="bundle") for tool in made)
    named = {name: tool for tool in tools for name in (*tool.names, tool.slug, wire_name(tool.id))}

    async def close() -> None:
        await book.close()
        changes.close()
        workspace.close()

    hooks = (FileCache(workspace), SyntaxCheck(changes, SyntaxTrees(workspace)))
    return Fitted(tools, named, hooks, (SandboxCheck(shell),), agents, close)


def web_options(options: Options) -> WebOptions:
    """What the web tools of a workspace are allowed."""
    return WebOptions(
        private_networks=options.private_networks,
        provider=options.search,
        searxng_url=options.searxng_url,
    )
