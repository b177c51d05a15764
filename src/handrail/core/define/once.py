"""Once: an initialiser that several calls wait for runs a single time."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

from handrail.core.define.tool import InitContext, Initialiser


class _Flight:
    """An initialisation on its way, and how many wait for it."""

    def __init__(self, task: asyncio.Future[Any]) -> None:
        self.task = task
        self.waiting = 0


class Once:
    """An initialiser shared by all who ask at the same moment, from one loop and for one place.

    It remembers nothing: whoever keeps the tool keeps what came of it, and one that failed is tried again.
    """

    def __init__(self, initialiser: Initialiser) -> None:
        self._initialiser = initialiser
        self._flights: dict[tuple[int, int], _Flight] = {}

    def __call__(self, init: InitContext, /) -> Any:
        loop = asyncio.get_running_loop()
        key = (id(loop), id(init))
        flight = self._flights.get(key)
        if flight is None:
            definition = self._initialiser(init)
            if not inspect.isawaitable(definition):
                return definition
            flight = self._flights[key] = _Flight(asyncio.ensure_future(definition))
            flight.task.add_done_callback(lambda _: self._flights.pop(key, None))
        return _joined(flight)


async def _joined(flight: _Flight) -> Any:
    """What the initialiser returns. When the last who waits gives up, so does the initialiser."""
    flight.waiting += 1
    try:
        return await asyncio.shield(flight.task)
    finally:
        flight.waiting -= 1
        if not flight.waiting and not flight.task.done():
            flight.task.cancel()
