"""Secrets of tenants and users: encrypted at rest, and read through `ctx.secret()` alone."""

from __future__ import annotations

import threading

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.engine import Connection

from handrail.core.define.principal import Principal
from handrail.core.errors import UsageError
from handrail.engine.admin import SecretName
from handrail.store.codec import fit_column
from handrail.store.database import Database
from handrail.store.encryption import Seal
from handrail.store.statements import matching, upsert
from handrail.store.tables.operations import secrets

_TENANTS_OWN = ""
_FRESH = 5.0
"""Seconds for which a value that was read is taken to hold."""
_KEEP = 10_000


def set_secret(
    conn: Connection,
    tenant: str,
    name: str,
    value: str,
    *,
    user: str | None = None,
    by: str | None = None,
    seal: Seal,
    now: float,
) -> None:
    """Store a secret of the tenant, or a credential of one of its users."""
    _check(name, value, user)
    upsert(
        conn,
        secrets,
        {
            "tenant_id": tenant,
            "user_id": user or _TENANTS_OWN,
            "name": name,
            "sealed": seal.close(tenant, value, _about(user, name)),
            "updated_at": now,
            "updated_by": by,
        },
    )


def list_secrets(conn: Connection, tenant: str, *, user: str | None = None) -> list[SecretName]:
    """The names of the tenant's secrets, and of one user's credentials where one is named."""
    whose = secrets.c.user_id.in_((_TENANTS_OWN, user or _TENANTS_OWN))
    columns = (secrets.c.name, secrets.c.user_id, secrets.c.updated_at, secrets.c.updated_by)
    rows = conn.execute(
        select(*columns).where(secrets.c.tenant_id == tenant, whose).order_by(columns[0], columns[1])
    )
    return [SecretName(row.name, row.user_id or None, row.updated_at, row.updated_by) for row in rows]


def delete_secret(conn: Connection, tenant: str, name: str, *, user: str | None = None) -> bool:
    """Forget a secret; whether there was one."""
    return conn.execute(delete(secrets).where(_is(tenant, name, user))).rowcount == 1


def read_secret(conn: Connection, tenant: str, name: str, user: str | None, seal: Seal) -> str | None:
    """The user's own credential of this name, else the tenant's secret."""
    for whose in (user, None) if user else (None,):
        sealed: str | None = conn.execute(select(secrets.c.sealed).where(_is(tenant, name, whose))).scalar()
        if sealed is not None:
            value: str = seal.open(tenant, sealed, _about(whose, name))
            return value
    return None


def _check(name: str, value: str, user: str | None) -> None:
    if not isinstance(name, str) or not name or fit_column(name) != name:
        raise UsageError("A secret has a name: printable text of at most 200 characters.")
    if user is not None and (not user or fit_column(user) != user):
        raise UsageError("A credential belongs to a user: printable text of at most 200 characters.")
    if not isinstance(value, str) or not value:
        raise UsageError(f"The secret {name!r} is text, and not empty.")


def _about(user: str | None, name: str) -> str:
    return f"secret:{user or _TENANTS_OWN}:{name}"


def _is(tenant: str, name: str, user: str | None) -> ColumnElement[bool]:
    return matching(secrets, tenant_id=tenant, user_id=user or _TENANTS_OWN, name=name)


class StoreSecrets:
    """The port behind `ctx.secret()`.

    A body asks in the middle of its work, without awaiting, so what was read holds for a few seconds: a body
    that asks in a loop does not ask the database each time. A change by this process holds at once.
    """

    def __init__(self, db: Database, seal: Seal) -> None:
        self._db = db
        self._seal = seal
        self._read: dict[tuple[str, str | None, str], tuple[float, str]] = {}
        self._lock = threading.Lock()

    def __call__(self, name: str, principal: Principal) -> str | None:
        tenant, user = principal.tenant, principal.user
        if not isinstance(name, str) or fit_column(name) != name:
            return None
        key, now = (tenant, user, name), self._db.clock.ticks()
        cached = self._read.get(key)
        if cached is not None and now - cached[0] < _FRESH:
            return cached[1]
        with self._db.reading(tenant) as conn:
            value = read_secret(conn, tenant, name, user, self._seal)
        with self._lock:
            self._read.pop(key, None)
            if value is not None:
                self._read[key] = (now, value)
            if len(self._read) > _KEEP:
                del self._read[next(iter(self._read))]
        return value

    async def set(
        self, tenant: str, name: str, value: str, *, user: str | None = None, by: str | None = None
    ) -> None:
        _check(name, value, user)
        now, seal = self._db.clock.now(), self._seal
        await self._db.write(tenant, set_secret, tenant, name, value, user=user, by=by, seal=seal, now=now)
        self._forget(tenant, name)

    async def list(self, tenant: str, *, user: str | None = None) -> list[SecretName]:
        return await self._db.read(tenant, list_secrets, tenant, user=user)

    async def delete(self, tenant: str, name: str, *, user: str | None = None) -> bool:
        is_deleted = await self._db.write(tenant, delete_secret, tenant, name, user=user)
        self._forget(tenant, name)
        return is_deleted

    def _forget(self, tenant: str, name: str) -> None:
        with self._lock:
            for key in [key for key in self._read if key[0] == tenant and key[2] == name]:
                del self._read[key]

    def __repr__(self) -> str:
        return "StoreSecrets()"
