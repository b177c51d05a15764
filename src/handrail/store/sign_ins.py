"""Sign-in links, failed sign-ins, and sessions that were revoked before they expired."""

from __future__ import annotations

from sqlalchemy import delete, insert, select, update
from sqlalchemy.engine import Connection

from handrail.store.statements import advisory_lock, dialect_insert, insert_if_absent, matching
from handrail.store.tables.identity import revoked_sessions, sign_in_links
from handrail.store.tables.identity import sign_in_attempts as table


def add_sign_in_link(
    conn: Connection, tenant: str, link: str, user: str, digest: str, *, at: float, expires_at: float
) -> None:
    """Store a link; those of the tenant that have expired are deleted."""
    expired = sign_in_links.c.expires_at < at
    conn.execute(delete(sign_in_links).where(sign_in_links.c.tenant_id == tenant, expired))
    row = {"tenant_id": tenant, "id": link, "user_id": user, "digest": digest}
    conn.execute(insert(sign_in_links).values(**row, created_at=at, expires_at=expires_at))


def use_sign_in_link(conn: Connection, tenant: str, link: str, digest: str, *, at: float) -> str | None:
    """The user whom a link signs in, once; None for one that is unknown, used or expired."""
    unused = matching(sign_in_links, tenant_id=tenant, id=link, digest=digest, used_at=None)
    use = update(sign_in_links).where(unused, sign_in_links.c.expires_at > at).values(used_at=at)
    return conn.execute(use.returning(sign_in_links.c.user_id)).scalar_one_or_none()


def count_attempt(conn: Connection, name: str, *, at: float, window: float) -> tuple[int, float]:
    """Count an attempt, as a failed one until it is taken back: how many by now, and since when.

    For a connection of the system. Since it is counted beforehand, many at once are not free.
    """
    advisory_lock(conn, "sign-in attempts")
    conn.execute(delete(table).where(table.c.window_started_at <= at - window))
    first = dialect_insert(conn, table).values(counter=name, failures=1, window_started_at=at)
    counted = first.on_conflict_do_update(index_elements=["counter"], set_={"failures": table.c.failures + 1})
    row = conn.execute(counted.returning(table.c.failures, table.c.window_started_at)).one()
    return row.failures, row.window_started_at


def clear_attempts(conn: Connection, name: str) -> None:
    """Forget all attempts under a name, since one succeeded: for a connection of the system."""
    conn.execute(delete(table).where(table.c.counter == name))


def undo_attempt(conn: Connection, name: str) -> None:
    """Forget one attempt under a name: for a connection of the system."""
    conn.execute(
        update(table)
        .where(table.c.counter == name, table.c.failures > 0)
        .values(failures=table.c.failures - 1)
    )


def revoke_session(conn: Connection, tenant: str, digest: str, *, at: float, expires_at: float) -> None:
    """Revoke the session of that digest; those of the tenant that have expired are deleted."""
    expired = revoked_sessions.c.expires_at < at
    conn.execute(delete(revoked_sessions).where(revoked_sessions.c.tenant_id == tenant, expired))
    row = {"tenant_id": tenant, "digest": digest, "expires_at": expires_at}
    insert_if_absent(conn, revoked_sessions, row)


def is_revoked(conn: Connection, tenant: str, digest: str) -> bool:
    """Whether somebody signed out of the session of that digest."""
    revoked = matching(revoked_sessions, tenant_id=tenant, digest=digest)
    return conn.execute(select(revoked_sessions.c.digest).where(revoked)).first() is not None
