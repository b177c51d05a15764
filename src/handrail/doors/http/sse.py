"""Server-sent events: what happens, as it happens, with a number from which a client can go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import StreamingResponse

from handrail.core.tell.events import Event
from handrail.doors.http.record import event_json
from handrail.doors.http.refusing import invalid
from handrail.doors.http.telling import as_bytes

HEARTBEAT = 15.0
"""Seconds of silence after which a client is told that the line is open."""
KIND = "text/event-stream"
_EVENT = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[0-9]+$"},
        "event": {"type": "string"},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["event", "data"],
}
DOCUMENT: dict[str, Any] = {"content": {KIND: {"itemSchema": _EVENT}}}
"""How the document tells of a stream."""
_BEHIND = 1_000
"""Pieces that wait for a slow client; the log is not read further for it until it has read some."""
_BEAT = b": still here\n\n"
_NUMBERS = frozenset({"id", "seq", "position"})
_LARGEST = 2**63 - 1


def wants_stream(request: Request) -> bool:
    return KIND in request.headers.get("accept", "")


def last_event(request: Request, after: int | None = None) -> int:
    """From where on: the header that a browser sends by itself, or what was asked for."""
    given = request.headers.get("last-event-id")
    if given is None:
        return after or 0
    if not given.isascii() or not given.isdigit() or len(given) > 19 or int(given) > _LARGEST:
        raise invalid("Last-Event-ID", "is the id of an event of this stream, a whole number")
    return int(given)


def message(kind: str, data: Any, number: int | None = None) -> bytes:
    """One event on the wire. JSON holds no line break, so its data is one line."""
    named = b"" if number is None else b"id: %d\n" % number
    return b"%sevent: %s\ndata: %s\n\n" % (named, kind.encode(), as_bytes(data))


def durable(event: Event, number: int) -> bytes:
    """An event of the log."""
    return message(event.type, event_json(event), number)


def transient(event: Event) -> bytes:
    """One that is only shown: nobody can go on from it."""
    told = event_json(event)
    return message(event.type, {name: told[name] for name in told if name not in _NUMBERS})


class Line:
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
        if self._pieces.qsize() < _BEHIND:
            self._pieces.put_nowait(piece)

    def end(self) -> None:
        """Nothing more comes."""
        self._pieces.put_nowait(None)

    def fed_by(self, source: AsyncGenerator[bytes, None]) -> Line:
        """All of a source, and then the end."""

        async def pump() -> None:
            try:
                async with aclosing(source) as pieces:
                    async for piece in pieces:
                        self._pieces.put_nowait(piece)
                        if self._pieces.qsize() >= _BEHIND:
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
                    if self._pieces.qsize() < _BEHIND:
                        self._read.set()
                except TimeoutError:
                    piece = _BEAT
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
        return StreamingResponse(self, media_type=KIND, headers=headers)
