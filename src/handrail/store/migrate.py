"""migrate: bring a database to the schema of this version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import create_engine, inspect, text
from sqlalchemy.engine import Engine, make_url

from handrail.core.errors import UsageError
from handrail.store.engines import dialect_of, make_engine

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0012"
"""The newest step of the migrations."""
_LOCK = 4_702_111_234_219
"""The number of the advisory lock that two who migrate at once take in turn."""


def upgrade(url: str) -> None:
    """Bring the database to the newest schema. The address is the owner's, who may create tables."""
    from alembic import command  # heavy, and rarely needed

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
    now = _revision(engine)
    if now != HEAD:
        state = "has no tables yet" if now is None else f"is at revision {now}, and this version needs {HEAD}"
        raise UsageError(f"The database {name} {state}. Run: handrail db upgrade")


def is_current(engine: Engine) -> bool:
    """Whether the database has the schema of this version."""
    return _revision(engine) == HEAD


def _revision(engine: Engine) -> str | None:
    with engine.connect() as conn:
        if not inspect(conn).has_table("alembic_version"):
            return None
        found: str | None = conn.execute(text("SELECT version_num FROM alembic_version")).scalar()
        return found


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "handrail.store:migrations")
    config.set_main_option("path_separator", "os")
    return config


def _owner(url: str) -> Engine:
    """An engine that acts as the owner, not as the application."""
    if dialect_of(url) == "postgresql":
        return create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    return make_engine(url).execution_options(handrail_write=True)
