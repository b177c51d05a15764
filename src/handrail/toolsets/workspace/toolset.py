"""WorkspaceToolset: the tools of a workspace, for the tenant that it belongs to and nobody else."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from handrail import Context, Principal, Result, Tool
from handrail.ext import Hook, SafetyCheck
from handrail.toolsets.workspace.desk import Keeping, Workspace
from handrail.toolsets.workspace.fitting import Fitted, fit, web_options
from handrail.toolsets.workspace.options import Options, WorkspaceError

_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class WorkspaceToolset:
    """Files, search, shell, undo, web and tasks in one folder: `Handrail([WorkspaceToolset(".")])`.

    Each tenant has a workspace of its own, where the root names it as `{tenant}`; otherwise the workspace is
    that of one tenant, and the others do not know of these tools.
    """

    def __init__(self, root: str | Path | Options = ".", **options: Any) -> None:
        self.options = root if isinstance(root, Options) else Options(root=str(root), **options)
        self._fitted: dict[str, Fitted | None] = {}
        self._of: dict[Any, Fitted] = {}
        """By the function behind a tool, which is the same however a tenant words the tool."""
        web_options(self.options)  # says now what is wrong with an address
        if not self.options.is_shared and not Path(self.options.root).is_dir():
            raise WorkspaceError(
                f"there is no folder {self.options.root} to work in", remedy="make it, or name another root"
            )

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

    async def close(self) -> None:
        for fitted in self._fitted.values():
            if fitted is not None:
                await fitted.close()
        self._fitted.clear()
        self._of.clear()

    def _for(self, tenant: str) -> Fitted | None:
        """What a tenant has here; nothing where no folder is meant for it."""
        if tenant not in self._fitted:
            root = self._root(tenant)
            fitted = None if root is None else fit(self._workspace(root), self.options, tenant)
            self._fitted[tenant] = fitted
            if fitted is not None:
                self._of.update((_function(tool), fitted) for tool in fitted.tools)
        return self._fitted[tenant]

    def _root(self, tenant: str) -> Path | None:
        if not self.options.is_shared:
            return Path(self.options.root) if tenant == self.options.tenant else None
        if not _SLUG.fullmatch(tenant):
            return None
        root = Path(self.options.root.replace("{tenant}", tenant))
        return root if root.is_dir() else None

    def _workspace(self, root: Path) -> Workspace:
        options = self.options
        return Workspace(root, Keeping(options.protected, options.hidden, options.hardlinks))


class _Hooks:
    """The hooks of whichever workspace a tool belongs to."""

    def __init__(self, of: dict[Any, Fitted]) -> None:
        self._of = of

    def watches(self, tool: Tool) -> bool:
        fitted = self._of.get(_function(tool))
        return fitted is not None and any(_watches(one, tool) for one in fitted.hooks)

    async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
        for hook in self._of[_function(tool)].hooks:
            if _watches(hook, tool) and (result := await hook.before(tool, values, ctx)) is not None:
                return result
        return None

    async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
        for hook in self._of[_function(tool)].hooks:
            if _watches(hook, tool):
                result = await hook.after(tool, values, ctx, result)
        return result


class _Safety:
    """The safety checks of whichever workspace a tool belongs to."""

    def __init__(self, of: dict[Any, Fitted]) -> None:
        self._of = of

    def watches(self, tool: Tool) -> bool:
        fitted = self._of.get(_function(tool))
        return fitted is not None and any(_watches(one, tool) for one in fitted.safety)

    def __call__(self, tool: Tool, args: Any, principal: Principal) -> Any:
        for check in self._of[_function(tool)].safety:
            if _watches(check, tool) and (step := check(tool, args, principal)) is not None:
                return step
        return None


def _function(tool: Tool) -> Any:
    return None if tool.body is None else tool.body.fn


def _watches(one: Any, tool: Tool) -> bool:
    watches = getattr(one, "watches", None)
    return True if watches is None else bool(watches(tool))
