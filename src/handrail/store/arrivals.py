"""Arrivals: to which tenants a person belongs, and where they were last."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.engine import Connection

from handrail.store.tables import arrivals, memberships, tenants
from handrail.store.tenants import Tenant
from handrail.store.upsert import put


def note_arrival(conn: Connection, tenant: str, user: str, *, at: float) -> None:
    """A person came to the tenant."""
    put(conn, arrivals, {"tenant_id": tenant, "user_id": user, "at": at})


def homes_of(conn: Connection, user: str) -> list[Tenant]:
    """The tenants that a person belongs to, by name: for a connection of the house."""
    theirs = select(memberships.c.tenant_id).where(memberships.c.user_id == user)
    wanted = select(tenants).where(tenants.c.id.in_(theirs)).order_by(tenants.c.name, tenants.c.id)
    return [Tenant(row.id, row.name, row.created_at) for row in conn.execute(wanted)]


def last_home(conn: Connection, user: str) -> str | None:
    """Where a person came to last: for a connection of the house. They may belong to it no more."""
    newest = select(arrivals.c.tenant_id).where(arrivals.c.user_id == user)
    found: str | None = conn.execute(newest.order_by(arrivals.c.at.desc()).limit(1)).scalar_one_or_none()
    return found
