"""Calls on their way: approvals, plans, idempotency keys, dead letters, jobs and schedules."""

from __future__ import annotations

from sqlalchemy import Boolean, Double, Index, Integer, PrimaryKeyConstraint, Table, text

from handrail.store.tables.columns import metadata, optional, required

approvals = Table(
    "approvals",
    metadata,
    required("tenant_id"),
    required("id"),
    required("call_id"),
    required("session_id"),
    required("tool"),
    required("tool_digest"),
    required("level"),
    required("danger"),
    required("decision"),
    optional("user_id"),
    optional("agent"),
    required("source"),
    required("args"),
    required("args_hash"),
    required("repairs"),
    required("sealed"),
    required("quorum", Integer),
    required("four_eyes", Boolean),
    required("status"),
    required("created_at", Double),
    optional("expires_at", Double),
    optional("decided_by"),
    optional("decided_at", Double),
    optional("reply"),
    optional("edited_args"),
    optional("edited_hash"),
    optional("effective_args"),
    optional("effective_hash"),
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
    required("tenant_id"),
    required("approval_id"),
    required("user_id"),
    required("verdict"),
    required("effective_hash"),
    required("at", Double),
    PrimaryKeyConstraint("tenant_id", "approval_id", "user_id"),
)

standing = Table(
    "standing",
    metadata,
    required("tenant_id"),
    required("principal"),
    required("session_id"),
    required("digest"),
    required("given_at", Double),
    optional("given_by"),
    PrimaryKeyConstraint("tenant_id", "principal", "session_id", "digest"),
)
"""Approvals that hold for the rest of a session."""

planned_calls = Table(
    "planned_calls",
    metadata,
    required("tenant_id"),
    required("call_id"),
    required("number", Integer),
    optional("user_id"),
    optional("agent"),
    required("session_id"),
    required("source"),
    required("tool"),
    required("args"),
    required("reason"),
    required("sealed"),
    optional("holder"),
    required("at", Double),
    PrimaryKeyConstraint("tenant_id", "call_id"),
    Index("ix_planned_calls_user", "tenant_id", "user_id", "number"),
)
"""Calls that plan mode holds back, in their order; `holder` is the process that took one to run it."""

call_keys = Table(
    "call_keys",
    metadata,
    required("tenant_id"),
    required("user_id"),
    required("agent"),
    required("key"),
    required("fingerprint"),
    required("state"),
    optional("call_id"),
    optional("outcome"),
    required("holder"),
    required("updated_at", Double),
    PrimaryKeyConstraint("tenant_id", "user_id", "agent", "key"),
    Index("ix_call_keys_holder", "holder"),
    Index("ix_call_keys_updated_at", "updated_at"),
)

dead_letters = Table(
    "dead_letters",
    metadata,
    required("tenant_id"),
    required("id"),
    required("call_id"),
    required("session_id"),
    required("tool"),
    optional("code"),
    required("error"),
    required("earlier_errors"),
    required("attempts", Integer),
    required("args"),
    required("sealed"),
    required("status"),
    optional("replay_of"),
    optional("holder"),
    required("at", Double),
    PrimaryKeyConstraint("tenant_id", "id"),
    Index("ix_dead_letters_at", "tenant_id", "at"),
    Index("ix_dead_letters_session", "tenant_id", "session_id"),
)

letter_replays = Table(
    "letter_replays",
    metadata,
    required("tenant_id"),
    required("call_id"),
    required("letter_id"),
    required("number", Integer),
    PrimaryKeyConstraint("tenant_id", "call_id"),
    Index("ix_letter_replays_letter", "tenant_id", "letter_id"),
)


jobs = Table(
    "jobs",
    metadata,
    required("tenant_id"),
    required("call_id"),
    required("session_id"),
    required("tool"),
    required("kind"),
    required("state"),
    optional("approval_id"),
    optional("sealed"),
    optional("fingerprint"),
    required("attempts", Integer, server_default=text("0")),
    required("enqueued", Integer, server_default=text("0")),
    required("cancel_requested", Boolean, server_default=text("false")),
    optional("due_at", Double),
    required("created_at", Double),
    required("updated_at", Double),
    optional("reason"),
    optional("holder"),
    optional("task"),
    required("skipped", Boolean, server_default=text("false")),
    PrimaryKeyConstraint("tenant_id", "call_id"),
    Index("ix_jobs_state", "state", "due_at"),
    Index("ix_jobs_call", "call_id"),
)

job_parents = Table(
    "job_parents",
    metadata,
    required("tenant_id"),
    required("call_id"),
    required("parent_id"),
    PrimaryKeyConstraint("tenant_id", "call_id", "parent_id"),
    Index("ix_job_parents_parent", "tenant_id", "parent_id"),
)
"""Which job comes after which."""

schedules = Table(
    "schedules",
    metadata,
    required("tenant_id"),
    required("name"),
    required("tool"),
    required("sealed"),
    optional("cron"),
    optional("every", Double),
    optional("zone"),
    required("next_at", Double),
    optional("last_call_id"),
    required("enabled", Boolean, server_default=text("true")),
    required("updated_at", Double),
    PrimaryKeyConstraint("tenant_id", "name"),
    Index("ix_schedules_next_at", "next_at"),
)
