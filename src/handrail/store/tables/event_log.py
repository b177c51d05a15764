"""The event log: sessions, their events, open runs and blobs."""

from __future__ import annotations

from sqlalchemy import Index, PrimaryKeyConstraint, Table
from sqlalchemy import text as sql_text

from handrail.store.tables.columns import big_integer, binary, boolean, double, metadata, text

sessions = Table(
    "sessions",
    metadata,
    *text("tenant_id", "id"),
    *big_integer("last_seq"),
    *text("last_hash"),
    *double("created_at", "updated_at"),
    PrimaryKeyConstraint("tenant_id", "id"),
    Index("ix_sessions_id", "id"),
)

event_heads = Table(
    "event_heads",
    metadata,
    *text("tenant_id"),
    *big_integer("position"),
    PrimaryKeyConstraint("tenant_id"),
)
"""How many events each tenant has.

Whoever appends locks this row until it commits, so that numbers become visible in their order.
"""

session_events = Table(
    "session_events",
    metadata,
    *text("tenant_id", "session_id"),
    *big_integer("seq", "position"),
    *text("type"),
    *double("at"),
    *double("started_at", nullable=True),
    *text("call_id"),
    *text("run_id", nullable=True),
    *text("tool"),
    *text("user_id", "agent", nullable=True),
    *text("source"),
    *text("code", nullable=True),
    *text("hash"),
    *text("blob", nullable=True),
    *text("payload"),
    PrimaryKeyConstraint("tenant_id", "session_id", "seq"),
    Index("ix_session_events_position", "tenant_id", "position", unique=True),
    Index("ix_session_events_call", "call_id", "tenant_id"),
)
"""The source of truth: append-only, gapless in each session, each row's hash over the one before it.

`position` is the number among all events of the tenant; `started_at` is when the run began, also in the row
of its end. The payload is the last column, so that a list does not read it.
"""


def _runs_index(name: str, where: str, *columns: str) -> None:
    condition = sql_text(where)
    indexed = [session_events.c[column] for column in columns]
    Index(f"ix_runs_{name}", *indexed, sqlite_where=condition, postgresql_where=condition)


_runs_index("run", "type <> 'tool.output_appended'", "tenant_id", "run_id")
_runs_index("started", "type = 'tool.started'", "tenant_id", "started_at")
_runs_index("tool", "type = 'tool.started'", "tenant_id", "tool", "started_at")
_runs_index("user", "type = 'tool.started'", "tenant_id", "user_id", "started_at")
_runs_index("agent", "type = 'tool.started'", "tenant_id", "agent", "started_at")
_runs_index("source", "type = 'tool.started'", "tenant_id", "source", "started_at")
_runs_index("session", "type = 'tool.started'", "tenant_id", "session_id", "started_at")
_runs_index("ended", "type <> 'tool.started' AND started_at IS NOT NULL", "tenant_id", "type", "started_at")
_runs_index("review", "code = 'UNKNOWN_OUTCOME'", "tenant_id", "started_at")

open_runs = Table(
    "open_runs",
    metadata,
    *text("tenant_id", "run_id", "call_id", "session_id", "tool", "holder"),
    *boolean("repeatable"),
    *double("started_at"),
    PrimaryKeyConstraint("tenant_id", "run_id"),
    Index("ix_open_runs_holder", "holder"),
    Index("ix_open_runs_call", "tenant_id", "call_id"),
)
"""Runs that began and did not end, and which process holds them."""

blobs = Table(
    "blobs",
    metadata,
    *text("tenant_id", "hash"),
    *binary("content"),
    *big_integer("size"),
    *double("created_at"),
    PrimaryKeyConstraint("tenant_id", "hash"),
)
