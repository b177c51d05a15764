"""Calls on their way: approvals, plans, idempotency keys, dead letters, jobs and schedules."""

from __future__ import annotations

from sqlalchemy import Index

from handrail.store.tables.columns import boolean, double, integer, partial_index, table, text

approvals = table(
    "approvals",
    ["tenant_id", "id"],
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
    Index("ix_approvals_open", "tenant_id", "status", "created_at"),
    partial_index("ix_approvals_due", "status = 'pending'", "expires_at"),
    Index("ix_approvals_call", "tenant_id", "call_id"),
)

approval_votes = table(
    "approval_votes",
    ["tenant_id", "approval_id", "user_id"],
    *text("tenant_id", "approval_id", "user_id", "verdict", "effective_hash"),
    *double("voted_at"),
)

standing_approvals = table(
    "standing_approvals",
    ["tenant_id", "principal_digest", "session_id", "tool_digest"],
    *text("tenant_id", "principal_digest", "session_id", "tool_digest"),
    *double("granted_at"),
    *text("granted_by", nullable=True),
)
"""Approvals that hold for the rest of a session."""

planned_calls = table(
    "planned_calls",
    ["tenant_id", "call_id"],
    *text("tenant_id", "call_id"),
    *integer("number"),
    *text("user_id", "agent", nullable=True),
    *text("session_id", "source", "tool", "args", "reason", "sealed"),
    *text("holder", nullable=True),
    *double("planned_at"),
    Index("ix_planned_calls_user", "tenant_id", "user_id", "number"),
)
"""Calls that plan mode holds back, in their order; `holder` is the process that took one to run it."""

idempotency_keys = table(
    "idempotency_keys",
    ["tenant_id", "user_id", "agent", "key"],
    *text("tenant_id", "user_id", "agent", "key", "fingerprint", "state"),
    *text("call_id", "outcome", nullable=True),
    *text("holder"),
    *double("updated_at"),
    Index("ix_idempotency_keys_holder", "holder"),
    Index("ix_idempotency_keys_updated_at", "updated_at"),
)

dead_letters = table(
    "dead_letters",
    ["tenant_id", "id"],
    *text("tenant_id", "id", "call_id", "session_id", "tool"),
    *text("code", nullable=True),
    *text("error", "earlier_errors"),
    *integer("attempts"),
    *text("args", "sealed", "status"),
    *text("replay_of", "holder", nullable=True),
    *double("failed_at"),
    Index("ix_dead_letters_failed_at", "tenant_id", "failed_at"),
    Index("ix_dead_letters_session", "tenant_id", "session_id"),
)

dead_letter_replays = table(
    "dead_letter_replays",
    ["tenant_id", "call_id"],
    *text("tenant_id", "call_id", "dead_letter_id"),
    *integer("number"),
    Index("ix_dead_letter_replays_dead_letter", "tenant_id", "dead_letter_id"),
)


jobs = table(
    "jobs",
    ["tenant_id", "call_id"],
    *text("tenant_id", "call_id", "session_id", "tool", "kind", "state"),
    *text("approval_id", "sealed", "fingerprint", nullable=True),
    *integer("attempts", default="0"),
    *integer("enqueue_count", default="0"),
    *boolean("cancel_requested", default="false"),
    *double("due_at", nullable=True),
    *double("created_at", "updated_at"),
    *text("reason", "holder", "task_name", nullable=True),
    *boolean("skipped", default="false"),
    Index("ix_jobs_state", "state", "due_at"),
    Index("ix_jobs_call", "call_id"),
)

job_parents = table(
    "job_parents",
    ["tenant_id", "call_id", "parent_id"],
    *text("tenant_id", "call_id", "parent_id"),
    Index("ix_job_parents_parent", "tenant_id", "parent_id"),
)
"""Which job comes after which."""

schedules = table(
    "schedules",
    ["tenant_id", "name"],
    *text("tenant_id", "name", "tool", "sealed"),
    *text("cron", nullable=True),
    *double("interval_seconds", nullable=True),
    *text("time_zone", nullable=True),
    *double("next_run_at"),
    *text("last_call_id", nullable=True),
    *boolean("enabled", default="true"),
    *double("updated_at"),
    Index("ix_schedules_next_run_at", "next_run_at"),
)
