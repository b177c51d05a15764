"""Sign-in links as rows: for whom each is, until when, and whether it was used."""

from __future__ import annotations

from sqlalchemy import delete, insert, update
from sqlalchemy.engine import Connection

from handrail.store.tables import sign_in_links


def add_link(
    conn: Connection, tenant: str, link: str, user: str, digest: str, *, at: float, expires_at: float
) -> None:
    """Keep a link; those of the tenant that are long over are forgotten."""
    over = sign_in_links.c.expires_at < at
    conn.execute(delete(sign_in_links).where(sign_in_links.c.tenant_id == tenant, over))
    row = {"tenant_id": tenant, "id": link, "user_id": user, "digest": digest}
    conn.execute(insert(sign_in_links).values(**row, created_at=at, expires_at=expires_at))


def use_link(conn: Connection, tenant: str, link: str, digest: str, *, at: float) -> str | None:
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
