"""WorkspaceToolset: the tools of a workspace, for the tenant that it belongs to and nobody else."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from handrail import Context, Principal, Result, Tool
from handrail.ext import Hook, SafetyCheck
from handrail.toolsets.spawning import Spawner
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.fitting import Fitted, fit, web_options
from handrail.toolsets.workspace.keeping import Keeping
from handrail.toolsets.workspace.options import Options, WorkspaceError

_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class WorkspaceToolset:
    """Files, search, shell, undo, web and tasks in one folder: `Handrail([WorkspaceToolset(".")])`.

    Each tenant has a workspace of its own, where the root names it as `{tenant}`; otherwise the workspace is
    that of one tenant, and the others do not know of these tools.
    """

    def __init__(self, root: str | Path | Options = ".", **options: Any) -> None:
        self.options = root if isinstance(root, Options) else Options(root=str(root), **options)
        self._keeping = Keeping(self.options.protected, self.options.hidden, self.options.hardlinks)
        self._fitted: dict[str, Fitted] = {}
        self._spawner: Spawner | None = None
        self._of: dict[Any, _Watching] = {}
        """By the function behind a tool, which is the same however a tenant words the tool."""
        web_options(self.options)  # says now what is wrong with an address
        if not self.options.is_shared:
            _check(self.options.root)

    async def tools(self, principal: Principal, /) -> Sequence[Tool]:
        fitted = self._for(principal.tenant)
        return () if fitted is None else fitted.tools

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        fitted = self._for(principal.tenant)
        return None if fitted is None else fitted.named.get(name)

    @property
    def hooks(self) -> Sequence[Hook]:
        return (_Hooks(self._of),)

    @property
    def safety(self) -> Sequence[SafetyCheck]:
        return (_Safety(self._of),)

    def attach(self, secrets: Callable[[str, Any], str | None] | None, pins: Any, /) -> None:
        """Nothing is needed: a tool asks for its secrets itself."""

    def spawn_with(self, spawner: Spawner | None) -> None:
        """Whoever starts the agents of `spawn_agent`, from the next call on."""
        self._spawner = spawner
        for fitted in self._fitted.values():
            fitted.spawning.attach(spawner)

    async def close(self) -> None:
        for fitted in self._fitted.values():
            await fitted.close()
        self._fitted.clear()
        self._of.clear()

    def _for(self, tenant: str) -> Fitted | None:
        """What a tenant has here; nothing where no folder is meant for it, or until there is one."""
        fitted = self._fitted.get(tenant)
        if fitted is None and (root := self._root(tenant)) is not None:
            fitted = self._fitted[tenant] = self._opened(root, tenant)
            self._of.update((_function(tool), _Watching.of(tool, fitted)) for tool in fitted.tools)
        return fitted

    def _opened(self, root: Path, tenant: str) -> Fitted:
        try:
            workspace = Workspace(root, self._keeping)
        except OSError as error:
            raise WorkspaceError(f"the workspace cannot be opened: {error.strerror}") from error
        try:
            return fit(workspace, self.options, tenant, self._spawner)
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


class _Watching(NamedTuple):
    """Who looks at the calls of one tool."""

    hooks: tuple[Hook, ...] = ()
    safety: tuple[SafetyCheck, ...] = ()

    @classmethod
    def of(cls, tool: Tool, fitted: Fitted) -> _Watching:
        return cls(
            tuple(one for one in fitted.hooks if _watches(one, tool)),
            tuple(one for one in fitted.safety if _watches(one, tool)),
        )


_NOBODY = _Watching()


def _check(root: str) -> None:
    if Path(root).is_dir():
        return
    if Path(root).exists():
        raise WorkspaceError(f"{root} is a file, and a workspace is a folder", remedy="name its folder")
    raise WorkspaceError(f"there is no folder {root} to work in", remedy="make it, or name another root")


class _Hooks:
    """The hooks of whichever workspace a tool belongs to."""

    def __init__(self, of: dict[Any, _Watching]) -> None:
        self._of = of

    def watches(self, tool: Tool) -> bool:
        return bool(self._of.get(_function(tool), _NOBODY).hooks)

    async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
        for hook in self._of[_function(tool)].hooks:
            if (result := await hook.before(tool, values, ctx)) is not None:
                return result
        return None

    async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
        for hook in self._of[_function(tool)].hooks:
            result = await hook.after(tool, values, ctx, result)
        return result


class _Safety:
    """The safety checks of whichever workspace a tool belongs to."""

    def __init__(self, of: dict[Any, _Watching]) -> None:
        self._of = of

    def watches(self, tool: Tool) -> bool:
        return bool(self._of.get(_function(tool), _NOBODY).safety)

    def __call__(self, tool: Tool, args: Any, principal: Principal) -> Any:
        for check in self._of[_function(tool)].safety:
            if (step := check(tool, args, principal)) is not None:
                return step
        return None


def _function(tool: Tool) -> Any:
    return None if tool.body is None else tool.body.fn


def _watches(one: Any, tool: Tool) -> bool:
    watches = getattr(one, "watches", None)
    return True if watches is None else bool(watches(tool))
