"""DbosEngine: DBOS, launched and ended. There is one in a process, and it is this one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

from dbos import DBOS
from sqlalchemy import Engine as Connections

from handrail.core.errors import UsageError
from handrail.jobs.dbos_setup import silence_dbos_log
from handrail.jobs.queue import QUEUE_NAME, WORKFLOW_NAME, WORKFLOW_VERSION, serializer

_LISTENER_SECONDS, _SCHEDULER_SECONDS = 0.1, 60.0
_SETTLE_SECONDS = 5.0

_running_engine: DbosEngine | None = None
_opening = threading.Lock()


class DbosEngine:
    """Runs what is in the queue, in the loop that launched it."""

    def __init__(
        self,
        name: str,
        connections: Connections,
        holder: str,
        perform: Callable[[str, str], Awaitable[None]],
    ) -> None:
        self._name = name
        self._connections = connections
        self._holder = holder
        self._perform = perform
        self._tasks: set[asyncio.Task[None]] = set()
        self._dbos: DBOS | None = None
        self.closing = False

    def launch(self) -> None:
        """Begin to work, in the running loop. What an earlier process of this name left is not touched."""
        global _running_engine
        with _opening:
            if _running_engine is not None:
                raise UsageError(
                    f"This process already works on the jobs of {_running_engine._name}. "
                    "Close that Handrail first, or open this one with worker=False: it then submits jobs and "
                    "another process runs them."
                )
            _running_engine = self
        try:
            self._launch()
        except BaseException:
            self._end()
            raise

    def _launch(self) -> None:
        silence_dbos_log()
        self._dbos = DBOS(
            config={
                "name": QUEUE_NAME,
                "system_database_engine": self._connections,
                "application_version": WORKFLOW_VERSION,
                "executor_id": self._holder,
                "serializer": serializer(),
                "run_migrations": False,
                "use_listen_notify": False,  # nobody sends messages to jobs
                "notification_listener_polling_interval_sec": _LISTENER_SECONDS,
                "scheduler_polling_interval_sec": _SCHEDULER_SECONDS,
                "log_level": "ERROR",
                "enable_otlp": False,
            }
        )
        DBOS.launch()

    def recover(self, dead: list[str]) -> None:
        """Put back into the queue what dead processes had taken out of it. Blocks."""
        if dead:
            DBOS._recover_pending_workflows(dead)

    async def run(self, tenant: str, call_id: str) -> None:
        """One job, in the engine's task. One that is stopped here stays with the engine as unfinished."""
        task = asyncio.current_task()
        if task is None or self.closing:
            raise asyncio.CancelledError
        self._tasks.add(task)
        try:
            await self._perform(tenant, call_id)
        finally:
            self._tasks.discard(task)

    async def drain(self, seconds: float) -> bool:
        """Begin nothing more and wait for what runs; False when that takes longer."""
        self.closing = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        return not self._tasks

    async def close(self) -> None:
        """Stop what still runs, and leave the process as if the engine had never been there."""
        self.closing = True
        for task in list(self._tasks):
            task.cancel()
        try:
            await self._written_down()
        finally:
            await asyncio.to_thread(self._end)
            await self._written_down()

    async def _written_down(self) -> None:
        """Wait until the engine has noted what ended; what waits for other processes is stopped."""
        pending = set() if self._dbos is None else set(self._dbos._workflow_tasks)
        if pending:
            _, pending = await asyncio.wait(pending, timeout=_SETTLE_SECONDS)
        for task in pending:
            task.cancel()
        if pending:
            await asyncio.wait(pending, timeout=_SETTLE_SECONDS)

    def _end(self) -> None:
        global _running_engine
        try:
            DBOS.destroy()
        finally:
            silence_dbos_log()
            with _opening:
                if _running_engine is self:
                    _running_engine = None


@DBOS.workflow(name=WORKFLOW_NAME, max_recovery_attempts=None)
async def _workflow(tenant: str, call_id: str) -> None:
    engine = _running_engine
    if engine is None:
        raise asyncio.CancelledError
    await engine.run(tenant, call_id)
