"""Alembic's way in: runs the steps on the connection that `migrate` hands over."""

from __future__ import annotations

from alembic import context

from handrail.store.tables import metadata

connection = context.config.attributes["connection"]
context.configure(
    connection=connection, target_metadata=metadata, render_as_batch=True, transaction_per_migration=False
)
with context.begin_transaction():
    context.run_migrations()
