"""Privacy: what PostgreSQL itself enforces. A role that owns nothing, and policies it cannot bypass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from handrail.core.find.visibility import DEFAULT_TENANT_ID
from handrail.store.engines import APP_ROLE, SYSTEM_ROLE
from handrail.store.tables import OPEN_TO_ALL, SHARED

_HERE = "NULLIF(current_setting('handrail.tenant', true), '')"
"""The tenant of this transaction: the setting is an empty string once a transaction has ended."""
_APPEND_ONLY = frozenset({"session_events"})


def roles() -> Iterator[str]:
    """The two roles, made where they are missing, and given to whoever runs this."""
    for role in (APP_ROLE, SYSTEM_ROLE):
        yield (
            f"DO $$ BEGIN CREATE ROLE {role} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE; "
            "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
        )
        yield f"GRANT {role} TO CURRENT_USER"
        yield f"GRANT USAGE ON SCHEMA public TO {role}"
        yield f"GRANT SELECT ON alembic_version TO {role}"


def policies(tables: Iterable[str]) -> Iterator[str]:
    """Who may do what with these tables."""
    for table in tables:
        may = "SELECT, INSERT" if table in _APPEND_ONLY else "SELECT, INSERT, UPDATE, DELETE"
        yield f"GRANT {may} ON {table} TO {APP_ROLE}, {SYSTEM_ROLE}"
        if table not in SHARED:
            yield from _private(table)
        elif table == "tenants":
            yield from _tenants()
        elif table == "users":
            yield from _users()
        elif table == "sign_in_attempts":
            yield from _secured(table)  # for the house alone


def _private(table: str) -> Iterator[str]:
    own = f"tenant_id = {_HERE}"
    yield from _secured(table)
    yield f"CREATE POLICY own ON {table} TO {APP_ROLE} USING ({own}) WITH CHECK ({own})"
    if table in OPEN_TO_ALL:
        everybody = f"tenant_id = '{DEFAULT_TENANT_ID}'"
        yield f"CREATE POLICY everybody ON {table} FOR SELECT TO {APP_ROLE} USING ({everybody})"


def _tenants() -> Iterator[str]:
    """A tenant sees itself."""
    yield from _secured("tenants")
    yield f"CREATE POLICY own ON tenants TO {APP_ROLE} USING (id = {_HERE}) WITH CHECK (id = {_HERE})"


def _users() -> Iterator[str]:
    """A tenant sees the people who belong to it."""
    yield from _secured("users")
    member = "EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = users.id)"
    yield f"CREATE POLICY members ON users TO {APP_ROLE} USING ({member}) WITH CHECK ({member})"


def _secured(table: str) -> Iterator[str]:
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"
    yield f"CREATE POLICY house ON {table} TO {SYSTEM_ROLE} USING (true) WITH CHECK (true)"
