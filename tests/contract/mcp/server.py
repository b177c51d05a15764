"""An MCP server on loopback, and clients of the official SDK that talk to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handrail.doors.mcp.streamable_http import build_mcp
from handrail.engine.handrail import Handrail
from handrail.platform import Platform, platform_of
from handrail.platform.middleware import RequestLimits, SecurityMiddleware
from tests.contract.mcp.shop_tools import KEYS
from tests.harness.asgi_server import serve_app

MODERN = "2026-07-28"
LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


async def until(holds: Callable[[], object], seconds: float = 20) -> None:
    """Return as soon as something holds of which nobody tells."""
    async with asyncio.timeout(seconds):
        while True:
            if holds():
                return
            await asyncio.sleep(0.01)


@dataclass(frozen=True, slots=True)
class OpenServer:
    """A door that is open: where it is, and how to come in."""

    url: str
    left: asyncio.Event
    """Whether a client has left before its answer was complete."""

    @asynccontextmanager
    async def client(self, key: str, mode: str = MODERN, **more: Any) -> AsyncIterator[Client]:
        """The SDK's client: of the current protocol, or `legacy` by its handshake."""
        headers = {"Authorization": f"Bearer {key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=mode, **more) as client,
        ):
            yield client

    async def post(self, body: Any, key: str | None = None, **headers: str) -> httpx2.Response:
        """One raw request."""
        sent = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            **({} if key is None else {"authorization": f"Bearer {key}"}),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        async with httpx2.AsyncClient(timeout=20) as http:
            if isinstance(body, (bytes, str)):
                return await http.post(self.url, content=body, headers=sent)
            return await http.post(self.url, json=body, headers=sent)


class DisconnectWatcher:
    """A layer before a door that notices when a client leaves."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.left = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def heard() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.left.set()
            return message

        await self._app(scope, heard, send)


@asynccontextmanager
async def opened(platform: Platform, **options: Any) -> AsyncIterator[OpenServer]:
    """The MCP door of a platform."""
    app = build_mcp(platform, **options)
    leaving = DisconnectWatcher(SecurityMiddleware(app, platform, RequestLimits(rate=None)))
    async with app.running(), serve_app(leaving) as address:
        yield OpenServer(f"{address}/mcp", leaving.left)
        platform.closing.set()


@asynccontextmanager
async def met(hr: Handrail, key: str, mode: str = MODERN, **options: Any) -> AsyncIterator[Client]:
    """A client that stands before the door of a Handrail, with one of the keys of the shop."""
    async with opened(platform_of(hr, KEYS), **options) as door, door.client(key, mode, cache=None) as client:
        yield client
