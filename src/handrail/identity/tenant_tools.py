"""TenantTools: which tools a tenant has, from code and from its rows. The only way to read that."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy.engine import Connection

from handrail.core.define.check import check
from handrail.core.define.constructors import from_json_schema
from handrail.core.define.context import get_tenant_id_for_tool
from handrail.core.define.levels import PermissionPolicy
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Origin, Tool, ToolMeta, to_tool_meta
from handrail.core.errors import DefinitionError, HandrailError
from handrail.core.find.registry import Registry, Snapshot
from handrail.core.find.visibility import DEFAULT_TENANT_ID, NO_ROWS, TenantView, ToolRow, ToolRows, row_slug
from handrail.store.codec import MAX_COLUMN_TEXT
from handrail.store.database import Database
from handrail.store.tools import count_tool_changes, list_common_tool_rows, list_tool_rows

_log = logging.getLogger("handrail.identity")

FindBody = Callable[[ToolRow], Callable[..., Any] | None]
"""From a stored tool to the function that does its work; None where its execution is not known here."""
_NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}


def stored_tools(rows: Iterable[ToolRow], bodies: FindBody | None) -> Iterator[tuple[ToolRow, Tool]]:
    """The stored tools that can run here, each with its row. One that is written wrongly is left out."""
    if bodies is None:
        return
    for row in rows:
        if row.kind != "tenant_custom":
            continue
        try:
            body = bodies(row)
            if body is not None:
                yield row, build_stored_tool(row, body)
        except Exception:
            _log.exception("the tool %s of tenant %s cannot be used", row.slug, row.tenant)


def build_stored_tool(row: ToolRow, body: Callable[..., Any]) -> Tool:
    """The tool of a row. Raises `DefinitionError` when it cannot be used as it is stored."""
    if not (row.description or "").strip():
        raise DefinitionError(
            "it has no description", tool=row.slug, remedy="say in one sentence what it does"
        )
    if len(row.slug) > MAX_COLUMN_TEXT:
        raise DefinitionError(
            "its slug is too long", tool=row.slug[:MAX_COLUMN_TEXT], remedy="give it a short one"
        )
    options: dict[str, Any] = {
        "description": row.description,
        "level": row.level or "write",
        "slug": row.slug,
        "policy": row.permission_policy or "auto",
        "origin": "tenant_custom",
        "tenants": [] if row.tenant == DEFAULT_TENANT_ID else [row.tenant],
    }
    optional = {name: getattr(row, name) for name in ("name", "category", "icon", "danger", "requires")}
    optional["output"] = row.output_schema
    options |= {name: value for name, value in optional.items() if value is not None}
    schema = _NO_ARGUMENTS if row.input_schema is None else row.input_schema
    tool: Tool = from_json_schema(row.slug, schema, execute=body, **options)
    check(tool)
    if tool.slug != row.slug:
        raise DefinitionError(f"its slug became {tool.slug!r}", tool=row.slug)
    return tool


ResolvedKind = Literal["code", "system_override", "tenant_custom"]


@dataclass(frozen=True, slots=True)
class ResolvedTool:
    """What whoever manages a tenant's tools needs to know of one."""

    slug: str
    kind: ResolvedKind
    """`code`: as it is written; `system_override`: written in code, with a row; `tenant_custom`: stored."""
    origin: Origin
    visible: bool
    """Whether the tenant's callers have it. What they do not have answers them like an unknown tool."""
    permission_policy: PermissionPolicy
    name: str
    description: str
    category: str | None
    icon: str | None
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    tool: Tool
    """The tool itself, with the words of its rows."""


def resolve_tool(tool: Tool, view: TenantView) -> ResolvedTool:
    """A tool of the registry or of the tenant, with what its rows say."""
    slug = row_slug(tool)
    shown = view.shown(tool)
    named = view.mine.state(slug) is not None or view.common.state(slug) is not None
    kind: ResolvedKind = "system_override" if named else "code"
    patched = shown if shown is not None else view.patched(tool, slug)
    return ResolvedTool(
        slug=slug,
        kind="tenant_custom" if tool.origin == "tenant_custom" else kind,
        origin=tool.origin,
        visible=shown is not None,
        permission_policy=patched.policy,
        name=patched.name,
        description=patched.description,
        category=patched.category,
        icon=patched.icon,
        input_schema=patched.input_schema,
        output_schema=patched.output_schema,
        tool=patched,
    )


ALWAYS_ENABLED = ("describe-tool", "read-result", "search-tools")
"""System tools that show nobody more than they see anyway: enabled for all, unless a row for all says no."""
_MAX_CACHED = 2_000
_TRIES = 3


class ToolsUnavailable(HandrailError):
    """Which tools there are could not be read now. Try again later."""


@dataclass(frozen=True, slots=True)
class _VersionedRows:
    """The rows of a tenant, and the number they were read at."""

    version: int
    rows: ToolRows


_NOT_READ = _VersionedRows(0, NO_ROWS)


class _CachedView:
    __slots__ = ("common", "embed", "mine", "read_at", "snapshot", "view")

    def __init__(
        self, tenant: str, snapshot: Snapshot, mine: _VersionedRows, common: _VersionedRows, read_at: float
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
        self, db: Database, registry: Registry, *, bodies: FindBody | None = None, staleness: float = 1.0
    ) -> None:
        self.db = db
        self.registry = registry
        self._bodies = bodies
        self._staleness = staleness
        self._cache: dict[str, _CachedView] = {}
        self._common = self._for_all(0, ())
        self._changes = 0
        self._reading: dict[tuple[asyncio.AbstractEventLoop, str], asyncio.Task[None]] = {}

    def at_hand(self, principal: Principal, /) -> TenantView | None:
        """The view of the principal's tenant, where it need not be read."""
        cached = self._fresh(principal.tenant)
        if cached is None:
            return None
        return cached.embed if principal.embed else cached.view

    async def view(self, principal: Principal, /) -> TenantView:
        """The view of the principal's tenant."""
        return await self._view(principal.tenant, principal.embed)

    def forget(self, tenant: str) -> None:
        """Read again before the next use: something was written by this process."""
        self._changes += 1
        if tenant == DEFAULT_TENANT_ID:
            self._cache.clear()
        self._cache.pop(tenant, None)

    async def get_enabled_system_tool_slugs(self, tenant: str | None = None) -> frozenset[str]:
        """The system tools that a row enables, for the tenant or for all."""
        view = await self._view(_tenant_or_current(tenant))
        enabled = _with_state(view, True)
        system = {row_slug(tool) for tool in view.snapshot.tools if tool.origin == "system"}
        return frozenset(enabled & system)

    async def get_disabled_tool_slugs(self, tenant: str | None = None) -> frozenset[str]:
        """The tools that a row disables, for the tenant or for all."""
        view = await self._view(_tenant_or_current(tenant))
        shut = {tool.slug for tool in view.mine.shut | view.common.shut}
        return frozenset(_with_state(view, False) | shut)

    async def get_available_tool(
        self, name: str, tenant: str | None = None, *, embed: bool = False
    ) -> Tool | None:
        """The tool with every check made, or nothing when it is hidden."""
        return (await self._view(_tenant_or_current(tenant), embed)).find(name)

    async def get_available_tool_meta(
        self, tenant: str | None = None, *, embed: bool = False
    ) -> list[ToolMeta]:
        """What the library shows, by id."""
        return [to_tool_meta(tool) for tool in (await self._view(_tenant_or_current(tenant), embed)).tools()]

    async def resolve_all_tools_for_tenant(self, tenant: str | None = None) -> list[ResolvedTool]:
        """Every tool that may be the tenant's, also those that rows hide: for whoever looks after them."""
        view = await self._view(_tenant_or_current(tenant))
        return [resolve_tool(tool, view) for tool in view.candidates()]

    async def resolve_tool_for_tenant(self, slug: str, tenant: str | None = None) -> ResolvedTool | None:
        """One of them."""
        view = await self._view(_tenant_or_current(tenant))
        tool = view.candidate(slug)
        return None if tool is None else resolve_tool(tool, view)

    async def _view(self, tenant: str, embed: bool = False) -> TenantView:
        for _ in range(_TRIES):
            cached = self._fresh(tenant)
            if cached is None:
                await self._read_once(tenant)
                cached = self._fresh(tenant)
            if cached is not None:
                return cached.embed if embed else cached.view
        raise ToolsUnavailable

    def _fresh(self, tenant: str) -> _CachedView | None:
        """What is known of a tenant, unless it is too old or the registry has changed."""
        cached = self._cache.get(tenant)
        if cached is None or self.db.clock.ticks() - cached.read_at >= self._staleness:
            return None
        return cached if cached.snapshot is self.registry.newest else None

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
            raise ToolsUnavailable from error

    async def _read(self, tenant: str) -> None:
        snapshot, changes = self.registry.snapshot(), self._changes
        before = self._cache.get(tenant)
        mine, common, read_at = await self.db.read(tenant, self._rows, tenant, before)
        if changes != self._changes:
            return  # this process wrote something meanwhile, and this may not have it
        same = before is not None and before.mine is mine and before.common is common
        if before is not None and same and before.snapshot is snapshot:
            before.read_at = read_at
            self._cache[tenant] = before
            return
        while len(self._cache) >= _MAX_CACHED:
            self._cache.pop(next(iter(self._cache)), None)
        self._common = common
        self._cache[tenant] = _CachedView(tenant, snapshot, mine, common, read_at)

    def _rows(
        self, conn: Connection, tenant: str, before: _CachedView | None
    ) -> tuple[_VersionedRows, _VersionedRows, float]:
        """Numbers first: rows that come with a later number are only read once more than needed."""
        read_at = self.db.clock.ticks()
        mine = before.mine if before is not None else _NOT_READ
        common = self._common
        number, common_number = count_tool_changes(conn, tenant)
        if common_number != common.version:
            common = self._for_all(common_number, list_common_tool_rows(conn))
        if tenant == DEFAULT_TENANT_ID:
            return common, common, read_at
        if number != mine.version:
            mine = self._counted(number, list_tool_rows(conn, tenant))
        return mine, common, read_at

    def _for_all(self, number: int, rows: Iterable[ToolRow]) -> _VersionedRows:
        shown = {slug: ToolRow(DEFAULT_TENANT_ID, slug) for slug in ALWAYS_ENABLED}
        for row in rows:
            if row.kind == "system_override":
                shown.pop(row.slug, None)
        return self._counted(number, (*shown.values(), *rows))

    def _counted(self, number: int, rows: Iterable[ToolRow]) -> _VersionedRows:
        all_rows = list(rows)
        return _VersionedRows(number, ToolRows(all_rows, stored_tools(all_rows, self._bodies)))


def _tenant_or_current(tenant: str | None) -> str:
    return get_tenant_id_for_tool() if tenant is None else tenant


def _with_state(view: TenantView, enabled: bool) -> set[str]:
    states = (*view.mine.states().items(), *view.common.states().items())
    return {slug for slug, state in states if state is enabled}
