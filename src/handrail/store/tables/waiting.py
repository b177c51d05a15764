"""Waiting: what waits for an answer, what must not happen twice, and what failed."""

from __future__ import annotations

from sqlalchemy import Boolean, Double, Index, Integer, PrimaryKeyConstraint, Table, text

from handrail.store.tables.columns import may, metadata, must

approvals = Table(
    "approvals",
    metadata,
    must("tenant_id"),
    must("id"),
    must("call_id"),
    must("session_id"),
    must("tool"),
    must("tool_digest"),
    must("level"),
    must("danger"),
    must("decision"),
    may("user_id"),
    may("agent"),
    must("source"),
    must("args"),
    must("args_hash"),
    must("repairs"),
    must("sealed"),
    must("quorum", Integer),
    must("four_eyes", Boolean),
    must("status"),
    must("created_at", Double),
    may("expires_at", Double),
    may("decided_by"),
    may("decided_at", Double),
    may("reply"),
    may("edited_args"),
    may("edited_hash"),
    may("effective_args"),
    may("effective_hash"),
    PrimaryKeyConstraint("tenant_id", "id"),
    Index("ix_approvals_open", "tenant_id", "status", "created_at"),
    Index(
        "ix_approvals_due",
        "expires_at",
        sqlite_where=text("status = 'pending'"),
        postgresql_where=text("status = 'pending'"),
    ),
    Index("ix_approvals_call", "tenant_id", "call_id"),
)

approval_votes = Table(
    "approval_votes",
    metadata,
    must("tenant_id"),
    must("approval_id"),
    must("user_id"),
    must("verdict"),
    must("effective_hash"),
    must("at", Double),
    PrimaryKeyConstraint("tenant_id", "approval_id", "user_id"),
)

standing = Table(
    "standing",
    metadata,
    must("tenant_id"),
    must("principal"),
    must("session_id"),
    must("digest"),
    must("given_at", Double),
    may("given_by"),
    PrimaryKeyConstraint("tenant_id", "principal", "session_id", "digest"),
)
"""Approvals that hold for the rest of a session."""

planned_calls = Table(
    "planned_calls",
    metadata,
    must("tenant_id"),
    must("call_id"),
    must("number", Integer),
    may("user_id"),
    may("agent"),
    must("session_id"),
    must("source"),
    must("tool"),
    must("args"),
    must("reason"),
    must("sealed"),
    may("holder"),
    must("at", Double),
    PrimaryKeyConstraint("tenant_id", "call_id"),
    Index("ix_planned_calls_user", "tenant_id", "user_id", "number"),
)
"""Calls that plan mode holds back, in their order; `holder` is the process that took one to run it."""

call_keys = Table(
    "call_keys",
    metadata,
    must("tenant_id"),
    must("user_id"),
    must("agent"),
    must("key"),
    must("fingerprint"),
    must("state"),
    may("call_id"),
    may("outcome"),
    must("holder"),
    must("updated_at", Double),
    PrimaryKeyConstraint("tenant_id", "user_id", "agent", "key"),
    Index("ix_call_keys_holder", "holder"),
    Index("ix_call_keys_updated_at", "updated_at"),
)

dead_letters = Table(
    "dead_letters",
    metadata,
    must("tenant_id"),
    must("id"),
    must("call_id"),
    must("session_id"),
    must("tool"),
    may("code"),
    must("error"),
    must("earlier_errors"),
    must("attempts", Integer),
    must("args"),
    must("sealed"),
    must("status"),
    may("replay_of"),
    may("holder"),
    must("at", Double),
    PrimaryKeyConstraint("tenant_id", "id"),
    Index("ix_dead_letters_at", "tenant_id", "at"),
    Index("ix_dead_letters_session", "tenant_id", "session_id"),
)

letter_replays = Table(
    "letter_replays",
    metadata,
    must("tenant_id"),
    must("call_id"),
    must("letter_id"),
    must("number", Integer),
    PrimaryKeyConstraint("tenant_id", "call_id"),
    Index("ix_letter_replays_letter", "tenant_id", "letter_id"),
)
