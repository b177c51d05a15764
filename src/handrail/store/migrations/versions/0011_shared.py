"""What several people fill in together, and what is published for everybody."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from handrail.store.migrations.steps import secure

revision = "0011"
down_revision = "0010"

TABLES = ("tool_sessions", "tool_submissions", "embeds", "embed_runs")


def upgrade() -> None:
    op.create_table(
        "tool_sessions",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("tool_slug", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("entity_ids", sa.Text(), nullable=False),
        sa.Column("config", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("share_id", sa.Text(), nullable=True),
        sa.Column("share_digest", sa.Text(), nullable=True),
        sa.Column("share_expires_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_tool_sessions"),
    )
    op.create_index(
        "ix_tool_sessions_tenant_id_created_at_id", "tool_sessions", ["tenant_id", "created_at", "id"]
    )
    op.create_index(
        "ix_tool_sessions_tenant_id_tool_slug_created_at_id",
        "tool_sessions",
        ["tenant_id", "tool_slug", "created_at", "id"],
    )
    op.create_index("ix_tool_sessions_tenant_id_share_id", "tool_sessions", ["tenant_id", "share_id"])
    op.create_table(
        "tool_submissions",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("user_display_name", sa.Text(), nullable=True),
        sa.Column("input", sa.Text(), nullable=False),
        sa.Column("output", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "user_id", name="pk_tool_submissions"),
    )
    op.create_table(
        "embeds",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("tools", sa.Text(), nullable=False),
        sa.Column("origins", sa.Text(), nullable=False),
        sa.Column("runs_per_day", sa.Integer(), nullable=False),
        sa.Column("runs_per_visitor", sa.Integer(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=True),
        sa.Column("revoked_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_embeds"),
    )
    op.create_table(
        "embed_runs",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("embed_id", sa.Text(), nullable=False),
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("visitor", sa.Text(), nullable=False),
        sa.Column("runs", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "embed_id", "day", "visitor", name="pk_embed_runs"),
    )

    secure(TABLES)
