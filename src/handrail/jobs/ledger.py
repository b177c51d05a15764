"""StoreJobLedger: jobs as rows, claimed and finished by this process."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from sqlalchemy import Connection

from handrail.core.run.jobs.job import FINAL, Busy, ClaimedJob, JobState, OpenRun
from handrail.store import jobs as rows
from handrail.store import open_runs
from handrail.store.approvals import forget_call_arguments
from handrail.store.database import Database
from handrail.store.encryption import Seal, SealError
from handrail.store.engines import enter_tenant
from handrail.store.events.rows import EncodedEvent
from handrail.store.job_graph import has_children, settle_children

_number = itertools.count(1).__next__


Enqueue = Callable[[Connection, str, str, int], None]
"""(connection, tenant, call, number): puts a job into the queue."""


class StoreJobLedger:
    """The jobs that this process holds, each under a token that nobody else ever has."""

    def __init__(self, database: Database, seal: Seal, enqueue: Enqueue) -> None:
        self._database = database
        self._enqueue = enqueue
        self._seal = seal
        self._held: dict[tuple[str, str], str] = {}

    @property
    def held(self) -> list[tuple[str, str]]:
        """Tenant and call of the jobs that this process holds."""
        return list(self._held)

    async def take(self, tenant: str, call_id: str, /) -> ClaimedJob | Busy | None:
        key = (tenant, call_id)
        if key in self._held:
            return "busy"
        token = self._held[key] = rows.token_of(self._database.holder, _number())
        claimed: ClaimedJob | Busy | None = None
        try:
            now = self._database.clock.now()
            claimed = await self._database.write(tenant, self._claim, tenant, call_id, token, now)
            return claimed
        finally:
            if not isinstance(claimed, ClaimedJob):
                self._held.pop(key, None)

    def _claim(
        self, conn: Connection, tenant: str, call_id: str, token: str, now: float
    ) -> ClaimedJob | Busy | None:
        row = rows.take_job(conn, tenant, call_id, token, now)
        if row is None or row == "busy":
            return row
        open_run, recorded, attempt = None, frozenset[str](), row.entry.attempts
        is_repeated = attempt > 1 or row.enqueue_count > 1
        for run in open_runs.open_runs_of_call(conn, tenant, call_id) if is_repeated else ():
            open_runs.take_over(conn, tenant, run.run_id, run.holder, self._database.holder)
            open_run = OpenRun(run.run_id, run.repeatable)
        try:
            job = rows.unseal_job(self._seal, row)
        except (SealError, ValueError, LookupError, TypeError) as error:
            reason = str(error) if isinstance(error, SealError) else f"it cannot be read: {error!r}"
            rows.finish_job(conn, tenant, call_id, token, "blocked", reason, now)
            return None
        stop = (row.entry.reason or "somebody cancelled it") if row.cancel_requested else None
        if is_repeated:
            recorded = rows.event_types_of_call(conn, tenant, call_id)
        return ClaimedJob(job, attempt, stop, open_run, recorded, row.skipped)

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
        self._held.pop(key, None)  # its events are written by now, or dropped
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
        return await self._database.write(tenant, rows.is_job_held, tenant, call_id, token)

    async def leave(self, tenant: str, call_id: str, /) -> None:
        if (tenant, call_id) in self._held:
            await self._database.flushed()  # until then, its events must pass the fence
            self._held.pop((tenant, call_id), None)

    def forsake(self, tenant: str, call_id: str) -> str:
        """Record nothing more of a job; the token it was held by."""
        token = self._held[tenant, call_id]
        self._held[tenant, call_id] = ""
        return token

    def fence(self, conn: Connection, entries: list[EncodedEvent]) -> list[EncodedEvent]:
        """The entries without those of jobs that another process holds by now."""
        if not self._held:
            return entries
        calls: dict[str, set[str]] = {}
        for entry in entries:
            if (entry.tenant, entry.event.call_id) in self._held:
                calls.setdefault(entry.tenant, set()).add(entry.event.call_id)
        ours: set[tuple[str, str]] = set()
        for tenant in sorted(calls):
            enter_tenant(conn, tenant)
            tokens = rows.job_holders(conn, tenant, calls[tenant])
            ours.update((tenant, call) for call in tokens if self._held.get((tenant, call)) == tokens[call])
        return [
            entry
            for entry in entries
            if (key := (entry.tenant, entry.event.call_id)) in ours or key[1] not in calls.get(key[0], ())
        ]
