"""Links by which a person signs in, once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from handrail.store.migrations.steps import secure

revision = "0008"
down_revision = "0007"

TABLES = ("sign_in_links",)


def upgrade() -> None:
    op.create_table(
        "sign_in_links",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.Column("used_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_sign_in_links"),
    )

    secure(TABLES)
