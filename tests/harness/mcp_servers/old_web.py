"""A foreign MCP server of the year 2025 at an address, written by hand: it knows its sessions, or nobody."""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.harness.mcp_servers.port_file import serve

FILE, PORT = Path(sys.argv[1]), int(sys.argv[2])
INFO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "old", "version": "1"},
}
TOOLS = [
    {"name": name, "description": f"Do {name}.", "inputSchema": {"type": "object"}}
    for name in ("echo", "late")
]
sessions: set[str] = set()


async def post(request: Request) -> Response:
    message = await request.json()
    if message["method"] == "initialize":
        sessions.add(session := uuid.uuid4().hex)
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": INFO}
        return JSONResponse(answer, headers={"mcp-session-id": session})
    if message["method"] == "server/discover":
        return Response(status_code=400)
    if request.headers.get("mcp-session-id") not in sessions:
        return Response(status_code=404)
    if "id" not in message:
        return Response(status_code=202)
    if message["method"] == "tools/list":
        return _result(message, {"tools": TOOLS})
    if message["params"]["name"] == "late":
        return Response(status_code=504)  # somebody in between gave up
    text = json.dumps(message["params"].get("arguments"))
    return _result(message, {"content": [{"type": "text", "text": text}]})


def _result(message: Any, result: dict[str, Any]) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})


asyncio.run(serve(Starlette(routes=[Route("/mcp", post, methods=["POST"])]), FILE, PORT))
