"""Blobs: large content, kept once for each tenant under the hash of its bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from handrail.store.tables import blobs


def hash_of(content: bytes) -> str:
    """The name of a content."""
    return sha256(content).hexdigest()


def put(conn: Connection, tenant: str, contents: Mapping[str, str | bytes], now: float) -> None:
    """Keep texts and files under their hashes; one that is there already is not kept twice."""
    rows = [
        {"tenant_id": tenant, "hash": key, "content": content, "size": len(content), "created_at": now}
        for key, content in (
            (key, one.encode() if isinstance(one, str) else one) for key, one in sorted(contents.items())
        )
    ]
    into = sqlite.insert(blobs) if conn.dialect.name == "sqlite" else postgresql.insert(blobs)
    conn.execute(into.on_conflict_do_nothing(), rows)


def get(conn: Connection, tenant: str, keys: Iterable[str]) -> dict[str, bytes]:
    """The contents that this tenant has under these hashes."""
    wanted = sorted(set(keys))
    if not wanted:
        return {}
    found = select(blobs.c.hash, blobs.c.content).where(blobs.c.tenant_id == tenant, blobs.c.hash.in_(wanted))
    return {key: bytes(content) for key, content in conn.execute(found)}
