"""Sign-in links, and how often a password was tried, counted in one place for all servers."""

from __future__ import annotations

from sqlalchemy import delete, insert, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from handrail.store.advisory_lock import advisory_lock
from handrail.store.tables import sign_in_attempts as table
from handrail.store.tables import sign_in_links


def add_sign_in_link(
    conn: Connection, tenant: str, link: str, user: str, digest: str, *, at: float, expires_at: float
) -> None:
    """Keep a link; those of the tenant that are long over are forgotten."""
    over = sign_in_links.c.expires_at < at
    conn.execute(delete(sign_in_links).where(sign_in_links.c.tenant_id == tenant, over))
    row = {"tenant_id": tenant, "id": link, "user_id": user, "digest": digest}
    conn.execute(insert(sign_in_links).values(**row, created_at=at, expires_at=expires_at))


def use_sign_in_link(conn: Connection, tenant: str, link: str, digest: str, *, at: float) -> str | None:
    """Whom a link lets in, and use it up; None for one that is unknown, used or over."""
    table = sign_in_links
    fresh = update(table).where(
        table.c.tenant_id == tenant,
        table.c.id == link,
        table.c.digest == digest,
        table.c.used_at.is_(None),
        table.c.expires_at > at,
    )
    return conn.execute(fresh.values(used_at=at).returning(table.c.user_id)).scalar_one_or_none()


def count_attempt(conn: Connection, name: str, *, at: float, window: float) -> tuple[int, float]:
    """Count a try, as a wrong one until it is taken back: how many by now, and since when.

    For a connection of the house. What is counted beforehand cannot be tried many times at once.
    """
    advisory_lock(conn, "sign-in attempts")
    conn.execute(delete(table).where(table.c.since <= at - window))
    kind = postgresql if conn.dialect.name == "postgresql" else sqlite
    tried = kind.insert(table).values(name=name, wrong=1, since=at)
    counted = tried.on_conflict_do_update(index_elements=["name"], set_={"wrong": table.c.wrong + 1})
    row = conn.execute(counted.returning(table.c.wrong, table.c.since)).one()
    return row.wrong, row.since


def clear_attempts(conn: Connection, name: str) -> None:
    """Forget all tries under a name, since one was right: for a connection of the house."""
    conn.execute(delete(table).where(table.c.name == name))


def undo_attempt(conn: Connection, name: str) -> None:
    """Forget one try under a name: for a connection of the house."""
    conn.execute(update(table).where(table.c.name == name, table.c.wrong > 0).values(wrong=table.c.wrong - 1))
