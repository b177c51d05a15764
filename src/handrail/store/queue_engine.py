"""make_queue_engine: how the durable engine gets at its own tables, which lie in our database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import create_engine, event
from sqlalchemy.engine import Engine, make_url

from handrail.store.engines import FRESH_PLANS, SYSTEM_ROLE, dialect_of
from handrail.store.gate import guard

_BUSY_MILLISECONDS = 30_000


def make_queue_engine(url: str, synchronous: str = "NORMAL") -> Engine:
    """Connections apart from ours: the engine begins and ends transactions in its own way."""
    if dialect_of(url) == "sqlite":
        return _sqlite(url, synchronous)
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


def _sqlite(url: str, synchronous: str) -> Engine:
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

    guard(engine)
    return engine
