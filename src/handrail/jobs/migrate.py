"""upgrade: bring the engine's own tables, which are in the same database, to what this version needs."""

from __future__ import annotations

from dbos import DBOS
from dbos._migration import get_dbos_schema_permissions_sql
from dbos._schemas.system_database import SystemSchema
from sqlalchemy import create_engine, inspect
from sqlalchemy.engine import make_url

from handrail.jobs.dbos_setup import silence_dbos_log
from handrail.store.engines import APP_ROLE, SYSTEM_ROLE, dialect_of

SCHEMA = "dbos"
_TABLES = {"dbos_migrations", *(table.name for table in SystemSchema.metadata_obj.tables.values())}


def upgrade(url: str) -> None:
    """Make or migrate the engine's tables. The address is the owner's."""
    silence_dbos_log()
    if dialect_of(url) == "sqlite":
        _clear(url)
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


def _clear(url: str) -> None:
    """Drop what an interrupted attempt left: the engine does not create its tables all or none.

    Ours come after them, so where they are missing nobody has used the database yet.
    """
    engine = create_engine(url)
    try:
        with engine.begin() as conn:
            existing = set(inspect(conn).get_table_names())
            if "alembic_version" in existing:
                return
            conn.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
            for name in sorted(_TABLES & existing):
                conn.exec_driver_sql(f'DROP TABLE "{name}"')
    finally:
        engine.dispose()
