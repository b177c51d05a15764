"""Outcomes: how calls ended that nobody stayed for, for those who ask later. The log knows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from handrail.core.define.call import Outcome

Look = Callable[[str], Awaitable[Outcome | None]]
"""Looks up, by call id, how a call stands that ran before or elsewhere."""

_SOONEST, _LATEST = 0.05, 1.0


class Outcomes:
    """The newest outcomes by call id, and whoever waits for one that is not there yet.

    With `look`, calls are found that ended before this process began, or end in another one.
    """

    def __init__(self, keep: int = 1_000, look: Look | None = None) -> None:
        self._keep = keep
        self._look = look
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

    async def wait(self, call_id: str, timeout: float | None, look: Look | None = None) -> Outcome:
        """The outcome, now or as soon as there is one; raises TimeoutError when that takes too long."""
        if (known := self._known.get(call_id)) is not None:
            return known
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(call_id, []).append(future)
        look = look or self._look
        looking = None if look is None else asyncio.ensure_future(_looked(call_id, look, future))
        try:
            return await asyncio.wait_for(future, timeout)
        finally:
            if looking is not None:
                looking.cancel()
            waiting = self._waiting.get(call_id, [])
            if future in waiting:
                waiting.remove(future)
            if not waiting:
                self._waiting.pop(call_id, None)


async def _looked(call_id: str, look: Look, future: asyncio.Future[Outcome]) -> None:
    """Look again and again, ever less often, until the call is over. A look that fails is the answer."""
    pause = _SOONEST
    while not future.done():
        try:
            outcome = await look(call_id)
        except Exception as error:
            if not future.done():
                future.set_exception(error)
            return
        if outcome is not None and outcome.status != "pending" and not future.done():
            future.set_result(outcome)
        await asyncio.sleep(pause)
        pause = min(_LATEST, pause * 1.5)
