"""Outcomes: how calls ended that nobody stayed for, kept for those who ask later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from handrail.core.define.call import Outcome


class Outcomes:
    """The newest outcomes by call id, and whoever waits for one that is not there yet."""

    def __init__(self, keep: int = 1_000) -> None:
        self._keep = keep
        self._known: dict[str, Outcome] = {}
        self._listening: dict[str, list[Callable[[Outcome], None]]] = {}
        self._waiting: dict[str, list[asyncio.Future[Outcome]]] = {}

    def put(self, outcome: Outcome) -> None:
        self._known[outcome.call_id] = outcome
        if len(self._known) > self._keep:
            del self._known[next(iter(self._known))]
        for told in self._listening.pop(outcome.call_id, ()):
            told(outcome)
        for future in self._waiting.pop(outcome.call_id, ()):
            if not future.done():
                future.set_result(outcome)

    def when_final(self, call_id: str, told: Callable[[Outcome], None]) -> None:
        """Tell how a call ended, now or as soon as it is known."""
        if (known := self._known.get(call_id)) is not None:
            told(known)
        else:
            self._listening.setdefault(call_id, []).append(told)

    async def wait(self, call_id: str, timeout: float | None) -> Outcome:
        """The outcome, now or as soon as there is one; raises TimeoutError when that takes too long."""
        if (known := self._known.get(call_id)) is not None:
            return known
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(call_id, []).append(future)
        try:
            return await asyncio.wait_for(future, timeout)
        finally:
            waiting = self._waiting.get(call_id, [])
            if future in waiting:
                waiting.remove(future)
            if not waiting:
                self._waiting.pop(call_id, None)
