"""StoreDeadLetters: the dead letters of a database."""

from __future__ import annotations

import builtins
from collections.abc import Iterable

from handrail.core.tell.dead_letters import DeadLetter, DeadLetterStatus, parse_cursor
from handrail.store import dead_letter_queries
from handrail.store.database import Database
from handrail.store.dead_letter_queries import IsDead, to_row
from handrail.store.encryption import Seal


class StoreDeadLetters:
    """`DeadLetters` in rows. What is not awaited is posted, and commits with the events around it."""

    def __init__(self, db: Database, seal: Seal, is_dead: IsDead) -> None:
        self._db = db
        self._seal = seal
        self._is_dead = is_dead

    def add(self, letter: DeadLetter, /) -> None:
        tenant, row = letter.tenant, to_row(letter, self._seal)
        self._db.post(tenant, lambda conn: dead_letter_queries.add_dead_letter(conn, tenant, row))

    def doubt(self, call_id: str, tenant: str, /) -> None:
        self._db.post(tenant, lambda conn: dead_letter_queries.mark_replay_unknown(conn, tenant, call_id))

    async def get(self, letter_id: str, tenant: str, /) -> DeadLetter | None:
        await self._db.flushed()
        return await self._db.read(
            tenant,
            lambda conn: dead_letter_queries.get_dead_letter(
                conn, tenant, letter_id, self._seal, self._is_dead
            ),
        )

    async def list(
        self,
        tenant: str,
        *,
        tool: str | None = None,
        session: str | None = None,
        code: str | None = None,
        status: DeadLetterStatus | None = None,
        since: float | None = None,
        before: float | None = None,
    ) -> builtins.list[DeadLetter]:
        await self._db.flushed()
        return await self._db.read(
            tenant,
            lambda conn: dead_letter_queries.list_dead_letters(
                conn,
                tenant,
                self._seal,
                self._is_dead,
                tool=tool,
                session=session,
                code=code,
                status=status,
                since=since,
                before=before,
            ),
        )

    async def page(self, tenant: str, /, *, after: str | None, limit: int) -> builtins.list[DeadLetter]:
        place = None if after is None else parse_cursor(after)
        await self._db.flushed()
        return await self._db.read(
            tenant,
            lambda conn: dead_letter_queries.page_dead_letters(
                conn, tenant, self._seal, self._is_dead, after=place, limit=limit
            ),
        )

    async def take(self, letter_id: str, tenant: str, call_id: str, /) -> DeadLetter | None:
        return await self._db.write(
            tenant,
            lambda conn: dead_letter_queries.claim_dead_letter(
                conn, tenant, letter_id, call_id, self._db.holder, self._seal, self._is_dead
            ),
        )

    async def ended(self, call_id: str, tenant: str, ok: bool, /) -> None:
        await self._db.write(
            tenant, lambda conn: dead_letter_queries.settle_replay(conn, tenant, call_id, ok)
        )

    async def remove(self, letter_ids: Iterable[str], tenant: str, /) -> int:
        ids = list(letter_ids)
        return await self._db.write(
            tenant, lambda conn: dead_letter_queries.delete_dead_letters(conn, tenant, ids)
        )
