"""A foreign MCP server in the SDK's high-level style, at an address."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer

from tests.harness.mcp_servers.port_file import serve

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


asyncio.run(serve(server.streamable_http_app(), FILE, PORT))
