"""Which tools a tenant has, and how their schemas changed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from handrail.store.migrations.steps import run, secure
from handrail.store.triggers import tool_change_triggers

revision = "0002"
down_revision = "0001"

TABLES = ("schema_contents", "schema_versions", "tool_views", "tools")


def upgrade() -> None:
    op.create_table(
        "schema_contents",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "hash", name="pk_schema_contents"),
    )
    op.create_table(
        "schema_versions",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("subject_type", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("saved_at", sa.Double(), nullable=False),
        sa.Column("saved_by", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "subject_type", "subject", "number", name="pk_schema_versions"),
    )
    op.create_table(
        "tool_views",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", name="pk_tool_views"),
    )
    op.create_table(
        "tools",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("permission_policy", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("category", sa.Text(), nullable=True),
        sa.Column("icon", sa.Text(), nullable=True),
        sa.Column("level", sa.Text(), nullable=True),
        sa.Column("danger", sa.Text(), nullable=True),
        sa.Column("requires", sa.Text(), nullable=True),
        sa.Column("input_schema", sa.Text(), nullable=True),
        sa.Column("output_schema", sa.Text(), nullable=True),
        sa.Column("execution", sa.Text(), nullable=True),
        sa.Column("updated_at", sa.Double(), nullable=True),
        sa.Column("updated_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "slug", "kind", name="pk_tools"),
    )

    secure(TABLES)
    run(tool_change_triggers)
