"""The event log: sessions, their events, open runs and blobs."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Double, Index, LargeBinary, PrimaryKeyConstraint, Table, text

from handrail.store.tables.columns import metadata, optional, required

sessions = Table(
    "sessions",
    metadata,
    required("tenant_id"),
    required("id"),
    required("last_seq", BigInteger),
    required("last_hash"),
    required("created_at", Double),
    required("updated_at", Double),
    PrimaryKeyConstraint("tenant_id", "id"),
    Index("ix_sessions_id", "id"),
)

event_heads = Table(
    "event_heads",
    metadata,
    required("tenant_id", primary_key=True),
    required("position", BigInteger),
)
"""How many events each tenant has.

Whoever appends holds this row until it commits, so numbers never overtake.
"""

session_events = Table(
    "session_events",
    metadata,
    required("tenant_id"),
    required("session_id"),
    required("seq", BigInteger),
    required("position", BigInteger),
    required("type"),
    required("at", Double),
    optional("begun", Double),
    required("call_id"),
    optional("run_id"),
    required("tool"),
    optional("user_id"),
    optional("agent"),
    required("source"),
    optional("code"),
    required("hash"),
    optional("blob"),
    required("payload"),
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
    required("tenant_id"),
    required("run_id"),
    required("call_id"),
    required("session_id"),
    required("tool"),
    required("holder"),
    required("repeatable", Boolean),
    required("started_at", Double),
    PrimaryKeyConstraint("tenant_id", "run_id"),
    Index("ix_open_runs_holder", "holder"),
    Index("ix_open_runs_call", "tenant_id", "call_id"),
)
"""Runs that began and did not end, and which process has them in hand."""

blobs = Table(
    "blobs",
    metadata,
    required("tenant_id"),
    required("hash"),
    required("content", LargeBinary),
    required("size", BigInteger),
    required("created_at", Double),
    PrimaryKeyConstraint("tenant_id", "hash"),
)
