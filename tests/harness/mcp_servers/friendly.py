"""A foreign MCP server in the SDK's high-level style, at an address."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import uvicorn
from mcp.server.mcpserver import MCPServer

server = MCPServer("friendly")
FILE, PORT = Path(sys.argv[1]), int(sys.argv[2])


@server.tool()
def greet(name: str) -> str:
    """Greet somebody by name."""
    return f"Hello {name}"


@server.tool()
def totals(numbers: list[int]) -> dict[str, int]:
    """Count and add numbers."""
    return {"count": len(numbers), "sum": sum(numbers)}


async def main() -> None:
    config = uvicorn.Config(server.streamable_http_app(), host="127.0.0.1", port=PORT, log_level="error")
    web = uvicorn.Server(config)
    serving = asyncio.ensure_future(web.serve())
    while not web.started:  # noqa: ASYNC110 - the server has no event for it
        await asyncio.sleep(0.01)
    part = FILE.with_suffix(".part")
    part.write_text(str(web.servers[0].sockets[0].getsockname()[1]))
    part.rename(FILE)
    await serving


asyncio.run(main())
