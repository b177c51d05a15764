"""Progress: what a body tells while it runs, for those who asked to hear of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from handrail.core.tell.events import Event, OutputAppended, Progress
from handrail.engine import Handrail

Report = Callable[[float, float | None, str | None], Awaitable[None]]
_AT_MOST = 1_000
"""Notices that wait for a slow client; more are dropped, since each says more than the one before."""


class Board:
    """Who hears of which call. However many calls run, one listener hears for all."""

    def __init__(self, hr: Handrail) -> None:
        self._hr = hr
        self._heard: dict[str, asyncio.Queue[Event | None]] = {}
        self._stop: Callable[[], None] | None = None

    @asynccontextmanager
    async def told(self, call_id: str, report: Report) -> AsyncIterator[None]:
        """While inside, what the call tells is reported; all that it told is, at the end."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._heard[call_id] = queue
        if self._stop is None:
            self._stop = self._hr.subscribe(self._hear)
        telling = asyncio.create_task(_tell(queue, report))
        try:
            yield
            queue.put_nowait(None)
            await telling
        finally:
            telling.cancel()
            del self._heard[call_id]
            if not self._heard and self._stop is not None:
                self._stop()
                self._stop = None

    def _hear(self, event: object) -> None:
        if isinstance(event, (Progress, OutputAppended)):
            queue = self._heard.get(event.call_id)
            if queue is not None and queue.qsize() < _AT_MOST:
                queue.put_nowait(event)


async def _tell(queue: asyncio.Queue[Event | None], report: Report) -> None:
    last = 0.0
    while (event := await queue.get()) is not None:
        last, total, message = step(event, last)
        await report(last, total, message)


def step(event: Event, last: float) -> tuple[float, float | None, str | None]:
    """An event as progress, total and message. Progress only ever grows, as the protocol wants it."""
    if isinstance(event, OutputAppended):
        return last + 1, None, event.chunk
    told: dict[str, Any] = dict(event.told) if isinstance(event, Progress) else {}
    given, total = _number(told.pop("progress", None)), _number(told.pop("total", None))
    words = told.pop("title", None) or told.pop("message", None)
    message = words if isinstance(words, str) else json.dumps(told, ensure_ascii=False) if told else None
    return (given if given is not None and given > last else last + 1), total, message


def _number(given: Any) -> float | None:
    return given if isinstance(given, (int, float)) and not isinstance(given, bool) else None
