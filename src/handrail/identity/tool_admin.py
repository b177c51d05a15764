"""ToolAdmin: overrides of tools in code, tools of a tenant's own, and their versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy.engine import Connection

from handrail.core.define.levels import POLICIES
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.errors import UsageError
from handrail.core.find.visibility import PATCHABLE, TEXT_FIELDS, RowKind, ToolRow, row_slug
from handrail.identity.permissions import require_permission
from handrail.identity.tenant_tools import TenantTools, build_stored_tool
from handrail.store import tools as rows
from handrail.store.versions import Version, compare, content_of, history, save_version

SUBJECT_TYPE = "tool"
"""The subject type of a tool's versions."""


class ToolAdmin:
    """Changes of the tools of `by`'s tenant. Whoever acts for the default tenant changes them for all."""

    def __init__(self, tools: TenantTools) -> None:
        self._tools = tools
        self._db = tools.db

    async def override(self, by: Principal, slug: str, changes: Mapping[str, Any]) -> ToolRow:
        """Change words of a tool written in code, disable it, or make it ask. The rest of its row stays."""
        require_permission(by, by.tenant, "tools.tenant.update")
        tool = self._code(slug, by.tenant)
        if tool is None:
            raise UsageError(f"There is no tool {slug!r} to change.")
        _check_changes(tool, changes)
        tenant, at = by.tenant, self._db.clock.now()

        def write(conn: Connection) -> ToolRow:
            existing = rows.get_tool_row(conn, tenant, slug, "system_override")
            row = replace(existing or ToolRow(tenant, slug, "system_override"), **changes)
            rows.save_tool_row(conn, tenant, row, at=at, by=by.user)
            return row

        saved = await self._db.write(tenant, write)
        self._tools.forget(tenant)
        return saved

    async def save_own(self, by: Principal, row: ToolRow, note: str | None = None) -> Version:
        """Store a tool of the tenant's own, and a version of its schemas."""
        require_permission(by, by.tenant, "tools.tenant.create")
        tenant = by.tenant
        own = replace(row, tenant=tenant, kind="tenant_custom")
        if self._tools.registry.get(own.slug) is not None:
            raise UsageError(f"The name {own.slug!r} belongs to a tool written in code. Choose another slug.")
        build_stored_tool(own, _no_body)  # raises when it could not be used
        saved = await self._db.write(tenant, self._save, own, by, note)
        self._tools.forget(tenant)
        return saved

    async def remove(self, by: Principal, slug: str, kind: RowKind) -> bool:
        """Remove a row: a tool of the tenant's own, or all changes of one written in code."""
        require_permission(by, by.tenant, "tools.tenant.delete")
        removed = await self._db.write(by.tenant, rows.delete_tool_row, by.tenant, slug, kind)
        self._tools.forget(by.tenant)
        return removed

    async def versions(self, by: Principal, slug: str, *, before: int | None = None) -> list[Version]:
        """The history of a tool of the tenant's own, the newest first."""
        require_permission(by, by.tenant, "tools.tenant.read")
        return await self._db.read(by.tenant, history, by.tenant, SUBJECT_TYPE, slug, before=before)

    async def compare(self, by: Principal, slug: str, old: int, new: int) -> str:
        """What changed between two versions, line by line."""
        require_permission(by, by.tenant, "tools.tenant.read")
        return await self._db.read(by.tenant, compare, by.tenant, SUBJECT_TYPE, slug, old, new)

    async def restore(self, by: Principal, slug: str, number: int) -> Version:
        """Give a tool the schemas that it had; that is a new version."""
        require_permission(by, by.tenant, "tools.tenant.create")
        tenant = by.tenant

        def write(conn: Connection) -> Version:
            existing = rows.get_tool_row(conn, tenant, slug, "tenant_custom")
            if existing is None:
                raise UsageError(f"There is no tool {slug!r} of your own.")
            row = replace(existing, **content_of(conn, tenant, SUBJECT_TYPE, slug, number))
            build_stored_tool(row, _no_body)
            return self._save(conn, row, by, f"restored version {number}")

        saved = await self._db.write(tenant, write)
        self._tools.forget(tenant)
        return saved

    def _save(self, conn: Connection, row: ToolRow, by: Principal, note: str | None) -> Version:
        at = self._db.clock.now()
        rows.save_tool_row(conn, row.tenant, row, at=at, by=by.user)
        content = {"input_schema": row.input_schema, "output_schema": row.output_schema}
        return save_version(conn, row.tenant, SUBJECT_TYPE, row.slug, content, at=at, by=by.user, note=note)

    def _code(self, slug: str, tenant: str) -> Tool | None:
        """The tool written in code of that slug, unless it is for other tenants."""
        tool = self._tools.registry.get(slug)
        if tool is None or row_slug(tool) != slug or (tool.tenants and tenant not in tool.tenants):
            return None
        return tool


def _check_changes(tool: Tool, changes: Mapping[str, Any]) -> None:
    for name, value in changes.items():
        if name not in PATCHABLE:
            raise UsageError(f"{name!r} cannot be changed. These can: {', '.join(PATCHABLE)}.")
        if name in TEXT_FIELDS and value is not None and not (isinstance(value, str) and value.strip()):
            raise UsageError(f"{name} is a text, or None to leave it as the code has it.")
    if not isinstance(changes.get("enabled", True), bool):
        raise UsageError("enabled is True or False.")
    policy = changes.get("permission_policy")
    if policy is not None and policy not in POLICIES:
        raise UsageError(f"permission_policy is one of {', '.join(POLICIES)}, not {policy!r}.")
    if policy == "auto" and tool.policy == "always_ask":
        raise UsageError(f"{tool.id} always asks. A change can make a tool ask, never make it ask less.")


def _no_body() -> None:
    """Stands in for a body while a definition is checked."""
