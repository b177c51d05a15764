"""Scope: which tenant a transaction belongs to. It ends with the transaction."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.engine import Connection

from handrail.core.errors import UsageError
from handrail.store.engines import SYSTEM_ROLE

_ENTER = text("SELECT set_config('handrail.tenant', :tenant, true)")


def enter(conn: Connection, tenant: str) -> None:
    """Let the transaction see the rows of this tenant, and no others."""
    if not tenant:
        raise UsageError("There is no tenant, so there is nothing to be seen.")
    if conn.dialect.name == "postgresql":
        conn.execute(_ENTER, {"tenant": tenant})


def enter_system(conn: Connection) -> None:
    """Let the transaction see the rows of all tenants."""
    if conn.dialect.name == "postgresql":
        conn.exec_driver_sql(f"SET LOCAL ROLE {SYSTEM_ROLE}")
