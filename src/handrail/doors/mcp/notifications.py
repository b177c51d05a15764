"""Notifications to clients: progress of a call, and that their tool list has changed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from handrail.core.define.principal import Principal
from handrail.core.tell.events import Event, OutputAppended, Progress
from handrail.engine.handrail import Handrail
from handrail.identity.errors import NotSignedIn

ProgressCallback = Callable[[float, float | None, str | None], Awaitable[None]]

_MAX_QUEUED = 1_000
"""Notices that wait for a slow client; more are dropped, since each says more than the one before."""


class ProgressReports:
    """Who hears of which call. However many calls run, one listener hears for all."""

    def __init__(self, hr: Handrail) -> None:
        self._hr = hr
        self._heard: dict[str, asyncio.Queue[Event | None]] = {}
        self._stop: Callable[[], None] | None = None

    @asynccontextmanager
    async def reporting(self, call_id: str, report: ProgressCallback) -> AsyncIterator[None]:
        """While inside, what the call tells is reported; all that it told is, at the end."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._heard[call_id] = queue
        if self._stop is None:
            self._stop = self._hr.subscribe(self._hear)
        telling = asyncio.create_task(_send_reports(queue, report))
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
            if queue is not None and queue.qsize() < _MAX_QUEUED:
                queue.put_nowait(event)


async def _send_reports(queue: asyncio.Queue[Event | None], report: ProgressCallback) -> None:
    last = 0.0
    while (event := await queue.get()) is not None:
        last, total, message = progress_of(event, last)
        await report(last, total, message)


def progress_of(event: Event, last: float) -> tuple[float, float | None, str | None]:
    """An event as progress, total and message. Progress only ever grows, as the protocol wants it."""
    if isinstance(event, OutputAppended):
        return last + 1, None, event.chunk
    data: dict[str, Any] = dict(event.told) if isinstance(event, Progress) else {}
    progress, total = _number(data.pop("progress", None)), _number(data.pop("total", None))
    words = data.pop("title", None) or data.pop("message", None)
    message = words if isinstance(words, str) else json.dumps(data, ensure_ascii=False) if data else None
    return (progress if progress is not None and progress > last else last + 1), total, message


def _number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


class ToolListChanges:
    """Looks at what each listener may see. The registry tells at once; the rest is polled."""

    def __init__(self, hr: Handrail, look_every: float, at_most: int = 1_000) -> None:
        self._hr = hr
        self._look_every = look_every
        self._at_most = at_most
        self._wakeups: set[asyncio.Event] = set()
        self.closed = asyncio.Event()
        """Set once all listeners are let go."""
        self._stop: Callable[[], None] | None = None

    @property
    def full(self) -> bool:
        """Whether as many listen as there is room for."""
        return len(self._wakeups) >= self._at_most

    def close(self) -> None:
        """Let all listeners go."""
        self.closed.set()
        for wakeup in self._wakeups:
            wakeup.set()

    async def of(self, who: Callable[[], Awaitable[Principal]]) -> AsyncGenerator[None, None]:
        """Once as soon as it looks, then each change of what somebody may see, until their key ends."""
        loop, wakeup = asyncio.get_running_loop(), asyncio.Event()
        self._wakeups.add(wakeup)
        if self._stop is None:

            def rung(_: object) -> None:
                loop.call_soon_threadsafe(self._ring)

            self._stop = self._hr.registry.listeners.add(rung)
        try:
            seen = await self._seen(await who())
            yield
            while not self.closed.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._look_every):
                        await wakeup.wait()
                wakeup.clear()
                if self.closed.is_set():
                    return
                try:
                    now = await self._seen(await who())
                except NotSignedIn:
                    return
                if now != seen:
                    seen = now
                    yield
        finally:
            self._wakeups.discard(wakeup)
            if not self._wakeups and self._stop is not None:
                self._stop()
                self._stop = None

    def _ring(self) -> None:
        for wakeup in self._wakeups:
            wakeup.set()

    async def _seen(self, principal: Principal) -> int:
        return hash(tuple((tool.id, tool.digest) for tool in await self._hr.tools(principal, source="mcp")))
