"""The server: all doors on one port behind the middleware, health checks, limits, graceful stop."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from handrail.platform import Platform
from handrail.platform.middleware import RequestLimits, SecurityMiddleware
from handrail.settings import web_address

if TYPE_CHECKING:
    from types import FrameType

MAX_HEAD = 64 * 1024
"""Bytes that may come without a piece of a body, beside what one read brings."""


class LimitedHttpProtocol(HttpToolsProtocol):
    """One connection. The parser keeps a header until it ends, so one without an end must be cut off."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._aside: int | None = None
        """How much has come since the last piece of a body; None while a body is read."""
        self._began = False

    def data_received(self, data: bytes) -> None:
        self._began = False
        super().data_received(data)
        if self._aside is not None and not self._began:
            self._aside += len(data)
            if self._aside > MAX_HEAD:
                self._cut_off()

    def on_message_begin(self) -> None:
        self._begin()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._aside = None
        super().on_headers_complete()

    def on_chunk_header(self) -> None:
        self._begin()

    def on_chunk_complete(self) -> None:
        self._begin()

    def on_body(self, body: bytes) -> None:
        self._aside = None
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._aside = None
        super().on_message_complete()

    def _cut_off(self) -> None:
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.close()  # too late for words
        else:
            self.send_400_response("The headers of a request are too large.")

    def _begin(self) -> None:
        self._aside, self._began = 0, True


class HealthCheck:
    """`/healthz`: this process answers. `/readyz`: it has its database, and is not about to stop."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, message = await self._status(scope["path"])
        body = json.dumps({"status": message}).encode()
        headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    async def _status(self, path: str) -> tuple[int, str]:
        if path not in ("/healthz", "/readyz"):
            return 404, "not found"
        if path == "/readyz" and self._platform.closing.is_set():
            return 503, "stopping"
        if path == "/readyz" and not await self._platform.is_ready():
            return 503, "the database does not answer"
        return 200, "ok"


_log = logging.getLogger("handrail.serve")

_SWITCH_INTERVAL = 0.0001
"""Seconds after which a busy thread lets another one in. The loop and the writer take turns in short steps;
with Python's own 5 ms, each statement of the writer may wait for a whole turn of the loop."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Where a server listens, and what it lets in."""

    host: str = "127.0.0.1"
    port: int = 8000
    limits: RequestLimits = field(default_factory=RequestLimits)
    grace: float = 20.0
    """Seconds that calls have to finish when the server stops."""


class LastingDoor(Protocol):
    """A door that keeps something of its own while the server runs."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    def running(self) -> AbstractAsyncContextManager[None]:
        """Inside it the door works; at the end it lets go of what it keeps."""


@dataclass(frozen=True, slots=True)
class Doors:
    """What a server answers with, each door for its paths."""

    api: ASGIApp
    mcp: LastingDoor
    web: LastingDoor


class DoorRouter:
    """Sends each request to its door, by the first part of its path."""

    def __init__(self, platform: Platform, doors: Doors) -> None:
        health = HealthCheck(platform)
        self._web = doors.web
        self._doors: dict[str, ASGIApp] = {
            "api": doors.api,
            "mcp": doors.mcp,
            "healthz": health,
            "readyz": health,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        first = scope["path"][1:].partition("/")[0]
        await self._doors.get(first, self._web)(scope, receive, send)


async def serve(
    platform: Platform, doors: Doors, options: ServerOptions, ready: Callable[[str], None]
) -> None:
    """Answer requests until the process is asked to stop; `ready` gets the address.

    Asked to stop, it takes no new connection, ends what waits for a person or follows a stream, and lets
    calls finish for a while. What was submitted goes on with the next worker.
    """

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Hear of signals while serving. They are not raised again: what is open is closed after this."""
            previous = {
                signum: signal.signal(signum, self.handle_exit) for signum in (signal.SIGINT, signal.SIGTERM)
            }
            try:
                yield
            finally:
                for signum, handler in previous.items():
                    signal.signal(signum, handler)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            _log.info("asked to stop: calls that have begun may finish within %g s", options.grace)
            loop.call_soon_threadsafe(platform.closing.set)
            super().handle_exit(sig, frame)

    loop = asyncio.get_running_loop()
    sock = _listen(options)
    address = web_address(options.host, sock.getsockname()[1])
    async with AsyncExitStack() as stack:
        stack.callback(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(_SWITCH_INTERVAL)
        await stack.enter_async_context(doors.mcp.running())
        await stack.enter_async_context(doors.web.running())
        config = uvicorn.Config(
            SecurityMiddleware(DoorRouter(platform, doors), platform, options.limits),
            http=LimitedHttpProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=math.ceil(options.grace),
        )
        ready(address)
        await Server(config).serve(sockets=[sock])
        _log.info("stopped listening at %s", address)
        await platform.running.over(options.grace)  # calls to which no client listens any more


def _listen(options: ServerOptions) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    # asyncio sends small answers at once only where it knows the protocol
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((options.host, options.port))
    except BaseException:
        sock.close()
        raise
    return sock
