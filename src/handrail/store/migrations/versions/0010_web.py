"""Passwords, and what people keep for themselves in the web app."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from handrail.store.migrations.steps import secure

revision = "0010"
down_revision = "0009"

TABLES = ("arrivals", "ended_sessions", "favourites", "saved_inputs", "sign_in_attempts")


def upgrade() -> None:
    op.add_column("users", sa.Column("theme", sa.Text(), nullable=True))
    op.create_table(
        "arrivals",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "user_id", name="pk_arrivals"),
    )
    op.create_index("ix_arrivals_user_id", "arrivals", ["user_id"])
    op.create_table(
        "ended_sessions",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "digest", name="pk_ended_sessions"),
    )
    op.create_table(
        "favourites",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "user_id", "tool", name="pk_favourites"),
    )
    op.create_table(
        "saved_inputs",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "user_id", "tool", "name", name="pk_saved_inputs"),
    )
    op.create_table(
        "sign_in_attempts",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("wrong", sa.Integer(), nullable=False),
        sa.Column("since", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_sign_in_attempts"),
    )
    op.create_index("ix_sign_in_attempts_since", "sign_in_attempts", ["since"])

    secure(TABLES)
