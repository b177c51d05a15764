"""Work: what goes on by itself."""

from __future__ import annotations

from sqlalchemy import Boolean, Double, Index, Integer, PrimaryKeyConstraint, Table, text

from handrail.store.tables.columns import may, metadata, must

jobs = Table(
    "jobs",
    metadata,
    must("tenant_id"),
    must("call_id"),
    must("session_id"),
    must("tool"),
    must("kind"),
    must("state"),
    may("approval_id"),
    may("sealed"),
    may("fingerprint"),
    must("attempts", Integer, server_default=text("0")),
    must("enqueued", Integer, server_default=text("0")),
    must("cancel_requested", Boolean, server_default=text("false")),
    may("due_at", Double),
    must("created_at", Double),
    must("updated_at", Double),
    may("reason"),
    may("holder"),
    may("task"),
    must("skipped", Boolean, server_default=text("false")),
    PrimaryKeyConstraint("tenant_id", "call_id"),
    Index("ix_jobs_state", "state", "due_at"),
    Index("ix_jobs_call", "call_id"),
)

job_parents = Table(
    "job_parents",
    metadata,
    must("tenant_id"),
    must("call_id"),
    must("parent_id"),
    PrimaryKeyConstraint("tenant_id", "call_id", "parent_id"),
    Index("ix_job_parents_parent", "tenant_id", "parent_id"),
)
"""Which job comes after which."""

schedules = Table(
    "schedules",
    metadata,
    must("tenant_id"),
    must("name"),
    must("tool"),
    must("sealed"),
    may("cron"),
    may("every", Double),
    may("zone"),
    must("next_at", Double),
    may("last_call_id"),
    must("enabled", Boolean, server_default=text("true")),
    must("updated_at", Double),
    PrimaryKeyConstraint("tenant_id", "name"),
    Index("ix_schedules_next_at", "next_at"),
)
