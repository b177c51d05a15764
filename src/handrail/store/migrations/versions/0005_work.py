"""What goes on by itself."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from handrail.store.migrations.steps import secure

revision = "0005"
down_revision = "0004"

TABLES = ("job_parents", "jobs", "schedules")


def upgrade() -> None:
    op.create_table(
        "job_parents",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("parent_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "call_id", "parent_id", name="pk_job_parents"),
    )
    op.create_index("ix_job_parents_parent", "job_parents", ["tenant_id", "parent_id"], unique=False)
    op.create_table(
        "jobs",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("approval_id", sa.Text(), nullable=True),
        sa.Column("sealed", sa.Text(), nullable=True),
        sa.Column("fingerprint", sa.Text(), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("enqueued", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("cancel_requested", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("due_at", sa.Double(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("holder", sa.Text(), nullable=True),
        sa.Column("task", sa.Text(), nullable=True),
        sa.Column("skipped", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "call_id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_call", "jobs", ["call_id"], unique=False)
    op.create_index("ix_jobs_state", "jobs", ["state", "due_at"], unique=False)
    op.create_table(
        "schedules",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("cron", sa.Text(), nullable=True),
        sa.Column("every", sa.Double(), nullable=True),
        sa.Column("zone", sa.Text(), nullable=True),
        sa.Column("next_at", sa.Double(), nullable=False),
        sa.Column("last_call_id", sa.Text(), nullable=True),
        sa.Column("enabled", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "name", name="pk_schedules"),
    )
    op.create_index("ix_schedules_next_at", "schedules", ["next_at"], unique=False)

    secure(TABLES)
