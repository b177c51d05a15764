"""An ASGI app behind uvicorn, on a free port of this machine."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn


class ListeningServer(uvicorn.Server):
    """A server that says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listens.set()


@asynccontextmanager
async def serve_app(app: Any, **options: Any) -> AsyncIterator[str]:
    """The app's address, until the block ends. Options are those of uvicorn."""
    server = ListeningServer(uvicorn.Config(app, **{"lifespan": "off", "log_level": "error", **options}))
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as sock:
        sock.bind(("127.0.0.1", 0))
        task = asyncio.create_task(server.serve([sock]))
        await asyncio.wait(
            {task, listens := asyncio.create_task(server.listens.wait())}, return_when=asyncio.FIRST_COMPLETED
        )
        listens.cancel()
        try:
            yield f"http://127.0.0.1:{sock.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task
