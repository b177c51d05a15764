"""Tenants, and which of them a person belongs to. A tenant's id is its slug and never changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.engine import Connection, Row

from handrail.core.define.names import SLUG
from handrail.core.errors import UsageError
from handrail.core.find.visibility import DEFAULT_TENANT_ID
from handrail.store.statements import insert_if_absent, upsert
from handrail.store.tables.identity import last_sign_ins, memberships, tenants

MAX_SLUG = 63


@dataclass(frozen=True, slots=True)
class Tenant:
    """An organisation whose data nobody else sees."""

    id: str
    name: str
    created_at: float


def check_slug(slug: str) -> str:
    """The slug, if a tenant may be called that."""
    if not isinstance(slug, str) or len(slug) > MAX_SLUG or not SLUG.match(slug):
        raise UsageError(
            f"{slug!r} cannot name a tenant. Use lower-case letters and digits, in words joined by '-', "
            f"at most {MAX_SLUG} characters: 'acme-berlin'."
        )
    if slug == DEFAULT_TENANT_ID:
        raise UsageError(f"{slug} stands for all tenants; no tenant can be called that.")
    return slug


def create_tenant(conn: Connection, tenant: str, name: str, *, at: float) -> Tenant:
    """A new tenant, within its own scope."""
    check_slug(tenant)
    if not name.strip():
        raise UsageError("A tenant needs a name that people can read.")
    if not insert_if_absent(conn, tenants, {"id": tenant, "name": name.strip(), "created_at": at}):
        raise UsageError(f"There is a tenant {tenant!r} already.")
    return Tenant(tenant, name.strip(), at)


def get_tenant(conn: Connection, tenant: str) -> Tenant | None:
    row = conn.execute(select(tenants).where(tenants.c.id == tenant)).one_or_none()
    return None if row is None else _tenant(row)


def require_tenant(conn: Connection, tenant: str) -> Tenant:
    """The tenant. Raises when there is none: what is stored under a misspelt one would be lost."""
    existing = get_tenant(conn, tenant)
    if existing is None:
        raise UsageError(f"There is no tenant {tenant!r}.")
    return existing


def rename_tenant(conn: Connection, tenant: str, name: str) -> bool:
    """Another name for a tenant; False when there is none."""
    if not name.strip():
        raise UsageError("A tenant needs a name that people can read.")
    change = update(tenants).where(tenants.c.id == tenant).values(name=name.strip())
    return conn.execute(change).rowcount > 0


def list_tenants(conn: Connection) -> list[Tenant]:
    """Every tenant, by id: for a connection of the system."""
    return [_tenant(row) for row in conn.execute(select(tenants).order_by(tenants.c.id))]


def _tenant(row: Row[Any]) -> Tenant:
    return Tenant(row.id, row.name, row.created_at)


def record_sign_in(conn: Connection, tenant: str, user: str, *, at: float) -> None:
    """A person signed in to the tenant."""
    upsert(conn, last_sign_ins, {"tenant_id": tenant, "user_id": user, "signed_in_at": at})


def tenants_of_user(conn: Connection, user: str) -> list[Tenant]:
    """The tenants that a person belongs to, by name: for a connection of the system."""
    ids = select(memberships.c.tenant_id).where(memberships.c.user_id == user)
    query = select(tenants).where(tenants.c.id.in_(ids)).order_by(tenants.c.name, tenants.c.id)
    return [_tenant(row) for row in conn.execute(query)]


def last_tenant_of_user(conn: Connection, user: str) -> str | None:
    """Where a person signed in last: for a connection of the system. They may belong to it no more."""
    newest = select(last_sign_ins.c.tenant_id).where(last_sign_ins.c.user_id == user)
    query = newest.order_by(last_sign_ins.c.signed_in_at.desc()).limit(1)
    return conn.execute(query).scalar_one_or_none()
