"""The SDK's client before a door that is open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.parity.doors.keys import shown

MODERN = "2026-07-28"


@asynccontextmanager
async def client(address: str, who: str, modern: bool) -> AsyncIterator[Client]:
    """Somebody's client: of today's protocol, or by the handshake of 2025."""
    mode = MODERN if modern else "legacy"
    async with (
        httpx2.AsyncClient(headers=shown(who), timeout=30) as http,
        Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode, cache=None) as opened,
    ):
        yield opened
