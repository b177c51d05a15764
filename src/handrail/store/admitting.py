"""Admitting: letting the user that an application signs in as act as the roles of Handrail."""

from __future__ import annotations

from sqlalchemy import create_engine
from sqlalchemy.engine import make_url

from handrail.store.engines import APP_ROLE, SYSTEM_ROLE


def admit(owner_url: str, user: str) -> None:
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


def user_of(url: str) -> str | None:
    """The user that an address signs in as."""
    return make_url(url).username
