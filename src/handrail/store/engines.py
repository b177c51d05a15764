"""SQLAlchemy engines for SQLite and PostgreSQL, the tenant of a transaction, and the lock of writers."""

from __future__ import annotations

import os
import re
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import create_engine, event, text
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
    """A database address without its password, however malformed."""
    return re.sub(r"(?<=://).*@", "***@", str(url), flags=re.DOTALL)


def make_engine(url: str, synchronous: str = "NORMAL") -> Engine:
    """An engine for our own connections."""
    return _sqlite_engine(url, synchronous) if dialect_of(url) == "sqlite" else _postgresql_engine(url)


def _sqlite_engine(url: str, synchronous: str) -> Engine:
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
    event.listen(engine, "handle_error", _explain_bad_text)
    _prepare_sqlite(engine, None, synchronous)  # we begin transactions ourselves

    @event.listens_for(engine, "begin")
    def begin(conn: Connection) -> None:
        writes = conn.get_execution_options().get("handrail_write")
        conn.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql_engine(url: str) -> Engine:
    address = make_url(url).set(drivername="postgresql+psycopg")
    engine = create_engine(address, pool_size=8, max_overflow=8, pool_pre_ping=True, hide_parameters=True)
    event.listen(engine, "handle_error", _explain_bad_text)
    _prepare_postgresql(engine, f"SET ROLE {APP_ROLE}", FRESH_PLANS)
    return engine


def _prepare_sqlite(engine: Engine, isolation_level: str | None, synchronous: str) -> None:
    pragmas = (
        f"busy_timeout={_BUSY_SECONDS * 1_000}",
        "journal_mode=WAL",
        f"synchronous={synchronous}",
        "foreign_keys=ON",
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: object) -> None:
        connection.isolation_level = isolation_level
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")


def _prepare_postgresql(engine: Engine, *statements: str) -> None:
    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: object) -> None:
        connection.autocommit = True
        for statement in statements:
            connection.execute(statement)
        connection.autocommit = False


def _make_private(path: str) -> None:
    """Only the owner may read a new file, which holds results of tools; files beside it take its mode."""
    if not path.startswith("file:"):
        with suppress(OSError):  # it exists, or SQLite says better what is wrong
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _explain_bad_text(context: ExceptionContext) -> None:
    """Text that no database can store is a mistake of the caller, not of the database."""
    error = context.original_exception
    if isinstance(error, UnicodeEncodeError) or "NUL (0x00)" in str(error):
        raise UsageError(
            "A text here holds a NUL or half of a surrogate pair, which no database keeps. Leave it out."
        ) from error


_SET_TENANT = text("SELECT set_config('handrail.tenant', :tenant, true)")


def enter_tenant(conn: Connection, tenant: str) -> None:
    """Let the transaction see the rows of this tenant, and no others."""
    if not tenant:
        raise UsageError("There is no tenant, so there is nothing to be seen.")
    if conn.dialect.name == "postgresql":
        conn.execute(_SET_TENANT, {"tenant": tenant})


def enter_system(conn: Connection) -> None:
    """Let the transaction see the rows of all tenants."""
    if conn.dialect.name == "postgresql":
        conn.exec_driver_sql(f"SET LOCAL ROLE {SYSTEM_ROLE}")


_LOCK_SECONDS = 30.0
"""Seconds to wait for the lock; after that SQLite itself still lets only one write at a time."""
_write_locks: dict[str, threading.Lock] = {}
_creating_lock = threading.Lock()


def write_lock_of(engine: Engine) -> threading.Lock:
    """The lock of the file that an engine opens, for the writers of this process."""
    path = str(Path(engine.url.database or "").resolve())
    with _creating_lock:
        return _write_locks.setdefault(path, threading.Lock())


def serialise_writes(engine: Engine) -> None:
    """Let connections of this engine hold the write lock from their first change until they are returned."""
    lock = write_lock_of(engine)

    @event.listens_for(engine, "before_cursor_execute")
    def acquire(conn: Connection, cursor: Any, statement: str, *_: Any) -> None:
        if "write_lock" not in conn.info and statement.lstrip()[:6].upper() in ("INSERT", "UPDATE", "DELETE"):
            conn.info["write_lock"] = lock.acquire(timeout=_LOCK_SECONDS)

    @event.listens_for(engine, "checkin")
    def release(connection: Any, record: Any) -> None:
        if record.info.pop("write_lock", False):
            lock.release()


def make_queue_engine(url: str, synchronous: str = "NORMAL") -> Engine:
    """Connections for the job engine, which begins and ends transactions in its own way."""
    if dialect_of(url) == "sqlite":
        engine = create_engine(url, pool_size=10, max_overflow=0, pool_timeout=30)
        # Writers take turns; who only reads waits for nobody.
        _prepare_sqlite(engine, "IMMEDIATE", synchronous)
        serialise_writes(engine)
        return engine
    address = make_url(url).set(drivername="postgresql+psycopg")
    engine = create_engine(address, pool_size=10, max_overflow=0, pool_pre_ping=True)
    idle = "SET idle_in_transaction_session_timeout = 60000"
    _prepare_postgresql(engine, f"SET ROLE {SYSTEM_ROLE}", FRESH_PLANS, idle)
    return engine
