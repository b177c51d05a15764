"""Record: what happened."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Double, Index, LargeBinary, PrimaryKeyConstraint, Table, text

from handrail.store.tables.columns import may, metadata, must

sessions = Table(
    "sessions",
    metadata,
    must("tenant_id"),
    must("id"),
    must("last_seq", BigInteger),
    must("last_hash"),
    must("created_at", Double),
    must("updated_at", Double),
    PrimaryKeyConstraint("tenant_id", "id"),
    Index("ix_sessions_id", "id"),
)

event_heads = Table(
    "event_heads",
    metadata,
    must("tenant_id", primary_key=True),
    must("position", BigInteger),
)
"""How many events each tenant has.

Whoever appends holds this row until it commits, so numbers never overtake.
"""

session_events = Table(
    "session_events",
    metadata,
    must("tenant_id"),
    must("session_id"),
    must("seq", BigInteger),
    must("position", BigInteger),
    must("type"),
    must("at", Double),
    may("begun", Double),
    must("call_id"),
    may("run_id"),
    must("tool"),
    may("user_id"),
    may("agent"),
    must("source"),
    may("code"),
    must("hash"),
    may("blob"),
    must("payload"),
    PrimaryKeyConstraint("tenant_id", "session_id", "seq"),
    Index("ix_session_events_position", "tenant_id", "position", unique=True),
    Index("ix_session_events_call", "call_id", "tenant_id"),
)
"""The source of truth: append-only, gapless in each session, each row's hash over the one before it.

`position` is the number among all events of the tenant; `begun` is when the run began, also in the row that
tells its end. The payload stands last, so that a list does not read it.
"""


def _runs_index(name: str, where: str, *columns: str) -> None:
    found = [session_events.c[column] for column in columns]
    which = text(where)
    Index(f"ix_runs_{name}", *found, sqlite_where=which, postgresql_where=which)


_runs_index("run", "type <> 'tool.output_appended'", "tenant_id", "run_id")
_runs_index("begun", "type = 'tool.started'", "tenant_id", "begun")
_runs_index("tool", "type = 'tool.started'", "tenant_id", "tool", "begun")
_runs_index("user", "type = 'tool.started'", "tenant_id", "user_id", "begun")
_runs_index("agent", "type = 'tool.started'", "tenant_id", "agent", "begun")
_runs_index("source", "type = 'tool.started'", "tenant_id", "source", "begun")
_runs_index("session", "type = 'tool.started'", "tenant_id", "session_id", "begun")
_runs_index("ended", "type <> 'tool.started' AND begun IS NOT NULL", "tenant_id", "type", "begun")
_runs_index("review", "code = 'UNKNOWN_OUTCOME'", "tenant_id", "begun")

open_runs = Table(
    "open_runs",
    metadata,
    must("tenant_id"),
    must("run_id"),
    must("call_id"),
    must("session_id"),
    must("tool"),
    must("holder"),
    must("repeatable", Boolean),
    must("started_at", Double),
    PrimaryKeyConstraint("tenant_id", "run_id"),
    Index("ix_open_runs_holder", "holder"),
    Index("ix_open_runs_call", "tenant_id", "call_id"),
)
"""Runs that began and did not end, and which process has them in hand."""

blobs = Table(
    "blobs",
    metadata,
    must("tenant_id"),
    must("hash"),
    must("content", LargeBinary),
    must("size", BigInteger),
    must("created_at", Double),
    PrimaryKeyConstraint("tenant_id", "hash"),
)
