"""What waits for an answer, what must not happen twice, and what failed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from handrail.store.migrations.steps import secure

revision = "0004"
down_revision = "0003"

TABLES = ("approval_votes", "approvals", "call_keys", "dead_letters", "letter_replays", "standing")


def upgrade() -> None:
    op.create_table(
        "approval_votes",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("approval_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("effective_hash", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "approval_id", "user_id", name="pk_approval_votes"),
    )
    op.create_table(
        "approvals",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("tool_digest", sa.Text(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("danger", sa.Text(), nullable=False),
        sa.Column("decision", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=True),
        sa.Column("agent", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("args", sa.Text(), nullable=False),
        sa.Column("args_hash", sa.Text(), nullable=False),
        sa.Column("repairs", sa.Text(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("quorum", sa.Integer(), nullable=False),
        sa.Column("four_eyes", sa.Boolean(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("decided_at", sa.Double(), nullable=True),
        sa.Column("reply", sa.Text(), nullable=True),
        sa.Column("edited_args", sa.Text(), nullable=True),
        sa.Column("edited_hash", sa.Text(), nullable=True),
        sa.Column("effective_args", sa.Text(), nullable=True),
        sa.Column("effective_hash", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_approvals"),
    )
    op.create_index("ix_approvals_call", "approvals", ["tenant_id", "call_id"], unique=False)
    op.create_index(
        "ix_approvals_due",
        "approvals",
        ["expires_at"],
        unique=False,
        sqlite_where=sa.text("status = 'pending'"),
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_index("ix_approvals_open", "approvals", ["tenant_id", "status", "created_at"], unique=False)
    op.create_table(
        "call_keys",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "user_id", "agent", "key", name="pk_call_keys"),
    )
    op.create_index("ix_call_keys_holder", "call_keys", ["holder"], unique=False)
    op.create_index("ix_call_keys_updated_at", "call_keys", ["updated_at"], unique=False)
    op.create_table(
        "dead_letters",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("earlier_errors", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("args", sa.Text(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("replay_of", sa.Text(), nullable=True),
        sa.Column("holder", sa.Text(), nullable=True),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_dead_letters"),
    )
    op.create_index("ix_dead_letters_at", "dead_letters", ["tenant_id", "at"], unique=False)
    op.create_index("ix_dead_letters_session", "dead_letters", ["tenant_id", "session_id"], unique=False)
    op.create_table(
        "letter_replays",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("letter_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "call_id", name="pk_letter_replays"),
    )
    op.create_index("ix_letter_replays_letter", "letter_replays", ["tenant_id", "letter_id"], unique=False)
    op.create_table(
        "standing",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("principal", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("given_at", sa.Double(), nullable=False),
        sa.Column("given_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "principal", "session_id", "digest", name="pk_standing"),
    )

    secure(TABLES)
