"""Tables: everything that is kept, one schema for SQLite and PostgreSQL.

Every table with a `tenant_id` belongs to tenants: a connection sees the rows of one of them. Times are
seconds since 1970. What is JSON is text that we write ourselves, so both databases hold the same bytes;
what is `sealed` can be read only with the key.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _must(name: str, kind: Any = Text, **options: Any) -> Column[Any]:
    return Column(name, kind, nullable=False, **options)


def _may(name: str, kind: Any = Text, **options: Any) -> Column[Any]:
    return Column(name, kind, nullable=True, **options)


# --- who there is

tenants = Table(
    "tenants",
    metadata,
    _must("id", primary_key=True),
    _must("name"),
    _must("created_at", Double),
)

users = Table(
    "users",
    metadata,
    _must("id", primary_key=True),
    _must("email", unique=True),
    _must("name"),
    _may("password_hash"),
    _must("sign_in_epoch", Integer, server_default=text("0")),
    _must("created_at", Double),
    _may("disabled_at", Double),
)
"""People, who may belong to several tenants. Nobody sees this table but through memberships."""

memberships = Table(
    "memberships",
    metadata,
    _must("tenant_id"),
    _must("user_id"),
    _must("role"),
    _must("created_at", Double),
    PrimaryKeyConstraint("tenant_id", "user_id", "role"),
    ForeignKeyConstraint(["user_id"], ["users.id"]),
)

roles = Table(
    "roles",
    metadata,
    _must("tenant_id"),
    _must("name"),
    _must("permissions"),
    _must("updated_at", Double),
    PrimaryKeyConstraint("tenant_id", "name"),
)

api_keys = Table(
    "api_keys",
    metadata,
    _must("tenant_id"),
    _must("id"),
    _must("name"),
    _must("kind"),
    _must("digest"),
    _may("user_id"),
    _may("agent"),
    _must("permissions"),
    _must("scopes"),
    _must("created_at", Double),
    _must("created_by"),
    _may("expires_at", Double),
    _may("revoked_at", Double),
    _may("last_used_at", Double),
    PrimaryKeyConstraint("tenant_id", "id"),
)

# --- which tools there are

tools = Table(
    "tools",
    metadata,
    _must("tenant_id"),
    _must("slug"),
    _must("kind"),
    _must("enabled", Boolean, server_default=text("true")),
    _may("permission_policy"),
    _may("name"),
    _may("description"),
    _may("category"),
    _may("icon"),
    _may("level"),
    _may("danger"),
    _may("requires"),
    _may("input_schema"),
    _may("output_schema"),
    _may("execution"),
    _may("updated_at", Double),
    _may("updated_by"),
    PrimaryKeyConstraint("tenant_id", "slug", "kind"),
)

tool_views = Table(
    "tool_views",
    metadata,
    _must("tenant_id", primary_key=True),
    _must("version", BigInteger),
)
"""Raised with every change of a tenant's tools, so that whoever remembers them knows when to look again."""

schema_contents = Table(
    "schema_contents",
    metadata,
    _must("tenant_id"),
    _must("hash"),
    _must("content"),
    PrimaryKeyConstraint("tenant_id", "hash"),
)

schema_versions = Table(
    "schema_versions",
    metadata,
    _must("tenant_id"),
    _must("subject_type"),
    _must("subject"),
    _must("number", Integer),
    _must("hash"),
    _must("saved_at", Double),
    _may("saved_by"),
    _may("note"),
    PrimaryKeyConstraint("tenant_id", "subject_type", "subject", "number"),
)

# --- what happened

sessions = Table(
    "sessions",
    metadata,
    _must("tenant_id"),
    _must("id"),
    _must("last_seq", BigInteger),
    _must("last_hash"),
    _must("created_at", Double),
    _must("updated_at", Double),
    PrimaryKeyConstraint("tenant_id", "id"),
    Index("ix_sessions_id", "id"),
)

event_heads = Table(
    "event_heads",
    metadata,
    _must("tenant_id", primary_key=True),
    _must("position", BigInteger),
)
"""How many events each tenant has.

Whoever appends holds this row until it commits, so numbers never overtake.
"""

session_events = Table(
    "session_events",
    metadata,
    _must("tenant_id"),
    _must("session_id"),
    _must("seq", BigInteger),
    _must("position", BigInteger),
    _must("type"),
    _must("at", Double),
    _may("begun", Double),
    _must("call_id"),
    _may("run_id"),
    _must("tool"),
    _may("user_id"),
    _may("agent"),
    _must("source"),
    _may("code"),
    _must("hash"),
    _may("blob"),
    _must("payload"),
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
    _must("tenant_id"),
    _must("run_id"),
    _must("call_id"),
    _must("session_id"),
    _must("tool"),
    _must("holder"),
    _must("repeatable", Boolean),
    _must("started_at", Double),
    PrimaryKeyConstraint("tenant_id", "run_id"),
    Index("ix_open_runs_holder", "holder"),
    Index("ix_open_runs_call", "tenant_id", "call_id"),
)
"""Runs that began and did not end, and which process has them in hand."""

blobs = Table(
    "blobs",
    metadata,
    _must("tenant_id"),
    _must("hash"),
    _must("content", LargeBinary),
    _must("size", BigInteger),
    _must("created_at", Double),
    PrimaryKeyConstraint("tenant_id", "hash"),
)

# --- what waits, and what must not happen twice

approvals = Table(
    "approvals",
    metadata,
    _must("tenant_id"),
    _must("id"),
    _must("call_id"),
    _must("session_id"),
    _must("tool"),
    _must("tool_digest"),
    _must("level"),
    _must("danger"),
    _must("decision"),
    _may("user_id"),
    _may("agent"),
    _must("source"),
    _must("args"),
    _must("args_hash"),
    _must("repairs"),
    _must("sealed"),
    _must("quorum", Integer),
    _must("four_eyes", Boolean),
    _must("status"),
    _must("created_at", Double),
    _may("expires_at", Double),
    _may("decided_by"),
    _may("decided_at", Double),
    _may("reply"),
    _may("edited_args"),
    _may("edited_hash"),
    _may("effective_args"),
    _may("effective_hash"),
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
    _must("tenant_id"),
    _must("approval_id"),
    _must("user_id"),
    _must("verdict"),
    _must("effective_hash"),
    _must("at", Double),
    PrimaryKeyConstraint("tenant_id", "approval_id", "user_id"),
)

standing = Table(
    "standing",
    metadata,
    _must("tenant_id"),
    _must("principal"),
    _must("session_id"),
    _must("digest"),
    _must("given_at", Double),
    _may("given_by"),
    PrimaryKeyConstraint("tenant_id", "principal", "session_id", "digest"),
)
"""Approvals that hold for the rest of a session."""

call_keys = Table(
    "call_keys",
    metadata,
    _must("tenant_id"),
    _must("user_id"),
    _must("agent"),
    _must("key"),
    _must("fingerprint"),
    _must("state"),
    _may("call_id"),
    _may("outcome"),
    _must("holder"),
    _must("updated_at", Double),
    PrimaryKeyConstraint("tenant_id", "user_id", "agent", "key"),
    Index("ix_call_keys_holder", "holder"),
    Index("ix_call_keys_updated_at", "updated_at"),
)

dead_letters = Table(
    "dead_letters",
    metadata,
    _must("tenant_id"),
    _must("id"),
    _must("call_id"),
    _must("session_id"),
    _must("tool"),
    _may("code"),
    _must("error"),
    _must("earlier_errors"),
    _must("attempts", Integer),
    _must("args"),
    _must("sealed"),
    _must("status"),
    _may("replay_of"),
    _may("holder"),
    _must("at", Double),
    PrimaryKeyConstraint("tenant_id", "id"),
    Index("ix_dead_letters_at", "tenant_id", "at"),
    Index("ix_dead_letters_session", "tenant_id", "session_id"),
)

letter_replays = Table(
    "letter_replays",
    metadata,
    _must("tenant_id"),
    _must("call_id"),
    _must("letter_id"),
    _must("number", Integer),
    PrimaryKeyConstraint("tenant_id", "call_id"),
    Index("ix_letter_replays_letter", "tenant_id", "letter_id"),
)

# --- work that goes on by itself

jobs = Table(
    "jobs",
    metadata,
    _must("tenant_id"),
    _must("call_id"),
    _must("session_id"),
    _must("tool"),
    _must("kind"),
    _must("state"),
    _may("approval_id"),
    _may("sealed"),
    _may("fingerprint"),
    _must("attempts", Integer, server_default=text("0")),
    _must("enqueued", Integer, server_default=text("0")),
    _must("cancel_requested", Boolean, server_default=text("false")),
    _may("due_at", Double),
    _must("created_at", Double),
    _must("updated_at", Double),
    _may("reason"),
    _may("holder"),
    PrimaryKeyConstraint("tenant_id", "call_id"),
    Index("ix_jobs_state", "state", "due_at"),
    Index("ix_jobs_call", "call_id"),
)

schedules = Table(
    "schedules",
    metadata,
    _must("tenant_id"),
    _must("name"),
    _must("tool"),
    _must("sealed"),
    _may("cron"),
    _may("every", Double),
    _may("zone"),
    _must("next_at", Double),
    _may("last_call_id"),
    _must("enabled", Boolean, server_default=text("true")),
    _must("updated_at", Double),
    PrimaryKeyConstraint("tenant_id", "name"),
    Index("ix_schedules_next_at", "next_at"),
)

leases = Table(
    "leases",
    metadata,
    _must("name", primary_key=True),
    _must("holder"),
    _must("host"),
    _must("pid", BigInteger),
    _must("role"),
    _must("expires_at", Double),
)
"""Who is alive: of no tenant."""

# --- what tools are told in confidence, and what they cost

secrets = Table(
    "secrets",
    metadata,
    _must("tenant_id"),
    _must("user_id"),
    _must("name"),
    _must("sealed"),
    _must("updated_at", Double),
    _may("updated_by"),
    PrimaryKeyConstraint("tenant_id", "user_id", "name"),
)
"""A user_id of '' is the tenant's own."""

usage = Table(
    "usage",
    metadata,
    _must("tenant_id"),
    _must("day"),
    _must("tool"),
    _must("user_id"),
    _must("agent"),
    _must("source"),
    _must("measure"),
    _must("amount", BigInteger),
    PrimaryKeyConstraint("tenant_id", "day", "tool", "user_id", "agent", "source", "measure"),
)
"""One row a measure, so that adding to it is one statement however many processes count."""

settings = Table(
    "settings",
    metadata,
    _must("name", primary_key=True),
    _must("value"),
)
"""Facts about this database, such as which key seals it: of no tenant."""

writers = Table(
    "writers",
    metadata,
    _must("holder", primary_key=True),
    _must("last_group", BigInteger),
)
"""The last group that each writer committed, so that one which lost its connection knows: of no tenant."""

SHARED = frozenset({"tenants", "users", "leases", "settings", "writers"})
"""Tables that belong to no tenant."""
OPEN_TO_ALL = frozenset({"tools", "tool_views", "roles"})
"""Tables whose rows under DEFAULT_TENANT_ID every tenant may read."""
