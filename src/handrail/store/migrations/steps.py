"""Steps: what migrations do beside making tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from alembic import op

from handrail.store.grants import policy_statements, role_statements


def run(statements: Callable[[str], Iterable[str]]) -> None:
    """Run what a function has for this kind of database."""
    conn = op.get_bind()
    for statement in statements(conn.dialect.name):
        conn.exec_driver_sql(statement)


def make_roles() -> None:
    """Make the roles that the application acts as, on PostgreSQL."""
    run(lambda dialect: role_statements() if dialect == "postgresql" else ())


def secure(tables: Iterable[str]) -> None:
    """Say who may do what with these tables, on PostgreSQL."""
    run(lambda dialect: policy_statements(tables) if dialect == "postgresql" else ())
