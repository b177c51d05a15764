"""The initial schema: the tables that the first release begins with. Later changes are steps of their own."""

from __future__ import annotations

import sqlalchemy as sa

from handrail.store.migrations.steps import create_index, create_roles, create_table, run, secure
from handrail.store.tables.columns import big_integer, binary, boolean, double, integer, text
from handrail.store.triggers import append_only_triggers, tool_change_triggers

revision = "0001_initial"
down_revision = None

TABLES = (
    *("tenants", "users", "memberships", "roles", "api_keys"),
    *("sign_in_links", "sign_in_attempts", "last_sign_ins", "revoked_sessions"),
    *("favourites", "saved_inputs"),
    *("tools", "tool_change_counts", "mcp_pins", "schema_contents", "schema_versions"),
    *("tool_sessions", "tool_submissions", "embeds", "embed_runs"),
    *("sessions", "event_heads", "session_events", "open_runs", "blobs"),
    *("approvals", "approval_votes", "standing_approvals", "planned_calls", "idempotency_keys"),
    *("dead_letters", "dead_letter_replays", "jobs", "job_parents", "schedules"),
    *("secrets", "usage", "leases", "settings", "writers"),
)
_STARTED = "type = 'tool.started'"
_RUN_INDEXES = (
    ("run", "type <> 'tool.output_appended'", "run_id"),
    ("started", _STARTED, "started_at"),
    ("tool", _STARTED, "tool", "started_at"),
    ("user", _STARTED, "user_id", "started_at"),
    ("agent", _STARTED, "agent", "started_at"),
    ("source", _STARTED, "source", "started_at"),
    ("session", _STARTED, "session_id", "started_at"),
    ("ended", "type <> 'tool.started' AND started_at IS NOT NULL", "type", "started_at"),
    ("review", "code = 'UNKNOWN_OUTCOME'", "started_at"),
)
"""Name, condition and columns of the partial indexes by which runs are listed."""


def upgrade() -> None:
    create_roles()
    _create_identity()
    _create_catalogue()
    _create_event_log()
    _create_calls()
    _create_operations()
    secure(TABLES)
    run(append_only_triggers)
    run(tool_change_triggers)


def _create_identity() -> None:
    create_table("tenants", ["id"], *text("id", "name"), *double("created_at"))
    create_table(
        "users",
        ["id"],
        *text("id", "email", "name"),
        *text("password_hash", "theme", nullable=True),
        *integer("sign_in_epoch", default="0"),
        *double("created_at"),
        *double("disabled_at", nullable=True),
        sa.UniqueConstraint("email", name="uq_users_email"),
    )
    create_table(
        "memberships",
        ["tenant_id", "user_id", "role"],
        *text("tenant_id", "user_id", "role"),
        *double("created_at"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_memberships_user_id"),
    )
    create_table(
        "roles", ["tenant_id", "name"], *text("tenant_id", "name", "permissions"), *double("updated_at")
    )
    create_table(
        "api_keys",
        ["tenant_id", "id"],
        *text("tenant_id", "id", "name", "kind", "digest"),
        *text("user_id", "agent", nullable=True),
        *text("permissions", "scopes"),
        *double("created_at"),
        *text("created_by"),
        *double("expires_at", "revoked_at", "last_used_at", nullable=True),
    )
    create_table(
        "sign_in_links",
        ["tenant_id", "id"],
        *text("tenant_id", "id", "user_id", "digest"),
        *double("created_at", "expires_at"),
        *double("used_at", nullable=True),
    )
    create_table(
        "sign_in_attempts", ["counter"], *text("counter"), *integer("failures"), *double("window_started_at")
    )
    create_index("ix_sign_in_attempts_window_started_at", "sign_in_attempts", ["window_started_at"])
    create_table(
        "last_sign_ins", ["tenant_id", "user_id"], *text("tenant_id", "user_id"), *double("signed_in_at")
    )
    create_index("ix_last_sign_ins_user_id", "last_sign_ins", ["user_id"])
    create_table(
        "revoked_sessions", ["tenant_id", "digest"], *text("tenant_id", "digest"), *double("expires_at")
    )
    create_table(
        "favourites",
        ["tenant_id", "user_id", "tool"],
        *text("tenant_id", "user_id", "tool"),
        *double("created_at"),
    )
    create_table(
        "saved_inputs",
        ["tenant_id", "user_id", "tool", "name"],
        *text("tenant_id", "user_id", "tool", "name", "sealed"),
        *double("updated_at"),
    )


def _create_catalogue() -> None:
    create_table(
        "tools",
        ["tenant_id", "slug", "kind"],
        *text("tenant_id", "slug", "kind"),
        *boolean("enabled", default="true"),
        *text("permission_policy", "name", "description", "category", "icon", "level", nullable=True),
        *text("danger", "requires", "input_schema", "output_schema", "execution", nullable=True),
        *double("updated_at", nullable=True),
        *text("updated_by", nullable=True),
    )
    create_table("tool_change_counts", ["tenant_id"], *text("tenant_id"), *big_integer("changes"))
    create_table(
        "mcp_pins",
        ["tenant_id", "server", "tool"],
        *text("tenant_id", "server", "tool"),
        *text("accepted_definition", "pending_definition", nullable=True),
        *double("accepted_at", nullable=True),
        *text("accepted_by", nullable=True),
    )
    create_table("schema_contents", ["tenant_id", "hash"], *text("tenant_id", "hash", "content"))
    create_table(
        "schema_versions",
        ["tenant_id", "subject_type", "subject", "number"],
        *text("tenant_id", "subject_type", "subject"),
        *integer("number"),
        *text("hash"),
        *double("saved_at"),
        *text("saved_by", "note", nullable=True),
    )
    create_table(
        "tool_sessions",
        ["tenant_id", "id"],
        *text("tenant_id", "id", "tool_slug", "title", "status", "entity_ids", "config", "created_by"),
        *double("created_at"),
        *integer("revision"),
        *text("share_id", "share_digest", nullable=True),
        *double("share_expires_at", nullable=True),
    )
    create_index(
        "ix_tool_sessions_tenant_id_created_at_id", "tool_sessions", ["tenant_id", "created_at", "id"]
    )
    create_index("ix_tool_sessions_tenant_id_share_id", "tool_sessions", ["tenant_id", "share_id"])
    create_index(
        "ix_tool_sessions_tenant_id_tool_slug_created_at_id",
        "tool_sessions",
        ["tenant_id", "tool_slug", "created_at", "id"],
    )
    create_table(
        "tool_submissions",
        ["tenant_id", "session_id", "user_id"],
        *text("tenant_id", "session_id", "user_id", "id"),
        *text("user_display_name", nullable=True),
        *text("input", "output", "call_id"),
        *double("created_at"),
    )
    create_table(
        "embeds",
        ["tenant_id", "id"],
        *text("tenant_id", "id", "title", "digest", "sealed", "tools", "origins"),
        *integer("runs_per_day", "runs_per_visitor"),
        *boolean("enabled"),
        *text("created_by"),
        *double("created_at"),
        *double("expires_at", "revoked_at", nullable=True),
    )
    create_table(
        "embed_runs",
        ["tenant_id", "embed_id", "day", "visitor"],
        *text("tenant_id", "embed_id", "day", "visitor"),
        *integer("runs"),
    )


def _create_event_log() -> None:
    create_table(
        "sessions",
        ["tenant_id", "id"],
        *text("tenant_id", "id"),
        *big_integer("last_seq"),
        *text("last_hash"),
        *double("created_at", "updated_at"),
    )
    create_index("ix_sessions_id", "sessions", ["id"])
    create_table("event_heads", ["tenant_id"], *text("tenant_id"), *big_integer("position"))
    create_table(
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
    )
    for name, condition, *columns in _RUN_INDEXES:
        create_index(f"ix_runs_{name}", "session_events", ["tenant_id", *columns], where=condition)
    create_index("ix_session_events_call", "session_events", ["call_id", "tenant_id"])
    create_index("ix_session_events_position", "session_events", ["tenant_id", "position"], unique=True)
    create_table(
        "open_runs",
        ["tenant_id", "run_id"],
        *text("tenant_id", "run_id", "call_id", "session_id", "tool", "holder"),
        *boolean("repeatable"),
        *double("started_at"),
    )
    create_index("ix_open_runs_call", "open_runs", ["tenant_id", "call_id"])
    create_index("ix_open_runs_holder", "open_runs", ["holder"])
    create_table(
        "blobs",
        ["tenant_id", "hash"],
        *text("tenant_id", "hash"),
        *binary("content"),
        *big_integer("size"),
        *double("created_at"),
    )


def _create_calls() -> None:
    create_table(
        "approvals",
        ["tenant_id", "id"],
        *text(
            "tenant_id", "id", "call_id", "session_id", "tool", "tool_digest", "level", "danger", "decision"
        ),
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
    )
    create_index("ix_approvals_call", "approvals", ["tenant_id", "call_id"])
    create_index("ix_approvals_due", "approvals", ["expires_at"], where="status = 'pending'")
    create_index("ix_approvals_open", "approvals", ["tenant_id", "status", "created_at"])
    create_table(
        "approval_votes",
        ["tenant_id", "approval_id", "user_id"],
        *text("tenant_id", "approval_id", "user_id", "verdict", "effective_hash"),
        *double("voted_at"),
    )
    create_table(
        "standing_approvals",
        ["tenant_id", "principal_digest", "session_id", "tool_digest"],
        *text("tenant_id", "principal_digest", "session_id", "tool_digest"),
        *double("granted_at"),
        *text("granted_by", nullable=True),
    )
    create_table(
        "planned_calls",
        ["tenant_id", "call_id"],
        *text("tenant_id", "call_id"),
        *integer("number"),
        *text("user_id", "agent", nullable=True),
        *text("session_id", "source", "tool", "args", "reason", "sealed"),
        *text("holder", nullable=True),
        *double("planned_at"),
    )
    create_index("ix_planned_calls_user", "planned_calls", ["tenant_id", "user_id", "number"])
    create_table(
        "idempotency_keys",
        ["tenant_id", "user_id", "agent", "key"],
        *text("tenant_id", "user_id", "agent", "key", "fingerprint", "state"),
        *text("call_id", "outcome", nullable=True),
        *text("holder"),
        *double("updated_at"),
    )
    create_index("ix_idempotency_keys_holder", "idempotency_keys", ["holder"])
    create_index("ix_idempotency_keys_updated_at", "idempotency_keys", ["updated_at"])
    create_table(
        "dead_letters",
        ["tenant_id", "id"],
        *text("tenant_id", "id", "call_id", "session_id", "tool"),
        *text("code", nullable=True),
        *text("error", "earlier_errors"),
        *integer("attempts"),
        *text("args", "sealed", "status"),
        *text("replay_of", "holder", nullable=True),
        *double("failed_at"),
    )
    create_index("ix_dead_letters_failed_at", "dead_letters", ["tenant_id", "failed_at"])
    create_index("ix_dead_letters_session", "dead_letters", ["tenant_id", "session_id"])
    create_table(
        "dead_letter_replays",
        ["tenant_id", "call_id"],
        *text("tenant_id", "call_id", "dead_letter_id"),
        *integer("number"),
    )
    create_index("ix_dead_letter_replays_dead_letter", "dead_letter_replays", ["tenant_id", "dead_letter_id"])
    create_table(
        "jobs",
        ["tenant_id", "call_id"],
        *text("tenant_id", "call_id", "session_id", "tool", "kind", "state"),
        *text("approval_id", "sealed", "fingerprint", nullable=True),
        *integer("attempts", "enqueue_count", default="0"),
        *boolean("cancel_requested", default="false"),
        *double("due_at", nullable=True),
        *double("created_at", "updated_at"),
        *text("reason", "holder", "task_name", nullable=True),
        *boolean("skipped", default="false"),
    )
    create_index("ix_jobs_call", "jobs", ["call_id"])
    create_index("ix_jobs_state", "jobs", ["state", "due_at"])
    create_table(
        "job_parents", ["tenant_id", "call_id", "parent_id"], *text("tenant_id", "call_id", "parent_id")
    )
    create_index("ix_job_parents_parent", "job_parents", ["tenant_id", "parent_id"])
    create_table(
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
    )
    create_index("ix_schedules_next_run_at", "schedules", ["next_run_at"])


def _create_operations() -> None:
    create_table(
        "secrets",
        ["tenant_id", "user_id", "name"],
        *text("tenant_id", "user_id", "name", "sealed"),
        *double("updated_at"),
        *text("updated_by", nullable=True),
    )
    create_table(
        "usage",
        ["tenant_id", "day", "tool", "user_id", "agent", "source", "measure"],
        *text("tenant_id", "day", "tool", "user_id", "agent", "source", "measure"),
        *big_integer("amount"),
    )
    create_table(
        "leases",
        ["name"],
        *text("name", "holder", "host"),
        *big_integer("pid"),
        *text("role"),
        *double("expires_at"),
    )
    create_table("settings", ["name"], *text("name", "value"))
    create_table("writers", ["holder"], *text("holder"), *big_integer("last_group"))
