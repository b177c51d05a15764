"""WorkspaceToolset: the tools of a workspace, for the tenant that it belongs to and nobody else."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from handrail import Context, Principal, Result, Tool
from handrail.ext.guard import SafetyCheck
from handrail.ext.ports import Hook
from handrail.ext.tools import wire_name
from handrail.toolsets.spawn_agent import SpawnAgentTool, Spawner, spawn_agent_tool
from handrail.toolsets.tasks import SqliteTaskStore, task_tools
from handrail.toolsets.web import WebOptions, web_tools
from handrail.toolsets.workspace.changes.journal import ChangeJournal
from handrail.toolsets.workspace.changes.undo import undo_file, undo_turn
from handrail.toolsets.workspace.file_cache import FileCache
from handrail.toolsets.workspace.files import file_tools
from handrail.toolsets.workspace.options import WorkspaceError, WorkspaceOptions
from handrail.toolsets.workspace.path_rules import PathRules
from handrail.toolsets.workspace.search import search_tools
from handrail.toolsets.workspace.shell import SandboxCheck, ShellOptions, shell_tools
from handrail.toolsets.workspace.syntax_check import ParseCache, SyntaxCheck
from handrail.toolsets.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class TenantWorkspace:
    """A workspace ready for work."""

    tools: tuple[Tool, ...]
    by_name: dict[str, Tool]
    """By id and by every alias."""
    hooks: tuple[Hook, ...]
    safety: tuple[SafetyCheck, ...]
    spawning: SpawnAgentTool
    close: Callable[[], Awaitable[None]]


def open_tenant_workspace(
    workspace: Workspace, options: WorkspaceOptions, tenant: str, spawner: Spawner | None = None
) -> TenantWorkspace:
    """Everything there is for a workspace of this tenant, and of no other."""
    task_store = SqliteTaskStore(partial(workspace.state_subfolder, "tasks"))
    changes = ChangeJournal(workspace)
    changes.settle()
    workspace.journal = changes
    agents = spawn_agent_tool(spawner)
    shell = ShellOptions(options.network, options.unsandboxed, tuple(map(Path, options.readable)))
    every_tool = (
        *file_tools(workspace),
        *search_tools(workspace),
        *shell_tools(workspace, shell),
        undo_file(changes),
        undo_turn(changes),
        *web_tools(web_options(options)),
        *task_tools(task_store),
        agents.tool,
    )
    # whoever sets up a workspace chose its tools: a tenant need not enable each, as it must what is built in
    tools = tuple(replace(tool, tenants=frozenset({tenant}), origin="bundle") for tool in every_tool)
    by_name = {name: tool for tool in tools for name in (*tool.names, tool.slug, wire_name(tool.id))}

    async def close() -> None:
        await task_store.close()
        changes.close()
        workspace.close()

    hooks = (FileCache(workspace), SyntaxCheck(changes, ParseCache(workspace)))
    return TenantWorkspace(tools, by_name, hooks, (SandboxCheck(shell),), agents, close)


def web_options(options: WorkspaceOptions) -> WebOptions:
    """What the web tools of a workspace are allowed."""
    return WebOptions(
        private_networks=options.private_networks, provider=options.search, searxng_url=options.searxng_url
    )


_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class WorkspaceToolset:
    """Files, search, shell, undo, web and tasks in one folder: `Handrail([WorkspaceToolset(".")])`.

    Each tenant has a workspace of its own, where the root names it as `{tenant}`; otherwise the workspace is
    that of one tenant, and the others do not know of these tools.
    """

    def __init__(self, root: str | Path | WorkspaceOptions = ".", **options: Any) -> None:
        self.options = (
            root if isinstance(root, WorkspaceOptions) else WorkspaceOptions(root=str(root), **options)
        )
        self._path_rules = PathRules(self.options.protected, self.options.hidden, self.options.hardlinks)
        self._tenants: dict[str, TenantWorkspace] = {}
        self._spawner: Spawner | None = None
        self._hooks_by_function: dict[Any, _ToolHooks] = {}
        """By the function behind a tool, which is the same however a tenant words the tool."""
        web_options(self.options)  # says now what is wrong with an address
        if not self.options.is_shared:
            _check_root(self.options.root)

    async def tools(self, principal: Principal, /) -> Sequence[Tool]:
        tenant_workspace = self._tenant_workspace(principal.tenant)
        return () if tenant_workspace is None else tenant_workspace.tools

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        tenant_workspace = self._tenant_workspace(principal.tenant)
        return None if tenant_workspace is None else tenant_workspace.by_name.get(name)

    @property
    def hooks(self) -> Sequence[Hook]:
        return (_TenantHooks(self._hooks_by_function),)

    @property
    def safety(self) -> Sequence[SafetyCheck]:
        return (_TenantSafety(self._hooks_by_function),)

    def attach(self, secrets: Callable[[str, Any], str | None] | None, pins: Any, /) -> None:
        """Nothing is needed: a tool asks for its secrets itself."""

    def spawn_with(self, spawner: Spawner | None) -> None:
        """Whoever starts the agents of `spawn_agent`, from the next call on."""
        self._spawner = spawner
        for tenant_workspace in self._tenants.values():
            tenant_workspace.spawning.attach(spawner)

    async def close(self) -> None:
        for tenant_workspace in self._tenants.values():
            await tenant_workspace.close()
        self._tenants.clear()
        self._hooks_by_function.clear()

    def _tenant_workspace(self, tenant: str) -> TenantWorkspace | None:
        """What a tenant has here; nothing where no folder is meant for it, or until there is one."""
        tenant_workspace = self._tenants.get(tenant)
        if tenant_workspace is None and (root := self._root(tenant)) is not None:
            tenant_workspace = self._tenants[tenant] = self._open(root, tenant)
            self._hooks_by_function.update(
                (_function(tool), _ToolHooks.of(tool, tenant_workspace)) for tool in tenant_workspace.tools
            )
        return tenant_workspace

    def _open(self, root: Path, tenant: str) -> TenantWorkspace:
        try:
            workspace = Workspace(root, self._path_rules)
        except OSError as error:
            raise WorkspaceError(f"the workspace cannot be opened: {error.strerror}") from error
        try:
            return open_tenant_workspace(workspace, self.options, tenant, self._spawner)
        except BaseException:
            workspace.close()
            raise

    def _root(self, tenant: str) -> Path | None:
        if not self.options.is_shared:
            return Path(self.options.root) if tenant == self.options.tenant else None
        if not _SLUG.fullmatch(tenant):
            return None
        root = Path(self.options.root.replace("{tenant}", tenant))
        return root if root.is_dir() else None


class _ToolHooks(NamedTuple):
    """Who looks at the calls of one tool."""

    hooks: tuple[Hook, ...] = ()
    safety: tuple[SafetyCheck, ...] = ()

    @classmethod
    def of(cls, tool: Tool, tenant_workspace: TenantWorkspace) -> _ToolHooks:
        return cls(
            tuple(hook for hook in tenant_workspace.hooks if _watches(hook, tool)),
            tuple(hook for hook in tenant_workspace.safety if _watches(hook, tool)),
        )


_NO_HOOKS = _ToolHooks()


def _check_root(root: str) -> None:
    if Path(root).is_dir():
        return
    if Path(root).exists():
        raise WorkspaceError(f"{root} is a file, and a workspace is a folder", remedy="name its folder")
    raise WorkspaceError(f"there is no folder {root} to work in", remedy="make it, or name another root")


@dataclass(frozen=True, slots=True)
class _TenantHooks:
    """The hooks of whichever workspace a tool belongs to."""

    _hooks_by_function: dict[Any, _ToolHooks]

    def watches(self, tool: Tool) -> bool:
        return bool(self._hooks_by_function.get(_function(tool), _NO_HOOKS).hooks)

    async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
        for hook in self._hooks_by_function[_function(tool)].hooks:
            if (result := await hook.before(tool, values, ctx)) is not None:
                return result
        return None

    async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
        for hook in self._hooks_by_function[_function(tool)].hooks:
            result = await hook.after(tool, values, ctx, result)
        return result


@dataclass(frozen=True, slots=True)
class _TenantSafety:
    """The safety checks of whichever workspace a tool belongs to."""

    _hooks_by_function: dict[Any, _ToolHooks]

    def watches(self, tool: Tool) -> bool:
        return bool(self._hooks_by_function.get(_function(tool), _NO_HOOKS).safety)

    def __call__(self, tool: Tool, args: Any, principal: Principal) -> Any:
        for check in self._hooks_by_function[_function(tool)].safety:
            if (step := check(tool, args, principal)) is not None:
                return step
        return None


def _function(tool: Tool) -> Any:
    return None if tool.body is None else tool.body.fn


def _watches(hook: Any, tool: Tool) -> bool:
    watches = getattr(hook, "watches", None)
    return True if watches is None else bool(watches(tool))
