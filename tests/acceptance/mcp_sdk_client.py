"""An MCP client of somebody else: the official SDK in a process of its own, which does not give up.

`python -m tests.acceptance.mcp_sdk_client URL KEY MODE TOOL ARGUMENTS [--step]` calls a tool until its end
is known. It keeps the request state that it is given and comes back with it; a client of 2025 makes the same
call again. A server that is gone is asked again. With --step it comes back after a line on standard input.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

MODERN = "2026-07-28"


async def once(url: str, key: str, mode: str, tool: str, args: Any, state: str | None) -> dict[str, Any]:
    """One round, with a connection of its own."""
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        told = await client.session.call_tool(tool, args, request_state=state, allow_input_required=True)
        return told.model_dump(by_alias=True, exclude_none=True, mode="json")


async def main(url: str, key: str, mode: str, tool: str, arguments: str, *, step: bool) -> None:
    state: str | None = None
    while True:
        try:
            told = await once(url, key, mode, tool, json.loads(arguments), state)
        except BaseException as error:  # whatever a connection that breaks is told as, in groups or alone
            if not is_transport(error):
                raise
            say({"told": "gone"})
            await asyncio.sleep(0.1)
            continue
        state = told.get("requestState")
        waits = state is not None or '"code": "NEEDS_APPROVAL"' in json.dumps(told).replace('\\"', '"')
        say({"told": "waits" if waits else "done", "answer": told})
        if not waits:
            return
        if step:
            await asyncio.to_thread(sys.stdin.readline)


def is_transport(error: BaseException) -> bool:
    """Whether an error, or all in a group, tell that nobody answered."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_transport, error.exceptions))
    return isinstance(error, httpx2.TransportError) or "onnection closed" in str(error)


def say(told: dict[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(told)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    url, key, mode, tool, arguments = sys.argv[1:6]
    asyncio.run(main(url, key, mode, tool, arguments, step="--step" in sys.argv))
