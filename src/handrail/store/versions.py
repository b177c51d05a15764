"""Versions: every save of anything with a history. Content is stored once, under the hash of its JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from hashlib import sha256
from typing import Any

from sqlalchemy import ColumnElement, func, insert, select
from sqlalchemy.engine import Connection, Row

from handrail.core.errors import UsageError
from handrail.store.statements import advisory_lock, insert_if_absent, matching
from handrail.store.tables.catalogue import schema_contents, schema_versions


@dataclass(frozen=True, slots=True)
class Version:
    """One save."""

    number: int
    """Counted from 1."""
    hash: str
    saved_at: float
    saved_by: str | None
    note: str | None


def canonical_text(content: Any) -> str:
    """The one spelling of a JSON value. What is no JSON is refused, so that it can be read back as it was."""
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
        is_same = json.loads(text) == content
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"Only JSON can be kept in versions: {error}.") from None
    if not is_same:
        raise UsageError("Only JSON can be kept in versions: names are text, lists are lists.")
    return text


def save_version(
    conn: Connection,
    tenant: str,
    subject_type: str,
    subject: str,
    content: Any,
    *,
    at: float,
    by: str | None,
    note: str | None = None,
) -> Version:
    """Record a save. The same content is stored once; that it was saved again is recorded too."""
    text = canonical_text(content)
    address = sha256(text.encode()).hexdigest()
    insert_if_absent(conn, schema_contents, {"tenant_id": tenant, "hash": address, "content": text})
    advisory_lock(conn, "versions", tenant, subject_type, subject)
    newest = select(func.max(schema_versions.c.number)).where(_of(tenant, subject_type, subject))
    number = (conn.execute(newest).scalar() or 0) + 1
    conn.execute(
        insert(schema_versions).values(
            tenant_id=tenant,
            subject_type=subject_type,
            subject=subject,
            number=number,
            hash=address,
            saved_at=at,
            saved_by=by,
            note=note,
        )
    )
    return Version(number, address, at, by, note)


def history(
    conn: Connection,
    tenant: str,
    subject_type: str,
    subject: str,
    *,
    before: int | None = None,
    limit: int = 50,
) -> list[Version]:
    """Saves, the newest first; a page of those before a number."""
    saves = select(schema_versions).where(_of(tenant, subject_type, subject))
    if before is not None:
        saves = saves.where(schema_versions.c.number < before)
    return [
        _version(row) for row in conn.execute(saves.order_by(schema_versions.c.number.desc()).limit(limit))
    ]


def content_of(conn: Connection, tenant: str, subject_type: str, subject: str, number: int) -> Any:
    """What was saved under a number."""
    version = (_of(tenant, subject_type, subject), schema_versions.c.number == number)
    address = conn.execute(select(schema_versions.c.hash).where(*version)).scalar()
    stored = matching(schema_contents, tenant_id=tenant, hash=address)
    text: str | None = conn.execute(select(schema_contents.c.content).where(stored)).scalar()
    if text is None:
        raise UsageError(f"There is no version {number} of {subject_type} {subject!r}.")
    if sha256(text.encode()).hexdigest() != address:
        raise UsageError(f"Version {number} of {subject_type} {subject!r} was changed where it is kept.")
    return json.loads(text)


def compare(conn: Connection, tenant: str, subject_type: str, subject: str, old: int, new: int) -> str:
    """What changed between two versions, line by line; empty when nothing did."""
    before, after = (content_of(conn, tenant, subject_type, subject, number) for number in (old, new))
    lines = unified_diff(
        list(_lines(before)), list(_lines(after)), f"version {old}", f"version {new}", lineterm=""
    )
    return "\n".join(lines)


def restore(
    conn: Connection, tenant: str, subject_type: str, subject: str, number: int, *, at: float, by: str | None
) -> Version:
    """Save an old content again, as the newest version."""
    content = content_of(conn, tenant, subject_type, subject, number)
    note = f"restored version {number}"
    return save_version(conn, tenant, subject_type, subject, content, at=at, by=by, note=note)


def _lines(content: Any) -> Iterator[str]:
    yield from json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False).splitlines()


def _of(tenant: str, subject_type: str, subject: str) -> ColumnElement[bool]:
    return matching(schema_versions, tenant_id=tenant, subject_type=subject_type, subject=subject)


def _version(row: Row[Any]) -> Version:
    return Version(row.number, row.hash, row.saved_at, row.saved_by, row.note)
