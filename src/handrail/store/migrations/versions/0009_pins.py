"""Which definitions of foreign tools were accepted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from handrail.store.migrations.steps import secure

revision = "0009"
down_revision = "0008"

TABLES = ("mcp_pins",)


def upgrade() -> None:
    op.create_table(
        "mcp_pins",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("server", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("accepted", sa.Text(), nullable=True),
        sa.Column("held", sa.Text(), nullable=True),
        sa.Column("accepted_at", sa.Double(), nullable=True),
        sa.Column("accepted_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "server", "tool", name="pk_mcp_pins"),
    )

    secure(TABLES)
