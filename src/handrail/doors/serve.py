"""Serve: all doors of a platform on one port, from the first request to the last."""

from __future__ import annotations

import asyncio
import logging
import math
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from handrail.doors.entrance import Bounds, Entrance
from handrail.doors.health import Health
from handrail.doors.visit import App, Receive, Scope, Send
from handrail.platform import Platform
from handrail.settings import web_address

if TYPE_CHECKING:
    from types import FrameType

_log = logging.getLogger("handrail.serve")
_TURN = 0.0001
"""Seconds after which a busy thread lets another one in. The loop and the writer take turns in short steps;
with Python's own 5 ms, each statement of the writer may wait for a whole turn of the loop."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server listens, and what it lets in."""

    host: str = "127.0.0.1"
    port: int = 8000
    bounds: Bounds = field(default_factory=Bounds)
    grace: float = 20.0
    """Seconds that calls have to finish when the server stops."""
    hold: float = 20.0
    """Seconds for which a call over MCP is held that waits for a person."""


class Hall:
    """Sends each request to its door, by the first part of its path."""

    def __init__(self, platform: Platform, hold: float) -> None:
        from handrail.doors.http.api import build_api
        from handrail.doors.mcp.server import build_mcp
        from handrail.doors.web.app import build_web

        self.api = build_api(platform)
        self.mcp = build_mcp(platform, hold=hold)
        self.web = build_web(platform)
        health = Health(platform)
        self._doors: dict[str, App] = {
            "api": self.api,
            "mcp": self.mcp,
            "healthz": health,
            "readyz": health,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        first = scope["path"][1:].partition("/")[0]
        await self._doors.get(first, self.web)(scope, receive, send)


async def serve(platform: Platform, place: Place, ready: Callable[[str], None]) -> None:
    """Answer requests until the process is asked to stop; `ready` is told the address.

    Asked to stop, it takes no new connection, ends what waits for a person or follows a stream, and lets
    calls finish for a while. What was submitted goes on with the next worker.
    """
    import uvicorn

    from handrail.doors.wire import Wire

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Hear of signals while serving. They are not raised again: what is open is closed after this."""
            known = {one: signal.signal(one, self.handle_exit) for one in (signal.SIGINT, signal.SIGTERM)}
            try:
                yield
            finally:
                for one, handler in known.items():
                    signal.signal(one, handler)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            _log.info("asked to stop: calls that have begun may finish within %g s", place.grace)
            loop.call_soon_threadsafe(platform.closing.set)
            super().handle_exit(sig, frame)

    loop = asyncio.get_running_loop()
    sock = _listening(place)
    address = web_address(place.host, sock.getsockname()[1])
    async with AsyncExitStack() as stack:
        stack.callback(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(_TURN)
        hall = Hall(platform, place.hold)
        await stack.enter_async_context(hall.mcp.running())
        config = uvicorn.Config(
            Entrance(hall, platform, place.bounds),
            http=Wire,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=math.ceil(place.grace),
        )
        ready(address)
        await Server(config).serve(sockets=[sock])
        _log.info("stopped listening at %s", address)
        for running in (hall.api.state.running, hall.web.running):
            await running.over(place.grace)  # calls that nobody listens to any more
        hall.web.live.close()


def _listening(place: Place) -> socket.socket:
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    # asyncio sends small answers at once only where it knows the protocol
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((place.host, place.port))
    except BaseException:
        sock.close()
        raise
    return sock
