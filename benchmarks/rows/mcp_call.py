"""`tools/call` over HTTP, with a key, a policy and durable events, against FastMCP with none of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.environments import OWN, Peers
from benchmarks.load import Request, post
from benchmarks.measured_servers import LoadedRequest, Server, time_served
from benchmarks.row import Ratio, Row, at_least
from benchmarks.sample_tool import NAME
from benchmarks.timing import Effort

TITLE = "MCP tools/call over HTTP"

_TODAY, _BEFORE = "2026-07-28", "2025-11-25"
_FASTER = "{:.2f} times the rate of FastMCP"
_NAMED = "io.modelcontextprotocol/"


def measure(peers: Peers, effort: Effort) -> list[Row]:
    ours = Server("benchmarks.subjects.server", OWN, ("sqlite",))
    theirs = Server("benchmarks.peers.fastmcp_server", peers.python("fastmcp"))
    requests = [
        LoadedRequest(f"{name}, {version}", server, _request(version))
        for version in (_TODAY, _BEFORE)
        for name, server in (("FastMCP", theirs), ("Handrail", ours))
    ]
    times = time_served(requests, effort)
    rows: list[Row] = []
    for version, least in ((_TODAY, 2.0), (_BEFORE, 1.3)):
        their, our = times[f"FastMCP, {version}"], times[f"Handrail, {version}"]
        rows.append(Row(f"FastMCP, {version}", their))
        rows.append(Row(f"Handrail, {version}", our, Ratio(their, our, _FASTER), at_least(least)))
    return rows


def _request(version: str) -> Callable[[Mapping[str, Any]], Request]:
    """The request as the official client sends it."""

    def request(announced: Mapping[str, Any]) -> Request:
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": version}
        params: dict[str, Any] = {"name": NAME, "arguments": {"a": 1, "b": 2}}
        if version == _TODAY:
            headers |= {"Mcp-Method": "tools/call", "Mcp-Name": NAME}
            params["_meta"] = {
                f"{_NAMED}protocolVersion": version,
                f"{_NAMED}clientInfo": {"name": "benchmark", "version": "1"},
                f"{_NAMED}clientCapabilities": {},
            }
        if "key" in announced:
            headers["Authorization"] = f"Bearer {announced['key']}"
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return post(announced["port"], "/mcp", headers, body, b'"isError":false')

    return request
