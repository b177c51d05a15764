"""TenantTools: the resolver over a database. The only way to read which tools a tenant has.

The database counts the changes of each tenant's tools. What was read is used for `staleness` seconds; then
the number is compared, and only what changed is read again. So a tool that another process hides is gone
within that time, and nothing is ever decided by a view that is older.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy.engine import Connection

from handrail.core.define.context import get_tenant_id_for_tool
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool, ToolMeta, to_tool_meta
from handrail.core.errors import HandrailError
from handrail.core.find.registry import Registry, Snapshot
from handrail.core.find.view import NO_ROWS, Rows, TenantView
from handrail.core.find.visibility import DEFAULT_TENANT_ID, ToolRow, row_slug
from handrail.identity.own_tools import Bodies, own_tools
from handrail.identity.resolved import ResolvedTool, resolve
from handrail.store.database import Database
from handrail.store.tools import common_rows, rows_of, versions_of

SHOWN_TO_ALL = ("describe-tool", "read-result", "search-tools")
"""System tools that show nobody more than they see anyway: enabled for all, unless a row for all says no."""
_REMEMBERED = 2_000
_TRIES = 3


class ToolsUnread(HandrailError):
    """Which tools there are could not be read now. Try again later."""


@dataclass(frozen=True, slots=True)
class _Counted:
    """The rows of a tenant, and the number they were read at."""

    version: int
    rows: Rows


_NEVER = _Counted(0, NO_ROWS)


class _Known:
    __slots__ = ("common", "embed", "mine", "read_at", "snapshot", "view")

    def __init__(
        self, tenant: str, snapshot: Snapshot, mine: _Counted, common: _Counted, read_at: float
    ) -> None:
        self.snapshot = snapshot
        self.mine = mine
        self.common = common
        self.read_at = read_at
        self.view = TenantView(tenant, snapshot, mine.rows, common.rows)
        self.embed = TenantView(tenant, snapshot, mine.rows, common.rows, embed=True)


class TenantTools:
    """Views of the registry through the rows of each tenant."""

    def __init__(
        self, db: Database, registry: Registry, *, bodies: Bodies | None = None, staleness: float = 1.0
    ) -> None:
        self.db = db
        self.registry = registry
        self._bodies = bodies
        self._staleness = staleness
        self._known: dict[str, _Known] = {}
        self._common = self._for_all(0, ())
        self._changes = 0
        self._reading: dict[tuple[asyncio.AbstractEventLoop, str], asyncio.Task[None]] = {}

    def at_hand(self, principal: Principal, /) -> TenantView | None:
        """The view of the principal's tenant, where it need not be read."""
        known = self._fresh(principal.tenant)
        if known is None:
            return None
        return known.embed if principal.embed else known.view

    async def view(self, principal: Principal, /) -> TenantView:
        """The view of the principal's tenant."""
        return await self._view(principal.tenant, principal.embed)

    def forget(self, tenant: str) -> None:
        """Look again before the next use: something was written here."""
        self._changes += 1
        if tenant == DEFAULT_TENANT_ID:
            self._known.clear()
        self._known.pop(tenant, None)

    async def get_enabled_system_tool_slugs(self, tenant: str | None = None) -> frozenset[str]:
        """The system tools that a row enables, for the tenant or for all."""
        view = await self._view(_here(tenant))
        enabled = _with_state(view, True)
        system = {row_slug(tool) for tool in view.snapshot.tools if tool.origin == "system"}
        return frozenset(enabled & system)

    async def get_disabled_tool_slugs(self, tenant: str | None = None) -> frozenset[str]:
        """The tools that a row disables, for the tenant or for all."""
        view = await self._view(_here(tenant))
        shut = {tool.slug for tool in view.mine.shut | view.common.shut}
        return frozenset(_with_state(view, False) | shut)

    async def get_available_tool(
        self, name: str, tenant: str | None = None, *, embed: bool = False
    ) -> Tool | None:
        """The tool with every check made, or nothing when it is hidden."""
        return (await self._view(_here(tenant), embed)).find(name)

    async def get_available_tool_meta(
        self, tenant: str | None = None, *, embed: bool = False
    ) -> list[ToolMeta]:
        """What the library shows, by id."""
        return [to_tool_meta(tool) for tool in (await self._view(_here(tenant), embed)).tools()]

    async def resolve_all_tools_for_tenant(self, tenant: str | None = None) -> list[ResolvedTool]:
        """Every tool that may be the tenant's, also those that rows hide: for whoever looks after them."""
        view = await self._view(_here(tenant))
        return [resolve(tool, view) for tool in view.candidates()]

    async def resolve_tool_for_tenant(self, slug: str, tenant: str | None = None) -> ResolvedTool | None:
        """One of them."""
        view = await self._view(_here(tenant))
        tool = view.candidate(slug)
        return None if tool is None else resolve(tool, view)

    async def _view(self, tenant: str, embed: bool = False) -> TenantView:
        for _ in range(_TRIES):
            known = self._fresh(tenant)
            if known is None:
                await self._read_once(tenant)
                known = self._fresh(tenant)
            if known is not None:
                return known.embed if embed else known.view
        raise ToolsUnread

    def _fresh(self, tenant: str) -> _Known | None:
        """What is known of a tenant, unless it is too old or the registry has changed."""
        known = self._known.get(tenant)
        if known is None or self.db.clock.ticks() - known.read_at >= self._staleness:
            return None
        return known if known.snapshot is self.registry.newest else None

    async def _read_once(self, tenant: str) -> None:
        """Read what changed; whoever needs the same meanwhile waits for it."""
        loop = asyncio.get_running_loop()
        task = self._reading.get((loop, tenant))
        if task is None:
            task = self._reading[loop, tenant] = loop.create_task(self._read(tenant))
            task.add_done_callback(lambda _: self._reading.pop((loop, tenant), None))
        try:
            await asyncio.shield(task)
        except Exception as error:
            raise ToolsUnread from error

    async def _read(self, tenant: str) -> None:
        snapshot, changes = self.registry.snapshot(), self._changes
        before = self._known.get(tenant)
        mine, common, read_at = await self.db.read(tenant, lambda conn: self._rows(conn, tenant, before))
        if changes != self._changes:
            return  # something was written here meanwhile, and this may not have it
        same = before is not None and before.mine is mine and before.common is common
        if before is not None and same and before.snapshot is snapshot:
            before.read_at = read_at
            self._known[tenant] = before
            return
        while len(self._known) >= _REMEMBERED:
            self._known.pop(next(iter(self._known)), None)
        self._common = common
        self._known[tenant] = _Known(tenant, snapshot, mine, common, read_at)

    def _rows(self, conn: Connection, tenant: str, before: _Known | None) -> tuple[_Counted, _Counted, float]:
        """Numbers first: rows that come with a later number are only read once more than needed."""
        read_at = self.db.clock.ticks()
        mine = before.mine if before is not None else _NEVER
        common = self._common
        number, common_number = versions_of(conn, tenant)
        if common_number != common.version:
            common = self._for_all(common_number, common_rows(conn))
        if tenant == DEFAULT_TENANT_ID:
            return common, common, read_at
        if number != mine.version:
            mine = self._counted(number, rows_of(conn, tenant))
        return mine, common, read_at

    def _for_all(self, number: int, rows: Iterable[ToolRow]) -> _Counted:
        shown = {slug: ToolRow(DEFAULT_TENANT_ID, slug) for slug in SHOWN_TO_ALL}
        for row in rows:
            if row.kind == "system_override":
                shown.pop(row.slug, None)
        return self._counted(number, (*shown.values(), *rows))

    def _counted(self, number: int, rows: Iterable[ToolRow]) -> _Counted:
        there = list(rows)
        return _Counted(number, Rows(there, own_tools(there, self._bodies)))


def _here(tenant: str | None) -> str:
    return get_tenant_id_for_tool() if tenant is None else tenant


def _with_state(view: TenantView, enabled: bool) -> set[str]:
    states = (*view.mine.states().items(), *view.common.states().items())
    return {slug for slug, state in states if state is enabled}
