"""DurableJobs: jobs that outlive processes. Whoever opens it may submit; a worker also runs them."""

from __future__ import annotations

import asyncio
import builtins
import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import AsyncExitStack

from sqlalchemy import Connection

from handrail.core.define.principal import Principal
from handrail.core.errors import UsageError
from handrail.core.guard.approval_request import ApprovalRequest
from handrail.core.run.jobs.job import FINAL, Job, JobEntry, JobLimits, JobState
from handrail.core.run.jobs.perform import JobContext, perform
from handrail.jobs.dbos_engine import DbosEngine
from handrail.jobs.ledger import StoreJobLedger
from handrail.jobs.queue import JobQueue, limits_from_environment
from handrail.jobs.schedules import Schedules
from handrail.jobs.sweeper import Sweeper
from handrail.store import jobs as rows
from handrail.store.database import Database
from handrail.store.encryption import Seal
from handrail.store.events.log import StoreLog
from handrail.store.job_graph import EnqueuedCalls, queue_waiting_jobs
from handrail.store.leases import lease_seconds

_log = logging.getLogger("handrail.jobs")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
_BUSY_PAUSE = 0.25


class DurableJobs:
    """The port of jobs on a database, and the ledger behind it."""

    def __init__(
        self,
        database: Database,
        seal: Seal,
        log: StoreLog,
        *,
        worker: bool = True,
        limits: JobLimits | None = None,
        lease: float | None = None,
    ) -> None:
        self._database = database
        self._worker = worker
        self._seal = seal
        self._limits = limits or limits_from_environment()
        self._lease = lease_seconds() if lease is None else lease
        self._queue = JobQueue(database)
        self.ledger = StoreJobLedger(database, seal, self._queue.put)
        log.fence = self.ledger.fence
        self.schedules = Schedules(
            database, seal, lambda conn, job: self._add(conn, job, rows.seal_job(seal, job))
        )
        self._context: Callable[[], JobContext] | None = None
        self._engine: DbosEngine | None = None
        self._sweeper: Sweeper | None = None

    # --- for those who submit

    async def submit(self, job: Job, /) -> JobEntry | None:
        return await self._database.write(job.tenant, self._add, job, rows.seal_job(self._seal, job))

    async def submit_all(self, jobs: Sequence[Job], /) -> None:
        if not jobs:
            return
        tenant, now = jobs[0].tenant, self._database.clock.now()
        graph = [(job, rows.seal_job(self._seal, job)) for job in jobs]

        def add(conn: Connection) -> None:
            self._put_all(conn, tenant, rows.add_graph(conn, tenant, graph, now))

        await self._database.write(tenant, add)

    def _put_all(self, conn: Connection, tenant: str, woken: EnqueuedCalls) -> None:
        for call_id, number in woken:
            self._queue.put(conn, tenant, call_id, number)

    def approved(self, conn: Connection, request: ApprovalRequest) -> None:
        """A request was answered, or has expired: in the same transaction its call becomes a job."""
        job = Job(
            request.call, request.tool, request.raw, request.secrets, "approved", approval_id=request.id
        )
        self._add(conn, job, rows.seal_job(self._seal, job))

    def _add(self, conn: Connection, job: Job, sealed: str) -> JobEntry | None:
        now = self._database.clock.now()
        number = rows.add_job(conn, job.tenant, job, sealed, now)
        if number == 0:
            return rows.get_job(conn, job.tenant, job.id)
        self._queue.put(conn, job.tenant, job.id, number, None if job.due_at is None else job.due_at - now)
        return None

    async def get(self, call_id: str, tenant: str, /) -> JobEntry | None:
        return await self._database.read(tenant, rows.get_job, tenant, call_id)

    async def caller(self, call_id: str, tenant: str, /) -> Principal | None:
        row = await self._database.read(tenant, rows.get_job_row, tenant, call_id)
        if row is None or not row.sealed or row.entry.state in FINAL:
            return None
        return rows.unseal_job(self._seal, row).call.principal

    async def list(self, tenant: str, /, *, state: JobState | None = None) -> builtins.list[JobEntry]:
        return await self._database.read(tenant, rows.list_jobs, tenant, state=state)

    async def cancel(self, call_id: str, tenant: str, reason: str, /) -> bool:
        now = self._database.clock.now()

        def stop(conn: Connection) -> JobEntry | None:
            entry = rows.request_cancel(conn, tenant, call_id, reason, now)
            if entry is not None and entry.state == "waiting":
                self._put_all(conn, tenant, queue_waiting_jobs(conn, tenant, [call_id], now))
            return entry

        entry = await self._database.write(tenant, stop)
        if entry is None:
            return False
        if self._context is not None and entry.state != "running":
            await self.perform(tenant, call_id)  # records its end at once; a worker would, when it is due
        return True

    async def whose(self, call_id: str, /) -> builtins.list[str]:
        return await self._database.read_all(rows.tenants_of_call, call_id)

    async def over(self, call_ids: Collection[str]) -> builtins.list[tuple[str, str]]:
        """Those of the jobs, of any tenant, that are over; tenant and call."""
        return await self._database.read_all(rows.ended_calls, call_ids)

    async def unblock(self, call_id: str, tenant: str, /) -> bool:
        now = self._database.clock.now()

        def requeue(conn: Connection) -> bool:
            number = rows.unblock_job(conn, tenant, call_id, now)
            if number:
                self._queue.put(conn, tenant, call_id, number)
            return number > 0

        return await self._database.write(tenant, requeue)

    # --- for workers

    def attach(self, context: Callable[[], JobContext]) -> None:
        """Say what it takes to perform jobs. Those that wait can then be ended here."""
        self._context = context

    def _job_context(self) -> JobContext:
        if self._context is None:
            raise UsageError("Nothing here performs jobs: attach a job context first.")
        return self._context()

    async def start(self) -> None:
        """A worker takes up what was left behind and runs what is queued, in this loop."""
        if not self._worker:
            return
        engine = DbosEngine(self._database.name, self._queue.engine, self._database.holder, self._performed)
        await asyncio.to_thread(self._queue.configure, self._limits)
        engine.launch()
        self._engine = engine
        self._sweeper = Sweeper(
            self._database,
            self._queue,
            engine,
            self.ledger,
            self._job_context,
            self.schedules,
            self.unblock,
            self._lease,
        )
        self._sweeper.start()

    async def perform(self, tenant: str, call_id: str) -> bool:
        """Bring a job forward; False when a live process works on it."""
        return await perform(tenant, call_id, self._job_context(), self.ledger) != "busy"

    async def _performed(self, tenant: str, call_id: str) -> None:
        """Bring a job to its end, however often it takes: the engine must not count it as done before."""
        pause = _FIRST_PAUSE
        while True:
            try:
                if await self.perform(tenant, call_id):
                    return
            except Exception:
                if self._engine is None or self._engine.closing:
                    raise asyncio.CancelledError from None
                _log.exception("job %s could not be performed, trying again in %g s", call_id, pause)
                await asyncio.sleep(pause)
                pause = min(_LONGEST_PAUSE, pause * 2)
            else:
                await asyncio.sleep(_BUSY_PAUSE)

    async def close(self, drain: float = 30.0) -> None:
        """Take no more, finish what runs; what takes longer is left to others, as if we had died."""
        engine, self._engine = self._engine, None
        async with AsyncExitStack() as ending:  # a wait that is given up, or a dead database, keeps no engine
            ending.push_async_callback(asyncio.to_thread, self._queue.close)
            if engine is not None:
                ending.push_async_callback(engine.close)
            if self._sweeper is not None:
                await self._sweeper.stop()
            if engine is not None and not await engine.drain(drain):
                await self._put_back()

    async def _put_back(self) -> None:
        now = self._database.clock.now()
        for tenant, call_id in self.ledger.held:
            token = self.ledger.forsake(tenant, call_id)
            await self._database.write(tenant, rows.release_job, tenant, call_id, token, now)
