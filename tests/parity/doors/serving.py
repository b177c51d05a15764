"""A door that is open on a free port of this machine, and the SDK's client before it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.parity.doors.keys import shown
from tests.parity.world import until

MODERN = "2026-07-28"


@asynccontextmanager
async def serving(app: Any) -> AsyncIterator[str]:
    """The app behind uvicorn, until the block ends; its address."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    task = asyncio.create_task(server.serve([sock]))
    await until(lambda: server.started or None)
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        sock.close()


@asynccontextmanager
async def client(address: str, who: str, modern: bool) -> AsyncIterator[Client]:
    """Somebody's client: of today's protocol, or by the handshake of 2025."""
    mode = MODERN if modern else "legacy"
    async with (
        httpx2.AsyncClient(headers=shown(who), timeout=30) as http,
        Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode, cache=None) as opened,
    ):
        yield opened
