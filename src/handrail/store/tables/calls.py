"""Calls on their way: approvals, plans, idempotency keys, dead letters, jobs and schedules."""

from __future__ import annotations

from sqlalchemy import Index, PrimaryKeyConstraint, Table
from sqlalchemy import text as sql_text

from handrail.store.tables.columns import boolean, double, integer, metadata, text

approvals = Table(
    "approvals",
    metadata,
    *text("tenant_id", "id", "call_id", "session_id", "tool", "tool_digest", "level", "danger", "decision"),
    *text("user_id", "agent", nullable=True),
    *text("source", "args", "args_hash", "repairs", "sealed"),
    *integer("quorum"),
    *boolean("four_eyes"),
    *text("status"),
    *double("created_at"),
    *double("expires_at", nullable=True),
    *text("decided_by", nullable=True),
    *double("decided_at", nullable=True),
    *text("reply", "edited_args", "edited_hash", "effective_args", "effective_hash", nullable=True),
    PrimaryKeyConstraint("tenant_id", "id"),
    Index("ix_approvals_open", "tenant_id", "status", "created_at"),
    Index(
        "ix_approvals_due",
        "expires_at",
        sqlite_where=sql_text("status = 'pending'"),
        postgresql_where=sql_text("status = 'pending'"),
    ),
    Index("ix_approvals_call", "tenant_id", "call_id"),
)

approval_votes = Table(
    "approval_votes",
    metadata,
    *text("tenant_id", "approval_id", "user_id", "verdict", "effective_hash"),
    *double("voted_at"),
    PrimaryKeyConstraint("tenant_id", "approval_id", "user_id"),
)

standing_approvals = Table(
    "standing_approvals",
    metadata,
    *text("tenant_id", "principal_digest", "session_id", "tool_digest"),
    *double("granted_at"),
    *text("granted_by", nullable=True),
    PrimaryKeyConstraint("tenant_id", "principal_digest", "session_id", "tool_digest"),
)
"""Approvals that hold for the rest of a session."""

planned_calls = Table(
    "planned_calls",
    metadata,
    *text("tenant_id", "call_id"),
    *integer("number"),
    *text("user_id", "agent", nullable=True),
    *text("session_id", "source", "tool", "args", "reason", "sealed"),
    *text("holder", nullable=True),
    *double("planned_at"),
    PrimaryKeyConstraint("tenant_id", "call_id"),
    Index("ix_planned_calls_user", "tenant_id", "user_id", "number"),
)
"""Calls that plan mode holds back, in their order; `holder` is the process that took one to run it."""

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    *text("tenant_id", "user_id", "agent", "key", "fingerprint", "state"),
    *text("call_id", "outcome", nullable=True),
    *text("holder"),
    *double("updated_at"),
    PrimaryKeyConstraint("tenant_id", "user_id", "agent", "key"),
    Index("ix_idempotency_keys_holder", "holder"),
    Index("ix_idempotency_keys_updated_at", "updated_at"),
)

dead_letters = Table(
    "dead_letters",
    metadata,
    *text("tenant_id", "id", "call_id", "session_id", "tool"),
    *text("code", nullable=True),
    *text("error", "earlier_errors"),
    *integer("attempts"),
    *text("args", "sealed", "status"),
    *text("replay_of", "holder", nullable=True),
    *double("failed_at"),
    PrimaryKeyConstraint("tenant_id", "id"),
    Index("ix_dead_letters_failed_at", "tenant_id", "failed_at"),
    Index("ix_dead_letters_session", "tenant_id", "session_id"),
)

dead_letter_replays = Table(
    "dead_letter_replays",
    metadata,
    *text("tenant_id", "call_id", "dead_letter_id"),
    *integer("number"),
    PrimaryKeyConstraint("tenant_id", "call_id"),
    Index("ix_dead_letter_replays_dead_letter", "tenant_id", "dead_letter_id"),
)


jobs = Table(
    "jobs",
    metadata,
    *text("tenant_id", "call_id", "session_id", "tool", "kind", "state"),
    *text("approval_id", "sealed", "fingerprint", nullable=True),
    *integer("attempts", default="0"),
    *integer("enqueue_count", default="0"),
    *boolean("cancel_requested", default="false"),
    *double("due_at", nullable=True),
    *double("created_at", "updated_at"),
    *text("reason", "holder", "task_name", nullable=True),
    *boolean("skipped", default="false"),
    PrimaryKeyConstraint("tenant_id", "call_id"),
    Index("ix_jobs_state", "state", "due_at"),
    Index("ix_jobs_call", "call_id"),
)

job_parents = Table(
    "job_parents",
    metadata,
    *text("tenant_id", "call_id", "parent_id"),
    PrimaryKeyConstraint("tenant_id", "call_id", "parent_id"),
    Index("ix_job_parents_parent", "tenant_id", "parent_id"),
)
"""Which job comes after which."""

schedules = Table(
    "schedules",
    metadata,
    *text("tenant_id", "name", "tool", "sealed"),
    *text("cron", nullable=True),
    *double("interval_seconds", nullable=True),
    *text("time_zone", nullable=True),
    *double("next_run_at"),
    *text("last_call_id", nullable=True),
    *boolean("enabled", default="true"),
    *double("updated_at"),
    PrimaryKeyConstraint("tenant_id", "name"),
    Index("ix_schedules_next_run_at", "next_run_at"),
)
