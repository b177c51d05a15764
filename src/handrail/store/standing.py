"""StoreStanding: standing approvals that outlive the process."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.engine import Connection

from handrail.core.define.principal import Principal
from handrail.core.define.schema import digest_of
from handrail.store.database import Database
from handrail.store.tables import standing
from handrail.store.text import column
from handrail.store.upsert import insert_new


def give_standing(
    conn: Connection, tenant: str, principal: Principal, session: str, digest: str, by: str | None, now: float
) -> None:
    if principal.tenant != tenant:
        return
    row = {**_this(tenant, principal, session, digest), "given_at": now, "given_by": by}
    insert_new(conn, standing, row)


def standing_holds(conn: Connection, tenant: str, principal: Principal, session: str, digest: str) -> bool:
    this = _this(tenant, principal, session, digest)
    wanted = select(standing.c.given_at).where(*(standing.c[name] == value for name, value in this.items()))
    return conn.execute(wanted).first() is not None


def _this(tenant: str, principal: Principal, session: str, digest: str) -> dict[str, str]:
    """Everything about the principal counts: with more rights or another role it is not the same one."""
    whose = digest_of(principal.to_dict())
    return {"tenant_id": tenant, "principal": whose, "session_id": column(session), "digest": digest}


class StoreStanding:
    """A `Standing` in rows."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def give(self, principal: Principal, session: str, digest: str, by: str | None, /) -> None:
        tenant, now = principal.tenant, self._db.clock.now()
        self._db.post(tenant, lambda conn: give_standing(conn, tenant, principal, session, digest, by, now))

    async def holds(self, principal: Principal, session: str, digest: str, /) -> bool:
        tenant = principal.tenant
        return await self._db.read(
            tenant, lambda conn: standing_holds(conn, tenant, principal, session, digest)
        )
