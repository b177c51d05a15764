"""Roles of a tenant's own. The built-in ones are code: see `handrail.identity.roles`."""

from __future__ import annotations

import json
from collections.abc import Iterable

from sqlalchemy import delete, select
from sqlalchemy.engine import Connection

from handrail.core.find.visibility import DEFAULT_TENANT_ID
from handrail.store.tables import roles
from handrail.store.upsert import put


def stored_roles(conn: Connection, tenant: str) -> dict[str, frozenset[str]]:
    """The permissions of each stored role: the tenant's, and those that every tenant has."""
    both = select(roles).where(roles.c.tenant_id.in_((tenant, DEFAULT_TENANT_ID)))
    found = sorted(conn.execute(both), key=lambda row: bool(row.tenant_id == tenant))
    return {row.name: frozenset(json.loads(row.permissions)) for row in found}


def own_roles(conn: Connection, tenant: str) -> dict[str, frozenset[str]]:
    """The permissions of each role of the tenant's own."""
    found = conn.execute(select(roles).where(roles.c.tenant_id == tenant))
    return {row.name: frozenset(json.loads(row.permissions)) for row in found}


def save_role(conn: Connection, tenant: str, name: str, permissions: Iterable[str], *, at: float) -> None:
    """Write a role in the place of the one of that name."""
    given = json.dumps(sorted(set(permissions)))
    put(conn, roles, {"tenant_id": tenant, "name": name, "permissions": given, "updated_at": at})


def delete_role(conn: Connection, tenant: str, name: str) -> bool:
    """Remove a role; whoever has it holds nothing by it any more."""
    theirs = delete(roles).where(roles.c.tenant_id == tenant, roles.c.name == name)
    return conn.execute(theirs).rowcount > 0
