"""API keys as rows: what each may call, and its digest. The key itself is not stored."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, insert, or_, select, update
from sqlalchemy.engine import Connection, Row

from handrail.core.define.levels import Level
from handrail.core.define.principal import KeyKind
from handrail.store.statements import matching
from handrail.store.tables.identity import api_keys

_PLAIN_COLUMNS = (
    *("id", "name", "kind", "digest", "agent", "created_at", "created_by"),
    *("expires_at", "revoked_at", "last_used_at"),
)
"""Columns that hold a field of the same name as it is."""
_JSON_FIELDS = (
    *("id", "name", "kind", "user", "agent", "permissions", "tools", "ceiling", "audience"),
    *("created_at", "created_by", "expires_at", "revoked_at", "last_used_at"),
)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key, without its secret."""

    id: str
    name: str
    kind: KeyKind
    permissions: frozenset[str]
    created_at: float
    created_by: str
    digest: str = field(repr=False)
    user: str | None = None
    agent: str | None = None
    tools: tuple[str, ...] | None = None
    """Names or patterns of the tools it reaches; None reaches all."""
    ceiling: Level | None = None
    """The gravest level it reaches."""
    audience: str | None = None
    """Where it is accepted; None for everywhere."""
    expires_at: float | None = None
    revoked_at: float | None = None
    last_used_at: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The key as JSON data, without its digest."""
        values = {name: getattr(self, name) for name in _JSON_FIELDS}
        tools = None if self.tools is None else list(self.tools)
        return values | {"permissions": sorted(self.permissions), "tools": tools}

    def is_live(self, now: float) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def add_key(conn: Connection, tenant: str, key: ApiKey) -> None:
    scopes = {"tools": key.tools, "ceiling": key.ceiling, "audience": key.audience}
    row = {name: getattr(key, name) for name in _PLAIN_COLUMNS} | {
        "tenant_id": tenant,
        "user_id": key.user,
        "permissions": json.dumps(sorted(key.permissions)),
        "scopes": json.dumps(scopes),
    }
    conn.execute(insert(api_keys).values(row))


def get_key(conn: Connection, tenant: str, key: str) -> ApiKey | None:
    row = conn.execute(select(api_keys).where(_is(tenant, key))).one_or_none()
    return None if row is None else _key(row)


def list_keys(conn: Connection, tenant: str) -> list[ApiKey]:
    """The tenant's keys, the newest first."""
    query = select(api_keys).where(api_keys.c.tenant_id == tenant)
    return [_key(row) for row in conn.execute(query.order_by(api_keys.c.created_at.desc(), api_keys.c.id))]


def revoke_key(conn: Connection, tenant: str, key: str, *, at: float) -> bool:
    """Revoke a key for good; False when there is none, or it was revoked before."""
    live = update(api_keys).where(_is(tenant, key), api_keys.c.revoked_at.is_(None))
    return conn.execute(live.values(revoked_at=at)).rowcount > 0


def mark_used(conn: Connection, tenant: str, key: str, *, at: float, every: float) -> bool:
    """Record that a key was used, unless that was recorded not long ago."""
    last = api_keys.c.last_used_at
    stale = update(api_keys).where(_is(tenant, key), or_(last.is_(None), last < at - every))
    return conn.execute(stale.values(last_used_at=at)).rowcount > 0


def _is(tenant: str, key: str) -> ColumnElement[bool]:
    return matching(api_keys, tenant_id=tenant, id=key)


def _key(row: Row[Any]) -> ApiKey:
    scopes = json.loads(row.scopes)
    tools = scopes["tools"]
    return ApiKey(
        **{name: getattr(row, name) for name in _PLAIN_COLUMNS},
        permissions=frozenset(json.loads(row.permissions)),
        user=row.user_id,
        tools=None if tools is None else tuple(tools),
        ceiling=scopes["ceiling"],
        audience=scopes.get("audience"),
    )
