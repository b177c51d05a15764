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
    """What somebody took for an address, as it may be shown."""
    return re.sub(r"(?<=://).*@", "***@", str(url), flags=re.DOTALL)


def make_engine(url: str, synchronous: str = "NORMAL") -> Engine:
    """An engine whose connections are set up for us."""
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


def _postgresql_engine(url: str) -> Engine:
    address = make_url(url).set(drivername="postgresql+psycopg")
    engine = create_engine(address, pool_size=8, max_overflow=8, pool_pre_ping=True, hide_parameters=True)
    event.listen(engine, "handle_error", _explain_bad_text)

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


def _explain_bad_text(context: ExceptionContext) -> None:
    """Text that no database keeps is a mistake of whoever gave it, not of the database."""
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
"""Seconds after which a turn is taken without leave: SQLite itself still sees to it that only one writes."""
_write_locks: dict[str, threading.Lock] = {}
_creating_lock = threading.Lock()


def write_lock_of(engine: Engine) -> threading.Lock:
    """The gate of the file that an engine opens."""
    path = str(Path(engine.url.database or "").resolve())
    with _creating_lock:
        return _write_locks.setdefault(path, threading.Lock())


def serialise_writes(engine: Engine) -> None:
    """Let connections of this engine pass the gate with their first change, until they are given back."""
    gate = write_lock_of(engine)

    @event.listens_for(engine, "before_cursor_execute")
    def enter(conn: Connection, cursor: Any, statement: str, *_: Any) -> None:
        if "gate" not in conn.info and statement.lstrip()[:6].upper() in ("INSERT", "UPDATE", "DELETE"):
            conn.info["gate"] = gate.acquire(timeout=_LOCK_SECONDS)

    @event.listens_for(engine, "checkin")
    def leave(connection: Any, record: Any) -> None:
        if record.info.pop("gate", False):
            gate.release()


_BUSY_MILLISECONDS = 30_000


def make_queue_engine(url: str, synchronous: str = "NORMAL") -> Engine:
    """Connections apart from ours: the engine begins and ends transactions in its own way."""
    if dialect_of(url) == "sqlite":
        return _sqlite_queue_engine(url, synchronous)
    address = make_url(url).set(drivername="postgresql+psycopg")
    engine = create_engine(address, pool_size=10, max_overflow=0, pool_pre_ping=True)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: object) -> None:
        connection.autocommit = True
        connection.execute(f"SET ROLE {SYSTEM_ROLE}")
        connection.execute(FRESH_PLANS)
        connection.execute("SET idle_in_transaction_session_timeout = 60000")
        connection.autocommit = False

    return engine


def _sqlite_queue_engine(url: str, synchronous: str) -> Engine:
    engine = create_engine(url, pool_size=10, max_overflow=0, pool_timeout=30)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: object) -> None:
        connection.isolation_level = "IMMEDIATE"  # writers take turns; who only reads waits for nobody
        for pragma in (
            f"busy_timeout={_BUSY_MILLISECONDS}",
            "journal_mode=WAL",
            f"synchronous={synchronous}",
            "foreign_keys=ON",
        ):
            connection.execute(f"PRAGMA {pragma}")

    serialise_writes(engine)
    return engine
