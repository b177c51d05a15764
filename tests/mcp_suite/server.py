"""A server for the suite: the MCP door behind the real entrance, over the suite's tools, on a free port.

The suite cannot show a key, so one is put into each request that has none before the entrance sees it. What
waits for a person is held for a moment only, since the suite has none.
"""

from __future__ import annotations

import asyncio
import socket
import sys

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from handrail import Handrail, Principal, Tool, tool
from handrail.doors.mcp.streamable_http import build_mcp
from handrail.platform import platform_of
from handrail.platform.middleware import RequestLimits, SecurityMiddleware
from tests.mcp_suite.tools import TOOLS

KEY = "a-key-for-the-conformance-suite"
HOLD = 0.05


class ShowKey:
    """Shows the key for whoever shows none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if all(name != b"authorization" for name, _ in scope["headers"]):
            key = (b"authorization", f"Bearer {KEY}".encode())
            scope = {**scope, "headers": [*scope["headers"], key]}
        await self._app(scope, receive, send)


def _changing(hr: Handrail) -> Tool:
    """The tool by which the suite changes the list of tools."""

    @tool("test_dynamic_tool", level="read")
    async def guest() -> str:
        """Be in the list, or not."""
        return "Here for now."

    @tool("test_trigger_tool_change", level="read")
    async def trigger_tool_change() -> str:
        """Put a tool into the list, or take it out again."""
        if not hr.registry.unregister(guest.id):
            hr.registry.register(guest)
        return "The list of tools changed."

    return trigger_tool_change


async def main() -> None:
    sock = socket.create_server(("127.0.0.1", 0))
    caller = Principal(tenant="suite", agent="conformance")
    async with Handrail(TOOLS) as hr:
        hr.registry.register(_changing(hr))
        platform = platform_of(hr, {KEY: caller})
        door = build_mcp(platform, hold=HOLD, look_every=HOLD)
        app = ShowKey(SecurityMiddleware(door, platform, RequestLimits(rate=None)))
        config = uvicorn.Config(app, http="httptools", ws="none", lifespan="off", log_level="warning")
        sys.stdout.write(f"http://127.0.0.1:{sock.getsockname()[1]}/mcp\n")
        sys.stdout.flush()
        async with door.running():
            await uvicorn.Server(config).serve(sockets=[sock])


if __name__ == "__main__":
    asyncio.run(main())
