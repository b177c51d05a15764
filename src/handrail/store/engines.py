"""Engines: how each kind of database is opened."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import create_engine, event
from sqlalchemy.engine import Connection, Engine, ExceptionContext, make_url
from sqlalchemy.exc import ArgumentError

from handrail.core.errors import UsageError

Dialect = Literal["sqlite", "postgresql"]
APP_ROLE = "handrail_app"
SYSTEM_ROLE = "handrail_system"
FRESH_PLANS = "SET plan_cache_mode = force_custom_plan"
"""A plan that PostgreSQL made while a table was empty, and kept, reads all of it once it is full."""

_BUSY_SECONDS = 30
_SYNCHRONOUS = ("NORMAL", "FULL", "EXTRA")


def dialect_of(url: str) -> Dialect:
    """Which kind of database an address means."""
    try:
        kind = make_url(url).get_backend_name()
    except (ArgumentError, ValueError):  # such as a port that is no number
        kind = ""
    if kind == "sqlite":
        return "sqlite"
    if kind in ("postgresql", "postgres"):
        return "postgresql"
    raise UsageError(
        f"{_without_password(url)!r} is not the address of a database. "
        "Give 'sqlite:///handrail.db' or 'postgresql://user@host/name'."
    )


def _without_password(url: str) -> str:
    """What somebody took for an address, as it may be shown."""
    return re.sub(r"(?<=://).*@", "***@", str(url), flags=re.DOTALL)


def make_engine(url: str, synchronous: str = "NORMAL") -> Engine:
    """An engine whose connections are set up for us."""
    return _sqlite(url, synchronous) if dialect_of(url) == "sqlite" else _postgresql(url)


def _sqlite(url: str, synchronous: str) -> Engine:
    if synchronous not in _SYNCHRONOUS:
        raise UsageError(f"synchronous is one of {', '.join(_SYNCHRONOUS)}, not {synchronous!r}.")
    path = make_url(url).database
    if not path or path == ":memory:":
        raise UsageError(
            "A database in memory belongs to one connection. Leave `database` out to keep everything in "
            "memory, or give a file: 'sqlite:///handrail.db'."
        )
    if not Path(path).absolute().parent.is_dir():
        raise UsageError(f"There is no folder {str(Path(path).absolute().parent)!r} for the database.")
    _make_private(path)
    engine = create_engine(
        url, pool_size=8, max_overflow=8, connect_args={"timeout": _BUSY_SECONDS}, hide_parameters=True
    )
    event.listen(engine, "handle_error", _say_plainly)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: object) -> None:
        connection.isolation_level = None  # we begin transactions ourselves
        for pragma in ("journal_mode=WAL", f"synchronous={synchronous}", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(conn: Connection) -> None:
        writes = conn.get_execution_options().get("handrail_write")
        conn.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql(url: str) -> Engine:
    address = make_url(url).set(drivername="postgresql+psycopg")
    engine = create_engine(address, pool_size=8, max_overflow=8, pool_pre_ping=True, hide_parameters=True)
    event.listen(engine, "handle_error", _say_plainly)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: object) -> None:
        connection.autocommit = True
        connection.execute(f"SET ROLE {APP_ROLE}")
        connection.execute(FRESH_PLANS)
        connection.autocommit = False

    return engine


def _make_private(path: str) -> None:
    """A new file is its owner's alone: results of tools stand in it. What is beside it takes its mode."""
    if not path.startswith("file:"):
        with suppress(OSError):  # it is there, or SQLite says better what is wrong
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _say_plainly(context: ExceptionContext) -> None:
    """Text that no database keeps is a mistake of whoever gave it, not of the database."""
    error = context.original_exception
    if isinstance(error, UnicodeEncodeError) or "NUL (0x00)" in str(error):
        raise UsageError(
            "A text here holds a NUL or half of a surrogate pair, which no database keeps. Leave it out."
        ) from error
