"""sessions: which sessions a tenant has, a page at a time, and how far each has come."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, or_, select
from sqlalchemy.engine import Connection

from handrail.store.tables import event_heads, sessions
from handrail.store.text import column

_s = sessions.c
_OF_A_CALL = "call:"
"""How the sessions are called that a call has for itself."""


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """A session as a list shows it."""

    id: str
    last_seq: int
    """The number of its newest event."""
    created_at: float
    updated_at: float


def list_sessions(
    conn: Connection,
    tenant: str,
    *,
    after: str | None = None,
    limit: int = 50,
    named: bool = False,
    prefix: str = "",
) -> list[SessionEntry]:
    """The tenant's sessions by id, from after one on; with `named` without those that are one call's own."""
    query = select(_s.id, _s.last_seq, _s.created_at, _s.updated_at).where(_s.tenant_id == tenant)
    if after is not None:
        query = query.where(_s.id > column(after))
    if named:
        query = query.where(func.substr(_s.id, 1, len(_OF_A_CALL)) != _OF_A_CALL)
        if conn.dialect.name == "sqlite":  # the order is that of bytes, so the index can leave them out
            query = query.where(or_(_s.id < _OF_A_CALL, _s.id >= "call;"))
    if prefix:
        query = query.where(func.substr(_s.id, 1, len(prefix)) == prefix)
    return [SessionEntry(*row) for row in conn.execute(query.order_by(_s.id).limit(limit))]


def last_seq(conn: Connection, tenant: str, session: str) -> int:
    """The number of the newest event of a session; 0 when there is none."""
    query = select(_s.last_seq).where(_s.tenant_id == tenant, _s.id == column(session))
    found: int | None = conn.execute(query).scalar()
    return found or 0


def last_position(conn: Connection, tenant: str) -> int:
    """The number of the tenant's newest event; 0 when there is none."""
    query = select(event_heads.c.position).where(event_heads.c.tenant_id == tenant)
    found: int | None = conn.execute(query).scalar()
    return found or 0
