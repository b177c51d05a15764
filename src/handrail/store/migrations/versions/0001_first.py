"""The first schema."""

from __future__ import annotations

from alembic import op

from handrail.store.events.guards import guards
from handrail.store.noticing import counting
from handrail.store.privacy import policies, roles
from handrail.store.tables import metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    conn = op.get_bind()
    metadata.create_all(conn)
    for statement in (*guards(conn.dialect.name), *counting(conn.dialect.name)):
        conn.exec_driver_sql(statement)
    if conn.dialect.name == "postgresql":
        for statement in (*roles(), *policies(metadata.sorted_tables)):
            conn.exec_driver_sql(statement)
