"""Aggregator: what a tool makes of everybody's outputs together, in a thread and within a time."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from handrail.core.define.tool import Tool
from handrail.store.codec import dump, load
from handrail.store.tool_sessions import ToolSession, ToolSessionSubmission

AggregateKey = tuple[str, ...]
"""Which outputs of which session, by which version of its tool."""
_log = logging.getLogger("handrail.identity")
_MAX_THREADS = 4
_MAX_CACHED = 256
_SLOW = "It takes too long to put the answers together. They are all here, one by one."
_BROKEN = "The answers could not be put together. They are all here, one by one."
_BUSY = "The answers are put together in a moment. Look again."


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The aggregate of the outputs of a session, or in words why there is none."""

    data: Any = None
    error: str | None = None
    of: int = 0
    """How many outputs it is made of."""


class Aggregator:
    """Aggregates outputs, once for all who ask for the same ones."""

    def __init__(self, patience: float = 5.0) -> None:
        self._patience = patience
        self._cache: dict[AggregateKey, Aggregate] = {}
        self._tasks: dict[tuple[asyncio.AbstractEventLoop, AggregateKey], asyncio.Task[Aggregate]] = {}
        self._slots = threading.Semaphore(_MAX_THREADS)
        """A thread that does not end keeps its slot: what never ends cannot start more and more."""

    async def of(
        self, tool: Tool, session: ToolSession, submissions: Sequence[ToolSessionSubmission]
    ) -> Aggregate | None:
        """The aggregate that the tool computes of the submissions; None for a tool without one."""
        if tool.aggregate is None or not submissions:
            return None
        key = (session.tenant_id, session.id, tool.digest, *(submission.id for submission in submissions))
        return self._cache.get(key) or await self._work_once(key, tool.aggregate, submissions)

    async def _work_once(
        self,
        key: AggregateKey,
        function: Callable[[list[Any]], Any],
        submissions: Sequence[ToolSessionSubmission],
    ) -> Aggregate:
        """Many who ask for the same at once wait for the same task."""
        task_key = (asyncio.get_running_loop(), key)
        task = self._tasks.get(task_key)
        if task is None:
            task = asyncio.create_task(
                self._work(function, [submission.output for submission in submissions])
            )
            self._tasks[task_key] = task
            task.add_done_callback(lambda done: self._remember(task_key, done))
        return await asyncio.shield(task)

    def _remember(
        self, task_key: tuple[asyncio.AbstractEventLoop, AggregateKey], done: asyncio.Task[Aggregate]
    ) -> None:
        del self._tasks[task_key]
        if not done.cancelled() and done.result().error is None:
            while len(self._cache) >= _MAX_CACHED:
                self._cache.pop(next(iter(self._cache)))
            self._cache[task_key[1]] = done.result()

    async def _work(self, function: Callable[[list[Any]], Any], outputs: list[Any]) -> Aggregate:
        if not self._slots.acquire(blocking=False):
            return Aggregate(error=_BUSY)
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()

        def settle(value: Any, error: BaseException | None) -> None:
            if not done.done():
                done.set_result(value) if error is None else done.set_exception(error)

        def run() -> None:
            value: Any = None
            failed: BaseException | None = None
            try:
                value = load(dump(function(deepcopy(outputs))))
            except BaseException as error:
                failed = error if isinstance(error, Exception) else RuntimeError("it ended its thread")
            finally:
                self._slots.release()
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, value, failed)

        # Daemon: a function that never ends must not keep the server from stopping.
        threading.Thread(target=run, name="handrail-aggregate", daemon=True).start()
        try:
            return Aggregate(await asyncio.wait_for(done, self._patience), of=len(outputs))
        except TimeoutError:
            return Aggregate(error=_SLOW)
        except Exception:
            _log.exception("the aggregate of a tool failed")
            return Aggregate(error=_BROKEN)
