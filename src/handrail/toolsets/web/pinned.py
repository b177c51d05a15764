"""Pinned: connects to addresses that were checked, whatever a name may lead to by now, and to no others."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Sequence
from typing import Any

import httpcore2

from handrail.toolsets.web.addresses import Address
from handrail.toolsets.web.unpacking import TooLarge

_PATIENCE = 5.0
"""Seconds for one of several addresses, so that one which is silent does not cost the whole time."""


class Pinned(httpcore2.AsyncNetworkBackend):
    """The network as one exchange may use it."""

    def __init__(self, addresses: Sequence[Address], most: int) -> None:
        self._addresses = addresses
        self._most = most
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
                return await self._connect(address, port, _PATIENCE)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._connect(last, port, timeout)

    async def _connect(self, address: Address, port: int, timeout: float | None) -> _Counted:
        stream = await self._inner.connect_tcp(str(address), port, timeout)
        self._opened.append(stream)
        return _Counted(stream, [self._most], self._most)

    async def close(self) -> None:
        """Close what is open, also where an exchange was stopped in the middle."""
        while self._opened:
            await self._opened.pop().aclose()


class _Counted(httpcore2.AsyncNetworkStream):
    """A connection of which no more is read than is allowed: body, headers, and all that stands between."""

    def __init__(self, inner: httpcore2.AsyncNetworkStream, left: list[int], most: int) -> None:
        self._inner = inner
        self._left = left
        self._most = most

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        piece = await self._inner.read(max_bytes, timeout)
        self._left[0] -= len(piece)
        if self._left[0] < 0:
            raise TooLarge(self._most)
        return piece

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        inner = await self._inner.start_tls(ssl_context, server_hostname, timeout)
        return _Counted(inner, self._left, self._most)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
