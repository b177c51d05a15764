"""Many open pages of one person: their streams, held by plain sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx


def sign_in_cookie(link: str) -> str:
    """The session of whoever a sign-in link lets in."""
    base = link.partition("/sign-in")[0]
    with httpx.Client(base_url=base) as http:
        answer = http.post("/sign-in", data={"link": link.partition("link=")[2]}, headers={"origin": base})
    assert answer.status_code == 303, answer.text
    return "; ".join(f"{name}={value}" for name, value in answer.cookies.items())


@dataclass
class PageStreams:
    """Streams that are open; each is read until a topic comes."""

    readers: Sequence[asyncio.StreamReader]

    async def all_hear(self, name: str, seconds: float) -> None:
        wanted = f"event: {name}\n".encode()
        async with asyncio.timeout(seconds):
            await asyncio.gather(*(one.readuntil(wanted) for one in self.readers))


@asynccontextmanager
async def open_pages(url: str, cookie: str, number: int, path: str) -> AsyncIterator[PageStreams]:
    """So many pages that listen, until the block ends."""
    target = urlsplit(url)
    writers: list[asyncio.StreamWriter] = []
    readers: list[asyncio.StreamReader] = []
    head = f"GET {path} HTTP/1.1\r\nhost: {target.netloc}\r\ncookie: {cookie}\r\n\r\n"

    async def one() -> None:
        reader, writer = await asyncio.open_connection(target.hostname, target.port)
        writers.append(writer)
        writer.write(head.encode())
        first = await reader.readuntil(b"event: hello")
        assert first.startswith(b"HTTP/1.1 200"), first[:200]
        readers.append(reader)

    try:
        for _ in range(0, number, 50):
            await asyncio.gather(*(one() for _ in range(50)))
        yield PageStreams(readers)
    finally:
        for writer in writers:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)
