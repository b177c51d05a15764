"""Embeds as rows: what is published for everybody, where it may be shown, and how often it was used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, update

from handrail.store.codec import dump, load
from handrail.store.statements import insert_if_absent, matching
from handrail.store.tables.catalogue import embed_runs, embeds

ALL_VISITORS = ""
"""The visitor that stands for all of them."""
_JSON_FIELDS = (
    *("id", "title", "tools", "origins", "runs_per_day", "runs_per_visitor"),
    *("enabled", "created_by", "created_at", "expires_at", "revoked_at"),
)


@dataclass(frozen=True, slots=True)
class Embed:
    """A published view: some tools that whoever has its token may use."""

    id: str
    title: str
    tools: tuple[str, ...]
    """The ids of the tools on it; it opens no others."""
    origins: tuple[str, ...]
    """The origins whose pages may show it."""
    runs_per_day: int
    runs_per_visitor: int
    created_by: str
    created_at: float
    digest: str = field(repr=False)
    sealed: str = field(repr=False)
    """The token, encrypted, for those who manage it."""
    enabled: bool = True
    expires_at: float | None = None
    revoked_at: float | None = None

    def is_open(self, now: float) -> bool:
        return self.enabled and self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def to_dict(self) -> dict[str, Any]:
        """The embed as JSON data, without its token."""
        values = {name: getattr(self, name) for name in _JSON_FIELDS}
        return values | {"tools": list(self.tools), "origins": list(self.origins)}


def add_embed(conn: Connection, tenant: str, embed: Embed) -> None:
    row = embed.to_dict() | {"tools": dump(list(embed.tools)), "origins": dump(list(embed.origins))}
    conn.execute(insert(embeds).values(**row, tenant_id=tenant, digest=embed.digest, sealed=embed.sealed))


def get_embed(conn: Connection, tenant: str, embed: str) -> Embed | None:
    row = conn.execute(select(embeds).where(_is(tenant, embed))).one_or_none()
    return None if row is None else _embed(row)


def list_embeds(conn: Connection, tenant: str) -> list[Embed]:
    """The tenant's, the newest first."""
    query = select(embeds).where(embeds.c.tenant_id == tenant)
    return [_embed(row) for row in conn.execute(query.order_by(embeds.c.created_at.desc(), embeds.c.id))]


def change_embed(conn: Connection, tenant: str, embed: str, changes: Mapping[str, Any]) -> bool:
    """Change what is named; False when there is none that is not revoked."""
    values = {name: dump(list(value)) if name == "origins" else value for name, value in changes.items()}
    live = update(embeds).where(_is(tenant, embed), embeds.c.revoked_at.is_(None))
    return conn.execute(live.values(values)).rowcount > 0


def count_embed_run(
    conn: Connection, tenant: str, embed: Embed, *, day: str, visitor: str
) -> Literal["day", "visitor"] | None:
    """Count one run; or say which quota is used up, and count nothing."""
    return _count_both(conn, tenant, embed.id, day, visitor, embed.runs_per_day, embed.runs_per_visitor)


def count_guest_run(
    conn: Connection, tenant: str, share: str, *, day: str, guest: str, per_link: int, per_guest: int
) -> Literal["day", "visitor"] | None:
    """Count one run of a guest of a share link, in the same way."""
    return _count_both(conn, tenant, share, day, guest, per_link, per_guest)


def embed_runs_on(conn: Connection, tenant: str, embed: str, day: str) -> int:
    """How often it was used on a day."""
    query = select(embed_runs.c.runs).where(_counts(tenant, embed, day, ALL_VISITORS))
    return conn.execute(query).scalar_one_or_none() or 0


def _count_both(
    conn: Connection, tenant: str, embed: str, day: str, visitor: str, together: int, each: int
) -> Literal["day", "visitor"] | None:
    if not _count(conn, tenant, embed, day, ALL_VISITORS, together):
        return "day"
    if not _count(conn, tenant, embed, day, visitor, each):
        _add_to_count(conn, tenant, embed, day, ALL_VISITORS, -1)
        return "visitor"
    return None


def _count(conn: Connection, tenant: str, embed: str, day: str, visitor: str, most: int) -> bool:
    if _add_to_count(conn, tenant, embed, day, visitor, 1, most):
        return True
    row = {"tenant_id": tenant, "embed_id": embed, "day": day, "visitor": visitor, "runs": 1}
    if most > 0 and insert_if_absent(conn, embed_runs, row):
        if visitor == ALL_VISITORS:  # the first of a day: nobody needs the counts of earlier ones
            of_embed = matching(embed_runs, tenant_id=tenant, embed_id=embed)
            conn.execute(delete(embed_runs).where(of_embed, embed_runs.c.day < day))
        return True
    return _add_to_count(conn, tenant, embed, day, visitor, 1, most)


def _add_to_count(
    conn: Connection, tenant: str, embed: str, day: str, visitor: str, by: int, most: int | None = None
) -> bool:
    change = update(embed_runs).where(_counts(tenant, embed, day, visitor))
    if most is not None:
        change = change.where(embed_runs.c.runs < most)
    return conn.execute(change.values(runs=embed_runs.c.runs + by)).rowcount > 0


def _counts(tenant: str, embed: str, day: str, visitor: str) -> ColumnElement[bool]:
    return matching(embed_runs, tenant_id=tenant, embed_id=embed, day=day, visitor=visitor)


def _is(tenant: str, embed: str) -> ColumnElement[bool]:
    return matching(embeds, tenant_id=tenant, id=embed)


def _embed(row: Row[Any]) -> Embed:
    values = {**row._mapping, "tools": tuple(load(row.tools)), "origins": tuple(load(row.origins))}
    del values["tenant_id"]
    return Embed(**values)
