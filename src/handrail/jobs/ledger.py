"""StoreLedger: jobs as rows, taken and finished by this process."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from sqlalchemy import Connection

from handrail.core.run.jobs.job import FINAL, Busy, ClaimedJob, JobState, OpenRun
from handrail.store import jobs as rows
from handrail.store import open_runs
from handrail.store.approval_queries import forget_call_arguments
from handrail.store.database import Database
from handrail.store.encryption import Seal, SealError
from handrail.store.engines import enter_tenant
from handrail.store.events.rows import EncodedEvent
from handrail.store.job_graph import has_children, settle_children

_number = itertools.count(1).__next__


Enqueue = Callable[[Connection, str, str, int], None]
"""(connection, tenant, call, number): puts a job into the queue."""


class StoreJobLedger:
    """What this process has in hand, each under a token that nobody else ever has."""

    def __init__(self, database: Database, seal: Seal, enqueue: Enqueue) -> None:
        self._database = database
        self._enqueue = enqueue
        self._seal = seal
        self._held: dict[tuple[str, str], str] = {}

    @property
    def held(self) -> list[tuple[str, str]]:
        """Tenant and call of what is in hand here."""
        return list(self._held)

    async def take(self, tenant: str, call_id: str, /) -> ClaimedJob | Busy | None:
        key = (tenant, call_id)
        if key in self._held:
            return "busy"
        database = self._database
        token = self._held[key] = rows.token_of(database.holder, _number())
        taken: ClaimedJob | Busy | None = None
        try:
            taken = await database.write(tenant, self._taking(tenant, call_id, token))
            return taken
        finally:
            if not isinstance(taken, ClaimedJob):
                self._held.pop(key, None)

    def _taking(
        self, tenant: str, call_id: str, token: str
    ) -> Callable[[Connection], ClaimedJob | Busy | None]:
        holder, now = self._database.holder, self._database.clock.now()

        def take(conn: Connection) -> ClaimedJob | Busy | None:
            row = rows.take_job(conn, tenant, call_id, token, now)
            if row is None or row == "busy":
                return row
            run, told, attempt = None, frozenset[str](), row.entry.attempts
            again = attempt > 1 or row.enqueued > 1
            for found in open_runs.open_runs_of_call(conn, tenant, call_id) if again else ():
                open_runs.take_over(conn, tenant, found.run_id, found.holder, holder)
                run = OpenRun(found.run_id, found.repeatable)
            try:
                job = rows.unseal_job(self._seal, row)
            except (SealError, ValueError, LookupError, TypeError) as error:
                why = str(error) if isinstance(error, SealError) else f"it cannot be read: {error!r}"
                rows.finish_job(conn, tenant, call_id, token, "blocked", why, now)
                return None
            stop = (row.entry.reason or "somebody cancelled it") if row.cancel_requested else None
            if again:
                told = rows.event_types_of_call(conn, tenant, call_id)
            return ClaimedJob(job, attempt, stop, run, told, row.skipped)

        return take

    async def finish(self, tenant: str, call_id: str, state: JobState, reason: str | None, /) -> bool:
        key, now = (tenant, call_id), self._database.clock.now()
        token = self._held.get(key, "")

        def end(conn: Connection) -> bool:
            ours = rows.finish_job(conn, tenant, call_id, token, state, reason, now)
            if ours and state in FINAL:
                forget_call_arguments(conn, tenant, call_id, self._seal)
                self.settle(conn, tenant, call_id, now)
            return ours

        ours = await self._database.write(tenant, end)
        self._held.pop(key, None)  # what was told of it before is written by now, or dropped
        return ours

    def settle(self, conn: Connection, tenant: str, call_id: str, now: float) -> None:
        """Queue what waited for a job that is over, in the transaction that ends it: so nothing hangs."""
        if not has_children(conn, tenant, call_id):
            return
        entry = rows.get_job(conn, tenant, call_id)
        for child, number in () if entry is None else settle_children(conn, tenant, entry, now):
            self._enqueue(conn, tenant, child, number)

    async def holds(self, tenant: str, call_id: str, /) -> bool:
        token = self._held.get((tenant, call_id), "")
        return await self._database.write(tenant, lambda conn: rows.is_job_held(conn, tenant, call_id, token))

    async def leave(self, tenant: str, call_id: str, /) -> None:
        if (tenant, call_id) in self._held:
            await self._database.flushed()  # until then, what was told of it must pass the fence
            self._held.pop((tenant, call_id), None)

    def forsake(self, tenant: str, call_id: str) -> str:
        """Tell nothing more of a job; the token it was held by."""
        token = self._held[tenant, call_id]
        self._held[tenant, call_id] = ""
        return token

    def fence(self, conn: Connection, entries: list[EncodedEvent]) -> list[EncodedEvent]:
        """The entries without those of jobs that somebody else has in hand by now."""
        if not self._held:
            return entries
        asked: dict[str, set[str]] = {}
        for entry in entries:
            if (entry.tenant, entry.event.call_id) in self._held:
                asked.setdefault(entry.tenant, set()).add(entry.event.call_id)
        ours: set[tuple[str, str]] = set()
        for tenant in sorted(asked):
            enter_tenant(conn, tenant)
            now = rows.job_holders(conn, tenant, asked[tenant])
            ours.update((tenant, one) for one in now if self._held.get((tenant, one)) == now[one])
        return [
            entry
            for entry in entries
            if (key := (entry.tenant, entry.event.call_id)) in ours or key[1] not in asked.get(key[0], ())
        ]
