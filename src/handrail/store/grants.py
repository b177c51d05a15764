"""PostgreSQL's own enforcement: roles, row-level security, and which user may act as the roles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlalchemy import create_engine
from sqlalchemy.engine import make_url

from handrail.core.find.visibility import DEFAULT_TENANT_ID
from handrail.store.engines import APP_ROLE, SYSTEM_ROLE
from handrail.store.tables import TABLES_WITH_COMMON_ROWS, TABLES_WITHOUT_TENANT

_CURRENT_TENANT = "NULLIF(current_setting('handrail.tenant', true), '')"
"""The tenant of this transaction: the setting is an empty string once a transaction has ended."""
_APPEND_ONLY = frozenset({"session_events"})


def role_statements() -> Iterator[str]:
    """The two roles, made where they are missing, and given to whoever runs this."""
    for role in (APP_ROLE, SYSTEM_ROLE):
        yield (
            f"DO $$ BEGIN CREATE ROLE {role} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE; "
            "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
        )
        yield f"GRANT {role} TO CURRENT_USER"
        yield f"GRANT USAGE ON SCHEMA public TO {role}"
        yield f"GRANT SELECT ON alembic_version TO {role}"


_POLICIES = {
    "tenants": ("own", f"id = {_CURRENT_TENANT}"),
    "users": ("members", "EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = users.id)"),
}
"""Tables without a tenant of which a tenant sees a part: itself, and the people who belong to it."""


def policy_statements(tables: Iterable[str]) -> Iterator[str]:
    """Who may do what with these tables."""
    for table in tables:
        may = "SELECT, INSERT" if table in _APPEND_ONLY else "SELECT, INSERT, UPDATE, DELETE"
        yield f"GRANT {may} ON {table} TO {APP_ROLE}, {SYSTEM_ROLE}"
        is_shown_in_part = table not in TABLES_WITHOUT_TENANT or table in _POLICIES
        if is_shown_in_part or table == "sign_in_attempts":  # which is for the system role alone
            yield from _enable_row_security(table)
        if is_shown_in_part:
            name, rows = _POLICIES.get(table, ("own", f"tenant_id = {_CURRENT_TENANT}"))
            yield f"CREATE POLICY {name} ON {table} TO {APP_ROLE} USING ({rows}) WITH CHECK ({rows})"
        if table in TABLES_WITH_COMMON_ROWS:
            common = f"tenant_id = '{DEFAULT_TENANT_ID}'"
            yield f"CREATE POLICY common ON {table} FOR SELECT TO {APP_ROLE} USING ({common})"


def _enable_row_security(table: str) -> Iterator[str]:
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"
    yield f"CREATE POLICY system ON {table} TO {SYSTEM_ROLE} USING (true) WITH CHECK (true)"


def grant_roles(owner_url: str, user: str) -> None:
    """Let a user of PostgreSQL become the two roles that see tenants; nothing else is given to it."""
    engine = create_engine(make_url(owner_url).set(drivername="postgresql+psycopg"))
    try:
        with engine.begin() as conn:
            name = conn.dialect.identifier_preparer.quote_identifier(user)
            # It holds nothing by itself: it must say as which of them it acts.
            newer = (conn.dialect.server_version_info or (0,)) >= (16,)
            conn.exec_driver_sql(
                f"GRANT {APP_ROLE}, {SYSTEM_ROLE} TO {name}{' WITH INHERIT FALSE, SET TRUE' if newer else ''}"
            )
    finally:
        engine.dispose()


def url_user(url: str) -> str | None:
    """The user that an address signs in as."""
    return make_url(url).username
