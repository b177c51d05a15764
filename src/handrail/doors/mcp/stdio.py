"""Stdio: the door for the one client that started this process, over its standard input and output."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from io import TextIOWrapper
from typing import TextIO

import anyio
from mcp.server.lowlevel import NotificationOptions
from mcp.server.stdio import stdio_server

from handrail.core.define.principal import Principal
from handrail.doors.mcp.protocol import McpServer
from handrail.platform import Platform


async def serve_stdio(
    platform: Platform,
    who: Callable[[], Awaitable[Principal]],
    out: TextIO,
    *,
    hold: float = 20.0,
    look_every: float = 2.0,
    page: int = 100,
) -> None:
    """Serve until the client closes its end. `who` is asked for each request: a key may end meanwhile.

    Without a database nobody but this process knows what it asks, and its terminal is the client's.
    """
    server = McpServer(
        platform, hold=hold, look_every=look_every, page=page, who=who, has_reviewers=platform.has_reviewers
    )
    options = server.sdk.create_initialization_options(NotificationOptions(tools_changed=True))
    if isinstance(out, TextIOWrapper):
        out.reconfigure(encoding="utf-8", newline="\n")
    gone = False
    try:
        async with stdio_server(stdout=anyio.wrap_file(out)) as (reading, writing):
            telling = asyncio.create_task(server.tell_changes())
            try:
                await server.sdk.run(reading, writing, options)
            finally:
                telling.cancel()
                server.changes.close()
    except* BrokenPipeError:
        gone = True
    if gone:  # the client ended without a word, as programs that are killed do
        raise BrokenPipeError
