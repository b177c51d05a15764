"""A server at an address: what is read of it is bounded, and an answer that is lost breaks no other."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED

from handrail.bridges.mcp.attempt import current
from handrail.bridges.mcp.server import Server

_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
_STREAM = "text/event-stream"


@asynccontextmanager
async def over_web(server: Server, secrets: Mapping[str, str]) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of messages from and to an address."""
    assert server.url is not None
    headers = {"accept-encoding": "identity"}
    if server.secret is not None:
        headers["authorization"] = f"Bearer {secrets[server.secret]}"
    timeout = httpx2.Timeout(server.connect_timeout, read=None)
    careful = Careful(httpx2.AsyncHTTPTransport(), server.max_bytes)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, transport=careful, trust_env=False) as http,
        streamable_http_client(server.url, http_client=http, max_sse_event_size=server.max_bytes) as streams,
    ):
        yield streams


class Careful(httpx2.AsyncBaseTransport):
    """Sends requests, and answers itself where no answer comes."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, most: int) -> None:
        self._inner = inner
        self._most = most

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        attempt = current.get()
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            if attempt is not None:
                attempt.arrived = attempt.arrived or not isinstance(error, _NEVER_SENT)
                attempt.lost = _words(error)
            return _answer_of_ours(request)
        if attempt is not None:
            attempt.arrived = True
            attempt.status = response.status_code
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            if attempt is not None:
                attempt.lost = "it sent an answer that is compressed, which nobody asked for"
            return _answer_of_ours(request)
        is_stream = response.headers.get("content-type", "").lower().startswith(_STREAM)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Watched(response.stream, None if is_stream else self._most)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Watched(httpx2.AsyncByteStream):
    """What is read of an answer, up to a bound. Each event of a stream has a bound of its own."""

    def __init__(self, inner: httpx2.AsyncByteStream, most: int | None) -> None:
        self._inner = inner
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        try:
            async for piece in self._inner:
                read += len(piece)
                if self._most is not None and read > self._most:
                    raise _broken(f"it sent an answer of more than {self._most} bytes", too_large=True)
                yield piece
        except httpx2.TransportError as error:
            raise _broken(_words(error)) from None

    async def aclose(self) -> None:
        await self._inner.aclose()


def _broken(why: str, too_large: bool = False) -> Exception:
    """An error that ends this answer, and nothing else of the connection."""
    attempt = current.get()
    if attempt is not None:
        attempt.lost, attempt.too_large = why, too_large
    return httpx2.StreamError(why)


def _words(error: Exception) -> str:
    return f"the connection failed ({type(error).__name__})"


def _answer_of_ours(request: httpx2.Request) -> httpx2.Response:
    error = {"code": CONNECTION_CLOSED, "message": "Connection closed"}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    headers = {"content-type": "application/json"}
    return httpx2.Response(502, headers=headers, content=body, request=request)
