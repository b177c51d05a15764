"""The event log: sessions, their events, open runs and blobs."""

from __future__ import annotations

from sqlalchemy import Index

from handrail.store.tables.columns import big_integer, binary, boolean, double, partial_index, table, text

sessions = table(
    "sessions",
    ["tenant_id", "id"],
    *text("tenant_id", "id"),
    *big_integer("last_seq"),
    *text("last_hash"),
    *double("created_at", "updated_at"),
    Index("ix_sessions_id", "id"),
)

event_heads = table("event_heads", ["tenant_id"], *text("tenant_id"), *big_integer("position"))
"""How many events each tenant has.

Whoever appends locks this row until it commits, so that numbers become visible in their order.
"""


def _runs_index(name: str, where: str, *columns: str) -> Index:
    return partial_index(f"ix_runs_{name}", where, "tenant_id", *columns)


session_events = table(
    "session_events",
    ["tenant_id", "session_id", "seq"],
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
    Index("ix_session_events_position", "tenant_id", "position", unique=True),
    Index("ix_session_events_call", "call_id", "tenant_id"),
    _runs_index("run", "type <> 'tool.output_appended'", "run_id"),
    _runs_index("started", "type = 'tool.started'", "started_at"),
    _runs_index("tool", "type = 'tool.started'", "tool", "started_at"),
    _runs_index("user", "type = 'tool.started'", "user_id", "started_at"),
    _runs_index("agent", "type = 'tool.started'", "agent", "started_at"),
    _runs_index("source", "type = 'tool.started'", "source", "started_at"),
    _runs_index("session", "type = 'tool.started'", "session_id", "started_at"),
    _runs_index("ended", "type <> 'tool.started' AND started_at IS NOT NULL", "type", "started_at"),
    _runs_index("review", "code = 'UNKNOWN_OUTCOME'", "started_at"),
)
"""The source of truth: append-only, gapless in each session, each row's hash over the one before it.

`position` is the number among all events of the tenant; `started_at` is when the run began, also in the row
of its end. The payload is the last column, so that a list does not read it.
"""

open_runs = table(
    "open_runs",
    ["tenant_id", "run_id"],
    *text("tenant_id", "run_id", "call_id", "session_id", "tool", "holder"),
    *boolean("repeatable"),
    *double("started_at"),
    Index("ix_open_runs_holder", "holder"),
    Index("ix_open_runs_call", "tenant_id", "call_id"),
)
"""Runs that began and did not end, and which process holds them."""

blobs = table(
    "blobs",
    ["tenant_id", "hash"],
    *text("tenant_id", "hash"),
    *binary("content"),
    *big_integer("size"),
    *double("created_at"),
)
