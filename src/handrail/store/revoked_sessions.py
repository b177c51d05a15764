"""Revoked sessions: a token that somebody signed out with opens nothing, though it has not expired."""

from __future__ import annotations

from sqlalchemy import delete, select
from sqlalchemy.engine import Connection

from handrail.store.tables import ended_sessions as table
from handrail.store.upsert import insert_if_absent


def revoke_session(conn: Connection, tenant: str, digest: str, *, at: float, expires_at: float) -> None:
    """End the session of that digest; those of the tenant that are over by themselves are forgotten."""
    conn.execute(delete(table).where(table.c.tenant_id == tenant, table.c.expires_at < at))
    insert_if_absent(conn, table, {"tenant_id": tenant, "digest": digest, "expires_at": expires_at})


def is_revoked(conn: Connection, tenant: str, digest: str) -> bool:
    """Whether somebody signed out of the session of that digest."""
    wanted = select(table.c.digest).where(table.c.tenant_id == tenant, table.c.digest == digest)
    return conn.execute(wanted).first() is not None
