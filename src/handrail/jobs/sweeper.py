"""Sweeper: what a worker checks again and again: dead processes, cancelled jobs, what is due or expired.

Each check is short and can be made by several workers at once: whatever it changes is compared and set.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

from sqlalchemy import Connection, Text, bindparam, text

from handrail.core.define.principal import Principal
from handrail.core.run.failures import recover
from handrail.core.run.find_tool import find_tool
from handrail.core.run.jobs.perform import JobContext
from handrail.core.run.refusals import Refusal
from handrail.core.tell.events import ToolStarted
from handrail.jobs.dbos_engine import DbosEngine
from handrail.jobs.ledger import StoreJobLedger
from handrail.jobs.queue import JobQueue, workflow_id
from handrail.jobs.schedules import Schedules
from handrail.store import jobs as rows
from handrail.store import leases, open_runs
from handrail.store.approvals import StoreApprovals
from handrail.store.database import Database
from handrail.store.idempotency import StoreIdempotencyKeys
from handrail.store.job_graph import parents_of, stranded_jobs

_log = logging.getLogger("handrail.jobs")

_CANCEL_SECONDS = 0.5
_EXPIRE_SECONDS = 2.0
_SCHEDULE_SECONDS = 1.0
_STOP_SECONDS = 30.0
_HOUR = 3_600.0
_KEYS_KEPT = 30 * 24 * _HOUR
"""Seconds for which the key of a call that is over is known."""
_DONE_KEPT = 24 * _HOUR
"""Seconds for which the engine knows what it has done; we know it for good."""
_LOST_SECONDS = 60.0
"""Seconds after which a job that nobody began is looked for in the engine's tables."""


class Sweeper:
    """A task in the worker's loop."""

    def __init__(
        self,
        database: Database,
        queue: JobQueue,
        engine: DbosEngine,
        ledger: StoreJobLedger,
        context: Callable[[], JobContext],
        schedules: Schedules,
        unblock: Callable[[str, str], Awaitable[bool]],
        lease: float,
    ) -> None:
        self._database = database
        self._queue = queue
        self._engine = engine
        self._ledger = ledger
        self._context = context
        self._schedules = schedules
        self._unblock_job = unblock
        self._lease = lease
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._sweep())

    async def stop(self) -> None:
        """End after the check that is running: its thread has a connection."""
        self._over.set()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=_STOP_SECONDS)
            self._task.cancel()

    async def _sweep(self) -> None:
        await self._safely(self._unblock)
        checks = (
            (_CANCEL_SECONDS, self._stop),
            (_EXPIRE_SECONDS, self._expire),
            (_SCHEDULE_SECONDS, self._schedules.fire),
            (self._lease / 4, self._recover),
            (_LOST_SECONDS / 2, self._find_lost),
            (_LOST_SECONDS / 2, self._find_stranded),
            (_HOUR, self._forget),
        )
        due = [0.0] * len(checks)
        while not self._over.is_set():
            now = time.monotonic()
            for index, (seconds, check) in enumerate(checks):
                if now >= due[index] and not self._over.is_set():
                    due[index] = now + seconds
                    await self._safely(check)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), min(_CANCEL_SECONDS, self._lease / 4))

    async def _safely(self, check: Callable[[], Awaitable[object]]) -> None:
        try:
            await check()
        except Exception:
            _log.warning("a check of the sweeper failed, it is made again", exc_info=True)

    async def _stop(self) -> None:
        """Interrupt what runs here and somebody wants cancelled."""
        if not self._ledger.held:
            return
        cancelled = await self._database.read_all(rows.jobs_to_cancel, self._database.holder)
        runtime = self._context().runtime
        for tenant, call_id, reason in cancelled:
            running = runtime.running.get((tenant, call_id))
            if running is not None:
                running.interrupt("cancelled", reason)

    async def _expire(self) -> None:
        """End the approval requests that nobody answered in time."""
        approvals = self._context().runtime.approvals
        if isinstance(approvals, StoreApprovals):
            while len(await asyncio.to_thread(approvals.expire)) > 0:
                continue

    async def _forget(self) -> None:
        """Forget keys of calls that ended long ago, processes that are gone, and what the engine has done."""
        keys = self._context().runtime.keys
        if isinstance(keys, StoreIdempotencyKeys):
            await asyncio.to_thread(keys.sweep, self._database.clock.now() - _KEYS_KEPT)
        await self._database.write_all(leases.delete_old_leases)
        await asyncio.to_thread(self._queue.forget, _DONE_KEPT)

    async def _recover(self) -> None:
        """Go on with what dead processes held."""
        dead = await self._database.read_all(self._dead_holders)
        if dead:
            await asyncio.to_thread(self._engine.recover, sorted(dead))
        for run in await self._database.read_all(open_runs.orphaned_runs):
            await self._safely(partial(self._record_end, run))

    def _dead_holders(self, conn: Connection) -> set[str]:
        pending = text(f"SELECT DISTINCT executor_id FROM {_workflow_table(conn)} WHERE status = 'PENDING'")
        holders = {name for name in conn.execute(pending).scalars() if name}
        return leases.dead_holders(conn, holders - {self._database.holder})

    async def _record_end(self, run: open_runs.OpenRunRow) -> None:
        """Record the end of a run that belongs to no job and whose process is dead."""
        database, log = self._database, self._context().runtime.teller.log
        # Looked up first: once the run is ours, nobody else comes to end it.
        events = await asyncio.to_thread(lambda: list(log.read(run.tenant, call_id=run.call_id)))
        started = next(
            (event for event in events if isinstance(event, ToolStarted) and event.run_id == run.run_id), None
        )
        if started is None:
            _log.warning("run %s is open and its start is not in the log", run.run_id)
            return
        taken_over = await database.write(
            run.tenant, open_runs.take_over, run.tenant, run.run_id, run.holder, database.holder
        )
        if taken_over:
            outcome = recover(started, run.repeatable, self._context().runtime)
            await self._context().settle_replay(started.call, outcome)
            self._context().on_end(run.tenant, outcome)

    async def _find_lost(self) -> None:
        """Enqueue once more what waits for longer than it should and the engine knows nothing of."""
        before = self._database.clock.now() - _LOST_SECONDS
        for tenant, call_id, number in await self._database.read_all(_lost_jobs, before):
            await self._enqueue(tenant, call_id, number)

    async def _find_stranded(self) -> None:
        """Bring forward what waits for calls that are over."""
        now = self._database.clock.now()
        for tenant, call_id in await self._database.read_all(stranded_jobs, now - _LOST_SECONDS):

            def settle(conn: Connection, tenant: str = tenant, call_id: str = call_id) -> None:
                for parent in parents_of(conn, tenant, call_id):
                    self._ledger.settle(conn, tenant, parent, now)

            await self._database.write(tenant, settle)

    async def _enqueue(self, tenant: str, call_id: str, number: int) -> None:
        now = self._database.clock.now()

        def put(conn: Connection) -> None:
            if again := rows.count_requeue(conn, tenant, call_id, number, now):
                self._queue.put(conn, tenant, call_id, again)

        await self._database.write(tenant, put)

    async def _unblock(self) -> None:
        """With the tools of this process, what was blocked may run."""
        for tenant, call_id in await self._database.read_all(rows.blocked_jobs):
            entry = await self._database.read(tenant, rows.get_job, tenant, call_id)
            if entry is None:
                continue
            tool = await find_tool(entry.tool, Principal(tenant=tenant), self._context().runtime)
            if not isinstance(tool, Refusal):
                await self._unblock_job(call_id, tenant)


def _lost_jobs(conn: Connection, before: float) -> list[tuple[str, str, int]]:
    """Jobs that wait since before a time, or whose holder is dead, and that the engine will not run."""
    waiting = {
        workflow_id(*job): job for job in (*rows.overdue_jobs(conn, before), *rows.jobs_of_dead_holders(conn))
    }
    known_to_engine = text(
        f"SELECT workflow_uuid FROM {_workflow_table(conn)}"
        " WHERE workflow_uuid IN :ids AND status IN ('ENQUEUED', 'PENDING', 'DELAYED')"
    ).bindparams(bindparam("ids", type_=Text, expanding=True))
    for name in conn.execute(known_to_engine, {"ids": list(waiting)}).scalars():
        del waiting[name]
    return list(waiting.values())


def _workflow_table(conn: Connection) -> str:
    """The table in which the engine keeps what it runs."""
    return "dbos.workflow_status" if conn.dialect.name == "postgresql" else "workflow_status"
