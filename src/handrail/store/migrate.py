"""migrate: bring a database to the schema of this version, or say why that cannot be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, create_engine, inspect, text
from sqlalchemy.engine import Engine, make_url

from handrail.core.errors import StorageError, UsageError
from handrail.store.engines import dialect_of, make_engine

if TYPE_CHECKING:
    from alembic.config import Config

REVISIONS = ("0001_initial",)
"""The steps of the migrations, the oldest first. A database at any other revision is not upgraded."""
_LOCK = 4_702_111_234_219
"""The number of the advisory lock that two who migrate at once take in turn."""


def upgrade(url: str) -> None:
    """Bring the database to the newest schema. The address is the owner's, who may create tables."""
    from alembic import command  # heavy, and rarely needed

    engine = _owner_engine(url)
    try:
        with engine.connect() as conn, conn.begin():
            if conn.dialect.name == "postgresql":
                conn.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
            _known_revision(conn)
            config = _config()
            config.attributes["connection"] = conn
            command.upgrade(config, "head")
    finally:
        engine.dispose()


def ensure_upgradable(url: str) -> None:
    """Raise `StorageError` where `upgrade` would, before anything else is written into the database."""
    engine = _owner_engine(url)
    try:
        is_current(engine)
    finally:
        engine.dispose()


def check(engine: Engine, name: str) -> None:
    """Raise unless the database has the schema of this version."""
    with engine.connect() as conn:
        revision = _known_revision(conn)
    if revision != REVISIONS[-1]:
        state = (
            "has no tables yet"
            if revision is None
            else f"is at revision {revision}, and this version needs {REVISIONS[-1]}"
        )
        raise UsageError(f"The database {name} {state}. Run: handrail db upgrade")


def is_current(engine: Engine) -> bool:
    """Whether the database has the schema of this version. Raises for one that cannot be upgraded to it."""
    with engine.connect() as conn:
        return _known_revision(conn) == REVISIONS[-1]


def _known_revision(conn: Connection) -> str | None:
    """The revision of the database, None before the first; raises `StorageError` for one that we do not know.

    Its tables may have our names and other columns, so nothing is read from them and nothing is changed.
    """
    tables = set(inspect(conn).get_table_names())
    revision: str | None = None
    if "alembic_version" in tables:
        revision = conn.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if revision in REVISIONS or (revision is None and "session_events" not in tables):
        return revision
    name = conn.engine.url.render_as_string(hide_password=True)
    stands = "has tables without a revision" if revision is None else f"is at revision {revision}"
    raise StorageError(
        f"The database {name} {stands}, which this version cannot read or upgrade: it was made by an earlier "
        "development version, or by another program. Nothing was changed. Start with a new file or an empty "
        "database; the version that made this one can export its events: handrail events --jsonl"
    )


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "handrail.store:migrations")
    config.set_main_option("path_separator", "os")
    return config


def _owner_engine(url: str) -> Engine:
    """An engine that acts as the owner, not as the application."""
    if dialect_of(url) == "postgresql":
        return create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    return make_engine(url).execution_options(handrail_write=True)
