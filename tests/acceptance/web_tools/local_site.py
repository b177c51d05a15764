"""Site: a real server on loopback that counts who connects, and answers with the bytes it is told to."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from handrail import Outcome, Tool
from handrail.testing import call
from handrail.toolsets.web import WebOptions, web_search, webfetch

Writer = asyncio.StreamWriter
Page = bytes | Callable[["SiteRequest", Writer], Awaitable[None]]


@dataclass
class SiteRequest:
    """A request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""


@dataclass
class Site:
    """Where a server stands and what it saw."""

    host: str
    port: int = 0
    scheme: str = "http"
    pages: dict[str, Page] = field(default_factory=dict)
    connects: int = 0
    asked: list[SiteRequest] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when somebody has asked for something, and when the other end of a connection was closed."""
    open: dict[asyncio.Task[Any], Writer] = field(default_factory=dict)

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def networks(self) -> list[str]:
        """The setting that allows this site and no other."""
        return [self.url.partition("://")[2]]

    async def serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        self.connects += 1
        task = asyncio.current_task()
        assert task is not None
        self.open[task] = writer
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.rstrip().split("\r\n")
            method, target, _ = first.split(" ")
            headers = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in lines}
            asked = SiteRequest(method, target, headers)
            asked.body = await reader.readexactly(int(headers.get("content-length", "0")))
            self.asked.append(asked)
            self.came.set()
            page = self.pages.get(target.partition("?")[0], answer(b"nothing here", status="404 Not Found"))
            if isinstance(page, bytes):
                writer.write(page)
                await writer.drain()
                writer.write_eof() if writer.can_write_eof() else writer.close()
            else:
                await page(asked, writer)
            while await reader.read(65536):
                pass
        self.left.set()
        writer.transport.abort()
        self.open.pop(task)


@asynccontextmanager
async def site(
    host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None, **pages: Page
) -> AsyncIterator[Site]:
    """A site that serves until the block ends; `index` is the page at `/`."""
    made = Site(host, scheme="http" if tls is None else "https")
    made.pages = {"/" if name == "index" else f"/{name}": page for name, page in pages.items()}
    server = await asyncio.start_server(made.serve, host, port, ssl=tls)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        for writer in made.open.values():
            writer.transport.abort()
        await asyncio.gather(*made.open)


def answer(
    body: bytes | str = b"", kind: str | None = "text/plain", status: str = "200 OK", **headers: str
) -> bytes:
    """The bytes of a whole answer."""
    body = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    lines += [] if kind is None else [f"Content-Type: {kind}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    return answer(status=status, Location=location)


async def without_end(piece: bytes, head: bytes, asked: SiteRequest, writer: Writer) -> None:
    """Sends until nobody takes it any more."""
    writer.write(head)
    while True:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)  # lets the other side take it


async def fetch(url: str, options: WebOptions | None = None, **args: Any) -> Outcome:
    return await called(webfetch(options), {"url": url, **args})


async def search(query: str, options: WebOptions | None = None, limit: int = 8, **more: Any) -> Outcome:
    return await called(web_search(options), {"query": query, "limit": limit}, **more)


async def called(tool: Tool, args: dict[str, Any], **more: Any) -> Outcome:
    return await call(tool, args, tenant="acme", user="ana", **more)


def options_allowing(*sites: Site, **options: Any) -> WebOptions:
    """Options under which these sites, and nothing else inside, may be reached."""
    return WebOptions(private_networks=[one for each in sites for one in each.networks], **options)


def fake_resolver(**known: str | list[str]) -> Callable[[str, int], Awaitable[list[str]]]:
    """A resolver that knows these names, with `_` for each dot."""

    async def resolve(host: str, port: int) -> list[str]:
        found = known[host.replace(".", "_")]
        return [found] if isinstance(found, str) else found

    return resolve
