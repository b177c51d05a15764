"""API keys as rows: what each reaches, and the digest by which it is known. The key itself is nowhere."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import insert, or_, select, update
from sqlalchemy.engine import Connection, Row

from handrail.core.define.levels import Level
from handrail.core.define.principal import KeyKind
from handrail.store.tables import api_keys


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is known of a key."""

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
    """The door that it opens; None opens every one."""
    expires_at: float | None = None
    revoked_at: float | None = None
    last_used_at: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """What is known of it as JSON data; not its digest."""
        return {
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "user": self.user,
            "agent": self.agent,
            "permissions": sorted(self.permissions),
            "tools": None if self.tools is None else list(self.tools),
            "ceiling": self.ceiling,
            "audience": self.audience,
            "created_at": self.created_at,
            "created_by": self.created_by,
            "expires_at": self.expires_at,
            "revoked_at": self.revoked_at,
            "last_used_at": self.last_used_at,
        }

    def is_live(self, now: float) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def add_key(conn: Connection, tenant: str, key: ApiKey) -> None:
    scopes = {"tools": key.tools, "ceiling": key.ceiling, "audience": key.audience}
    row = insert(api_keys).values(
        tenant_id=tenant,
        id=key.id,
        name=key.name,
        kind=key.kind,
        digest=key.digest,
        user_id=key.user,
        agent=key.agent,
        permissions=json.dumps(sorted(key.permissions)),
        scopes=json.dumps(scopes),
        created_at=key.created_at,
        created_by=key.created_by,
        expires_at=key.expires_at,
    )
    conn.execute(row)


def get_key(conn: Connection, tenant: str, key: str) -> ApiKey | None:
    found = conn.execute(select(api_keys).where(*_is(tenant, key))).one_or_none()
    return None if found is None else _key(found)


def list_keys(conn: Connection, tenant: str) -> list[ApiKey]:
    """The tenant's keys, the newest first."""
    order = (api_keys.c.created_at.desc(), api_keys.c.id)
    return [_key(row) for row in conn.execute(select(api_keys).where(_of(tenant)).order_by(*order))]


def revoke_key(conn: Connection, tenant: str, key: str, *, at: float) -> bool:
    """End a key for good; False when there is none that is alive."""
    alive = update(api_keys).where(*_is(tenant, key), api_keys.c.revoked_at.is_(None))
    return conn.execute(alive.values(revoked_at=at)).rowcount > 0


def mark_used(conn: Connection, tenant: str, key: str, *, at: float, every: float) -> bool:
    """Note that a key was used, unless that was noted not long ago."""
    last = api_keys.c.last_used_at
    stale = update(api_keys).where(*_is(tenant, key), or_(last.is_(None), last < at - every))
    return conn.execute(stale.values(last_used_at=at)).rowcount > 0


def _of(tenant: str) -> Any:
    return api_keys.c.tenant_id == tenant


def _is(tenant: str, key: str) -> tuple[Any, ...]:
    return _of(tenant), api_keys.c.id == key


def _key(row: Row[Any]) -> ApiKey:
    scopes = json.loads(row.scopes)
    tools = scopes["tools"]
    return ApiKey(
        id=row.id,
        name=row.name,
        kind=row.kind,
        permissions=frozenset(json.loads(row.permissions)),
        created_at=row.created_at,
        created_by=row.created_by,
        digest=row.digest,
        user=row.user_id,
        agent=row.agent,
        tools=None if tools is None else tuple(tools),
        ceiling=scopes["ceiling"],
        audience=scopes.get("audience"),
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        last_used_at=row.last_used_at,
    )
