"""Load on a server: the same request over a few connections that stay open, again and again.

The client is as thin as it can be, so that what is timed is the server: a request is ready bytes, and of an
answer only the end and the expected words are looked for.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

CONNECTIONS = 64
_PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, and the words that a right answer holds."""

    data: bytes
    expected: bytes


def post(port: int, path: str, headers: Mapping[str, str], body: Any, expected: bytes) -> Request:
    """A POST of JSON to a server on this machine."""
    content = json.dumps(body, separators=(",", ":")).encode()
    all_headers = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        **headers,
        "Content-Length": str(len(content)),
    }
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in all_headers.items())]
    return Request("\r\n".join([*lines, "", ""]).encode() + content, expected)


class WrongAnswer(Exception):
    """A server did not answer as it should."""


@dataclass(frozen=True, slots=True)
class Load:
    """One request, made of one server again and again."""

    port: int
    request: Request
    connections: int = CONNECTIONS

    async def seconds(self, number: int) -> float:
        """Seconds for so many requests, shared among connections that are open before the clock starts."""
        clients = [await self._connected() for _ in range(self.connections)]
        remaining, open_ = number, len(clients)
        over = asyncio.get_running_loop().create_future()

        def may_go_on() -> bool:
            nonlocal remaining, open_
            if remaining > 0:
                remaining -= 1
                return True
            open_ -= 1
            if open_ == 0 and not over.done():
                over.set_result(None)
            return False

        def fail(error: Exception) -> None:
            if not over.done():
                over.set_exception(error)

        try:
            begun = time.perf_counter()
            for client in clients:
                client.begin(may_go_on, fail)
            async with asyncio.timeout(_PATIENCE):
                await over
            return time.perf_counter() - begun
        finally:
            for client in clients:
                client.close()

    async def _connected(self) -> _Client:
        loop = asyncio.get_running_loop()
        until = loop.time() + _PATIENCE
        while True:
            try:
                _, client = await loop.create_connection(
                    lambda: _Client(self.request), "127.0.0.1", self.port
                )
            except ConnectionRefusedError:  # it prints its port before it listens
                if loop.time() > until:
                    raise
                await asyncio.sleep(0.05)
            else:
                return client


class _Client(asyncio.Protocol):
    """One connection: sends, waits for the whole answer, sends again."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._transport: asyncio.Transport | None = None
        self._may_go_on: Callable[[], bool] = lambda: False
        self._fail: Callable[[Exception], None] = lambda error: None
        self._got = b""

    def begin(self, may_go_on: Callable[[], bool], fail: Callable[[Exception], None]) -> None:
        self._may_go_on, self._fail = may_go_on, fail
        self._next()

    def _next(self) -> None:
        if self._may_go_on():
            assert self._transport is not None
            self._transport.write(self._request.data)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's own are no subclasses

    def data_received(self, data: bytes) -> None:
        got = self._got + data if self._got else data
        length = _length(got)
        if length is None or len(got) < length:
            self._got = got
            return
        self._got = b""
        if not got.startswith(b"HTTP/1.1 200 ") or self._request.expected not in got:
            self._fail(WrongAnswer(f"{got[:400]!r}"))
        else:
            self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(exc or ConnectionError("the server closed a connection"))

    def close(self) -> None:
        self._fail = lambda error: None
        if self._transport is not None:
            self._transport.close()


def _length(got: bytes) -> int | None:
    """How long an answer is with its head; None while the head is not whole. All here say their length."""
    end = got.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = got[:end].lower()
    at = head.find(b"content-length:")
    if at < 0:
        raise WrongAnswer(f"an answer without its length: {head!r}")
    return end + 4 + int(head[at + 15 :].split(b"\r\n", 1)[0])
