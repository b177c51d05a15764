"""PinnedBackend: connects only to addresses that were checked, whatever their name leads to by now."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import httpcore2

from handrail.net.addresses import Address
from handrail.net.body import ResponseTooLarge

_CONNECT_TIMEOUT = 5.0
"""Seconds for one of several addresses, so that one which is silent does not cost the whole time."""


@dataclass(slots=True)
class _ByteBudget:
    """How many bytes may still be read, and the limit of which the error speaks."""

    remaining: int
    limit: int
    what: str

    def spend(self, size: int) -> None:
        self.remaining -= size
        if self.remaining < 0:
            raise ResponseTooLarge(self.limit, self.what)


class PinnedBackend(httpcore2.AsyncNetworkBackend):
    """The network as one exchange may use it."""

    def __init__(self, addresses: Sequence[Address], around: int) -> None:
        self._addresses = addresses
        self._allowance = _ByteBudget(around, around, "What comes before the body")
        self._inner = httpcore2.AnyIOBackend()
        self._opened: list[httpcore2.AsyncNetworkStream] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        *others, last = self._addresses
        for address in others:
            try:
                return await self._connect(address, port, _CONNECT_TIMEOUT)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._connect(last, port, timeout)

    async def _connect(self, address: Address, port: int, timeout: float | None) -> _CountedStream:
        stream = await self._inner.connect_tcp(str(address), port, timeout)
        self._opened.append(stream)
        return _CountedStream(stream, self._allowance)

    def allow_body(self, most: int) -> None:
        """The headers are here: a body may follow, beside what they left of their own allowance."""
        self._allowance.remaining += most
        self._allowance.limit, self._allowance.what = most, "The answer"

    async def close(self) -> None:
        """Close what is open, also where an exchange was stopped in the middle."""
        while self._opened:
            await self._opened.pop().aclose()


class _CountedStream(httpcore2.AsyncNetworkStream):
    """A connection of which no more is read than is allowed: body, headers, and all that stands between."""

    def __init__(self, inner: httpcore2.AsyncNetworkStream, allowance: _ByteBudget) -> None:
        self._inner = inner
        self._allowance = allowance

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        piece = await self._inner.read(max_bytes, timeout)
        self._allowance.spend(len(piece))
        return piece

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        inner = await self._inner.start_tls(ssl_context, server_hostname, timeout)
        return _CountedStream(inner, self._allowance)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
