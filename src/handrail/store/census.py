"""Census: which tenants there is anything of. For those who look after the whole house."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.engine import Connection

from handrail.store.tables import event_heads


def tenants_with_events(conn: Connection) -> list[str]:
    """Every tenant that has a log, registered or not, by name: for a connection of the house."""
    return sorted(conn.execute(select(event_heads.c.tenant_id)).scalars())
