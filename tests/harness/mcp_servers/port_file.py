"""Serves an app on this machine, and writes to a file which port it has, once it listens."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import uvicorn

from tests.harness.asgi_server import ListeningServer


async def serve(app: Any, file: Path, port: int, **options: Any) -> None:
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", **options)
    server = ListeningServer(config)
    serving = asyncio.ensure_future(server.serve())
    await server.listens.wait()
    part = file.with_suffix(".part")
    part.write_text(str(server.servers[0].sockets[0].getsockname()[1]))
    part.rename(file)
    await serving
