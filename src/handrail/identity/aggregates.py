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
    """What the outputs of a session come to, or in words why that is not known."""

    data: Any = None
    error: str | None = None
    of: int = 0
    """How many outputs it is made of."""


class Aggregator:
    """Puts outputs together, once for all who look at the same ones."""

    def __init__(self, patience: float = 5.0) -> None:
        self._patience = patience
        self._made: dict[AggregateKey, Aggregate] = {}
        self._working: dict[tuple[asyncio.AbstractEventLoop, AggregateKey], asyncio.Task[Aggregate]] = {}
        self._room = threading.Semaphore(_MAX_THREADS)
        """A thread that does not end keeps its place: what never ends cannot take them all."""

    async def of(
        self, tool: Tool, session: ToolSession, given: Sequence[ToolSessionSubmission]
    ) -> Aggregate | None:
        """What the tool makes of what was given; None for a tool that makes nothing of it."""
        if tool.aggregate is None or not given:
            return None
        place = (session.tenant_id, session.id, tool.digest, *(one.id for one in given))
        return self._made.get(place) or await self._work_once(place, tool.aggregate, given)

    async def _work_once(
        self,
        place: AggregateKey,
        function: Callable[[list[Any]], Any],
        given: Sequence[ToolSessionSubmission],
    ) -> Aggregate:
        """Many who look at the same at once wait for the same work."""
        one = (asyncio.get_running_loop(), place)
        working = self._working.get(one)
        if working is None:
            working = asyncio.create_task(self._work(function, [each.output for each in given]))
            self._working[one] = working
            working.add_done_callback(lambda done: self._remember(one, done))
        return await asyncio.shield(working)

    def _remember(
        self, one: tuple[asyncio.AbstractEventLoop, AggregateKey], done: asyncio.Task[Aggregate]
    ) -> None:
        del self._working[one]
        if not done.cancelled() and done.result().error is None:
            while len(self._made) >= _MAX_CACHED:
                self._made.pop(next(iter(self._made)))
            self._made[one[1]] = done.result()

    async def _work(self, function: Callable[[list[Any]], Any], outputs: list[Any]) -> Aggregate:
        if not self._room.acquire(blocking=False):
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
                self._room.release()
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
