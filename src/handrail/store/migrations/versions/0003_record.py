"""What happened."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from handrail.store.migrations.steps import run, secure
from handrail.store.triggers import append_only_triggers

revision = "0003"
down_revision = "0002"

TABLES = ("blobs", "event_heads", "open_runs", "session_events", "sessions")


def upgrade() -> None:
    op.create_table(
        "blobs",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "hash", name="pk_blobs"),
    )
    op.create_table(
        "event_heads",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", name="pk_event_heads"),
    )
    op.create_table(
        "open_runs",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("repeatable", sa.Boolean(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "run_id", name="pk_open_runs"),
    )
    op.create_index("ix_open_runs_call", "open_runs", ["tenant_id", "call_id"], unique=False)
    op.create_index("ix_open_runs_holder", "open_runs", ["holder"], unique=False)
    op.create_table(
        "session_events",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("begun", sa.Double(), nullable=True),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=True),
        sa.Column("agent", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=True),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("blob", sa.Text(), nullable=True),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "seq", name="pk_session_events"),
    )
    op.create_index(
        "ix_runs_agent",
        "session_events",
        ["tenant_id", "agent", "begun"],
        unique=False,
        sqlite_where=sa.text("type = 'tool.started'"),
        postgresql_where=sa.text("type = 'tool.started'"),
    )
    op.create_index(
        "ix_runs_begun",
        "session_events",
        ["tenant_id", "begun"],
        unique=False,
        sqlite_where=sa.text("type = 'tool.started'"),
        postgresql_where=sa.text("type = 'tool.started'"),
    )
    op.create_index(
        "ix_runs_ended",
        "session_events",
        ["tenant_id", "type", "begun"],
        unique=False,
        sqlite_where=sa.text("type <> 'tool.started' AND begun IS NOT NULL"),
        postgresql_where=sa.text("type <> 'tool.started' AND begun IS NOT NULL"),
    )
    op.create_index(
        "ix_runs_review",
        "session_events",
        ["tenant_id", "begun"],
        unique=False,
        sqlite_where=sa.text("code = 'UNKNOWN_OUTCOME'"),
        postgresql_where=sa.text("code = 'UNKNOWN_OUTCOME'"),
    )
    op.create_index(
        "ix_runs_run",
        "session_events",
        ["tenant_id", "run_id"],
        unique=False,
        sqlite_where=sa.text("type <> 'tool.output_appended'"),
        postgresql_where=sa.text("type <> 'tool.output_appended'"),
    )
    op.create_index(
        "ix_runs_session",
        "session_events",
        ["tenant_id", "session_id", "begun"],
        unique=False,
        sqlite_where=sa.text("type = 'tool.started'"),
        postgresql_where=sa.text("type = 'tool.started'"),
    )
    op.create_index(
        "ix_runs_source",
        "session_events",
        ["tenant_id", "source", "begun"],
        unique=False,
        sqlite_where=sa.text("type = 'tool.started'"),
        postgresql_where=sa.text("type = 'tool.started'"),
    )
    op.create_index(
        "ix_runs_tool",
        "session_events",
        ["tenant_id", "tool", "begun"],
        unique=False,
        sqlite_where=sa.text("type = 'tool.started'"),
        postgresql_where=sa.text("type = 'tool.started'"),
    )
    op.create_index(
        "ix_runs_user",
        "session_events",
        ["tenant_id", "user_id", "begun"],
        unique=False,
        sqlite_where=sa.text("type = 'tool.started'"),
        postgresql_where=sa.text("type = 'tool.started'"),
    )
    op.create_index("ix_session_events_call", "session_events", ["call_id", "tenant_id"], unique=False)
    op.create_index("ix_session_events_position", "session_events", ["tenant_id", "position"], unique=True)
    op.create_table(
        "sessions",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.Column("last_hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_sessions"),
    )
    op.create_index("ix_sessions_id", "sessions", ["id"], unique=False)

    secure(TABLES)
    run(append_only_triggers)
