"""migrate: bring a database to the schema of this version."""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from sqlalchemy.engine import Engine, make_url

from handrail.core.errors import UsageError
from handrail.store.engines import dialect_of, make_engine

_LOCK = 4_702_111_234_219
"""The number of the advisory lock that two who migrate at once take in turn."""


def upgrade(url: str) -> None:
    """Bring the database to the newest schema. The address is the owner's, who may create tables."""
    engine = _owner(url)
    try:
        with engine.connect() as conn, conn.begin():
            if conn.dialect.name == "postgresql":
                conn.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
            config = _config()
            config.attributes["connection"] = conn
            command.upgrade(config, "head")
    finally:
        engine.dispose()


def check(engine: Engine, name: str) -> None:
    """Raise unless the database has the schema of this version."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    with engine.connect() as conn:
        now = MigrationContext.configure(conn).get_current_revision()
    if now != head:
        state = "has no tables yet" if now is None else f"is at revision {now}, and this version needs {head}"
        raise UsageError(f"The database {name} {state}. Run: handrail db upgrade")


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "handrail.store:migrations")
    config.set_main_option("path_separator", "os")
    return config


def _owner(url: str) -> Engine:
    """An engine that acts as the owner, not as the application."""
    if dialect_of(url) == "postgresql":
        return create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    return make_engine(url).execution_options(handrail_write=True)
