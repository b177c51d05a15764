"""The database that a command works on, and what is said when it, or a package for it, is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from handrail.doors.cli.context import require_database
from handrail.doors.cli.exit_codes import CommandError
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
def store_packages() -> Iterator[None]:
    """What needs the packages of a database inside; one that is missing is told."""
    try:
        yield
    except ImportError as error:
        raise _missing_package(error) from None


def _missing_package(error: ImportError) -> Exception:
    extra = _EXTRAS.get((error.name or "").partition(".")[0])
    if extra is None:
        return error
    return CommandError(
        f"{error.name} is not installed, which this needs", f"pip install 'handrail[{extra}]'"
    )


@contextmanager
def open_database(settings: Settings) -> Iterator[Database]:
    """The database, at the schema of this version: a SQLite file is brought there."""
    url = require_database(settings)
    with store_packages():
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
def open_event_log(settings: Settings) -> Iterator[StoreLog]:
    """The event log of the database, to be read. No tool, key or worker is needed for that."""
    with open_database(settings) as database:
        from handrail.store.events.log import StoreLog

        log = StoreLog(database)
        try:
            yield log
        finally:
            log.close()
