"""What is stored of tools: overrides of tools written in code, and tools of a tenant's own."""

from __future__ import annotations

import logging
from typing import Any

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.engine import Connection, Row

from handrail.core.find.visibility import DEFAULT_TENANT_ID, RowKind, ToolRow
from handrail.store.codec import dump_document, load_document
from handrail.store.statements import matching, upsert
from handrail.store.tables.catalogue import tool_change_counts, tools

_log = logging.getLogger("handrail.store")
_TEXTS = ("permission_policy", "name", "description", "category", "icon", "level", "danger", "requires")
_DOCUMENTS = ("input_schema", "output_schema", "execution")


def count_tool_changes(conn: Connection, tenant: str) -> tuple[int, int]:
    """How often the tools of the tenant, and those of all tenants, have changed."""
    tenants = tool_change_counts.c.tenant_id.in_((tenant, DEFAULT_TENANT_ID))
    query = select(tool_change_counts.c.tenant_id, tool_change_counts.c.changes).where(tenants)
    changes = {row.tenant_id: row.changes for row in conn.execute(query)}
    return changes.get(tenant, 0), changes.get(DEFAULT_TENANT_ID, 0)


def list_tool_rows(conn: Connection, tenant: str) -> list[ToolRow]:
    """Everything stored of tools under this tenant."""
    return [_row(row) for row in conn.execute(select(tools).where(tools.c.tenant_id == tenant))]


def list_common_tool_rows(conn: Connection) -> list[ToolRow]:
    """Everything stored of tools for all tenants; each of them may read it."""
    return list_tool_rows(conn, DEFAULT_TENANT_ID)


def get_tool_row(conn: Connection, tenant: str, slug: str, kind: RowKind) -> ToolRow | None:
    row = conn.execute(select(tools).where(_is(tenant, slug, kind))).one_or_none()
    return None if row is None else _row(row)


def save_tool_row(conn: Connection, tenant: str, row: ToolRow, *, at: float, by: str | None) -> None:
    """Store a row, replacing an earlier one, under the tenant of this argument."""
    values: dict[str, Any] = {name: getattr(row, name) for name in _TEXTS}
    values |= {name: dump_document(getattr(row, name)) for name in _DOCUMENTS}
    values |= {"enabled": row.enabled, "updated_at": at, "updated_by": by}
    upsert(conn, tools, {"tenant_id": tenant, "slug": row.slug, "kind": row.kind, **values})


def delete_tool_row(conn: Connection, tenant: str, slug: str, kind: RowKind) -> bool:
    """Remove a row; False when there is none."""
    return conn.execute(delete(tools).where(_is(tenant, slug, kind))).rowcount > 0


def _is(tenant: str, slug: str, kind: RowKind) -> ColumnElement[bool]:
    return matching(tools, tenant_id=tenant, slug=slug, kind=kind)


def _row(row: Row[Any]) -> ToolRow:
    """What the row says. One that somebody wrote by hand and nobody can read is disabled."""
    fields: dict[str, Any] = {name: getattr(row, name) for name in _TEXTS}
    try:
        documents = {name: load_document(getattr(row, name)) for name in _DOCUMENTS}
    except ValueError:
        _log.exception("the row of tool %s under tenant %s cannot be read", row.slug, row.tenant_id)
        return ToolRow(row.tenant_id, row.slug, row.kind, False, **fields)
    return ToolRow(row.tenant_id, row.slug, row.kind, bool(row.enabled), **(fields | documents))
