"""Server-sent events: messages, heartbeats and backpressure of one stream, with ids to resume from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import StreamingResponse

from handrail.core.tell.events import Event
from handrail.platform.events import event_json
from handrail.platform.responses import json_bytes

HEARTBEAT = 15.0
"""Seconds of silence after which a client is told that the line is open."""
SSE_TYPE = "text/event-stream"
_MAX_QUEUED = 1_000
"""Pieces that wait for a slow client; the log is not read further for it until it has read some."""
_HEARTBEAT_COMMENT = b": still here\n\n"
_ORDER_FIELDS = frozenset({"id", "seq", "position"})


def sse_message(kind: str, data: Any, number: int | None = None) -> bytes:
    """One event on the wire. JSON holds no line break, so its data is one line."""
    named = b"" if number is None else b"id: %d\n" % number
    return b"%sevent: %s\ndata: %s\n\n" % (named, kind.encode(), json_bytes(data))


def stored_message(event: Event, number: int) -> bytes:
    """An event of the log."""
    return sse_message(event.type, event_json(event), number)


def transient_message(event: Event) -> bytes:
    """One that is only shown: nobody can go on from it."""
    fields = event_json(event)
    return sse_message(event.type, {name: fields[name] for name in fields if name not in _ORDER_FIELDS})


class EventStream:
    """What is to be sent to one client: pieces from wherever they come, with a sign of life in between."""

    def __init__(self, closing: asyncio.Event) -> None:
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._read = asyncio.Event()
        """Set when a client that was far behind has read on."""
        self._closing = closing
        self._still: Callable[[], Awaitable[bool]] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    def put(self, piece: bytes) -> None:
        """Send something that is only shown; a client that is far behind does without."""
        if self._pieces.qsize() < _MAX_QUEUED:
            self._pieces.put_nowait(piece)

    def end(self) -> None:
        """Nothing more comes."""
        self._pieces.put_nowait(None)

    def fed_by(self, source: AsyncGenerator[bytes, None]) -> EventStream:
        """All of a source, and then the end."""

        async def pump() -> None:
            try:
                async with aclosing(source) as pieces:
                    async for piece in pieces:
                        self._pieces.put_nowait(piece)
                        if self._pieces.qsize() >= _MAX_QUEUED:
                            self._read.clear()
                            await self._read.wait()
            finally:
                self.end()

        self._keep(asyncio.create_task(pump()))
        return self

    def _keep(self, task: asyncio.Task[Any]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async def close() -> None:
            await self._closing.wait()
            self.end()

        self._keep(asyncio.create_task(close()))
        try:
            while True:
                try:
                    async with asyncio.timeout(HEARTBEAT):
                        piece = await self._pieces.get()
                    if self._pieces.qsize() < _MAX_QUEUED:
                        self._read.set()
                except TimeoutError:
                    piece = _HEARTBEAT_COMMENT
                if piece is None or (self._still is not None and not await self._still()):
                    return
                yield piece
        finally:
            for task in list(self._tasks):
                task.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await task

    def answer(self, request: Request) -> StreamingResponse:
        """All of it, for as long as whoever asked is let in and may do what they might at first."""
        self._still = request.scope["state"].get("still")
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(self, media_type=SSE_TYPE, headers=headers)
