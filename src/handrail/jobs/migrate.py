"""upgrade: bring the engine's own tables, which lie beside ours, to what this version needs."""

from __future__ import annotations

from dbos import DBOS
from dbos._migration import get_dbos_schema_permissions_sql
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url

from handrail.jobs.quiet import hush
from handrail.store.engines import APP_ROLE, SYSTEM_ROLE, dialect_of

SCHEMA = "dbos"


def upgrade(url: str) -> None:
    """Make or migrate the engine's tables. The address is the owner's; our own tables come first."""
    hush()
    if dialect_of(url) == "sqlite":
        DBOS.migrate(url)
        return
    address = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    DBOS.migrate(address, schema=SCHEMA)
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    try:
        with engine.begin() as conn:
            for role in (APP_ROLE, SYSTEM_ROLE):
                for statement in get_dbos_schema_permissions_sql(SCHEMA, role):
                    conn.exec_driver_sql(statement)
    finally:
        engine.dispose()
