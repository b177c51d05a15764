"""What migrations are made of: tables, indexes, roles, policies and triggers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import sqlalchemy as sa
from alembic import op

from handrail.store.grants import policy_statements, role_statements


def create_table(name: str, primary_key: Sequence[str], *parts: sa.schema.SchemaItem) -> None:
    op.create_table(name, *parts, sa.PrimaryKeyConstraint(*primary_key, name=f"pk_{name}"))


def create_index(
    name: str, table: str, columns: Sequence[str], *, where: str | None = None, unique: bool = False
) -> None:
    partial = None if where is None else sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=partial, postgresql_where=partial)


def run(statements: Callable[[str], Iterable[str]]) -> None:
    """Run the statements that a function has for this dialect."""
    conn = op.get_bind()
    for statement in statements(conn.dialect.name):
        conn.exec_driver_sql(statement)


def create_roles() -> None:
    """Create the roles that the application acts as, on PostgreSQL."""
    run(lambda dialect: role_statements() if dialect == "postgresql" else ())


def secure(tables: Iterable[str]) -> None:
    """Grant rights on these tables and enable row-level security, on PostgreSQL."""
    run(lambda dialect: policy_statements(tables) if dialect == "postgresql" else ())
