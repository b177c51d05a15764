"""Stored: what a command does with a database, and what it says when there is none to be had."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from handrail.doors.cli.exits import Stop
from handrail.doors.cli.where import need_database
from handrail.settings import Settings

if TYPE_CHECKING:
    from handrail.store.database import Database
    from handrail.store.events.log import StoreLog

_EXTRAS = {
    "alembic": "store",
    "anyio": "mcp",
    "argon2": "server",
    "cryptography": "store",
    "dbos": "store",
    "fastapi": "server",
    "htpy": "server",
    "httptools": "server",
    "markdown_it": "server",
    "mcp": "mcp",
    "nh3": "server",
    "psycopg": "postgres",
    "sqlalchemy": "store",
    "starlette": "server",
    "uvicorn": "server",
    "uvloop": "server",
}


@contextmanager
def the_store() -> Iterator[None]:
    """What needs the packages of a database inside; one that is missing is told."""
    try:
        yield
    except ImportError as error:
        raise _missing(error) from None


def _missing(error: ImportError) -> Exception:
    extra = _EXTRAS.get((error.name or "").partition(".")[0])
    if extra is None:
        return error
    return Stop(f"{error.name} is not installed, which this needs", f"pip install 'handrail[{extra}]'")


@contextmanager
def database_at(settings: Settings) -> Iterator[Database]:
    """The database, at the schema of this version: a SQLite file is brought there."""
    url = need_database(settings)
    with the_store():
        from handrail.databases import upgrade
        from handrail.store.database import Database
        from handrail.store.migrate import check, is_current

        database = Database(url)
        try:
            if database.dialect == "sqlite" and not is_current(database.engine):
                upgrade(url)
            check(database.engine, database.name)
            yield database
        finally:
            database.close()


@contextmanager
def log_at(settings: Settings) -> Iterator[StoreLog]:
    """The event log of the database, to be read. No tool, key or worker is needed for that."""
    with database_at(settings) as database:
        from handrail.store.events.log import StoreLog

        log = StoreLog(database)
        try:
            yield log
        finally:
            log.close()
