"""Blobs: large content, stored once for each tenant under the hash of its bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256

from sqlalchemy import select
from sqlalchemy.engine import Connection

from handrail.store.statements import dialect_insert
from handrail.store.tables.event_log import blobs


def hash_of(content: bytes) -> str:
    """The name of a content."""
    return sha256(content).hexdigest()


def put(conn: Connection, tenant: str, contents: Mapping[str, str | bytes], now: float) -> None:
    """Store texts and files under their hashes, each once."""
    rows = []
    for key, content in sorted(contents.items()):
        data = content.encode() if isinstance(content, str) else content
        row = {"tenant_id": tenant, "hash": key, "content": data, "size": len(data), "created_at": now}
        rows.append(row)
    conn.execute(dialect_insert(conn, blobs).on_conflict_do_nothing(), rows)


def get(conn: Connection, tenant: str, keys: Iterable[str]) -> dict[str, bytes]:
    """The contents that this tenant has under these hashes."""
    hashes = sorted(set(keys))
    if not hashes:
        return {}
    query = select(blobs.c.hash, blobs.c.content).where(blobs.c.tenant_id == tenant, blobs.c.hash.in_(hashes))
    return {key: bytes(content) for key, content in conn.execute(query)}
