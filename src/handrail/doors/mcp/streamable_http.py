"""build_mcp: MCP over stateless streamable HTTP, as an ASGI app."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.connection import Connection
from mcp.server.runner import serve_one
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
    unsupported_protocol_version_rejection,
    validate_mcp_param_headers,
)
from mcp_types import HEADER_MISMATCH, INVALID_REQUEST, ErrorData
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from handrail.core.find.registry import Registry
from handrail.doors.mcp.exchange import (
    Exchange,
    McpRequest,
    RpcMessage,
    RpcRequest,
    bearer,
    read_message,
    send_json,
    to_error,
)
from handrail.doors.mcp.protocol import McpServer
from handrail.platform import Platform
from handrail.toolsets.search import describe_tool, search_tools

MAX_BODY = 4 * 1024 * 1024
_DEFAULT_VERSION = "2025-03-26"
"""What a client speaks that names no revision, as that one says."""


def build_mcp(platform: Platform, *, hold: float = 20.0, look_every: float = 2.0, page: int = 100) -> McpApp:
    """The MCP door of a platform, for `/mcp`. It keeps no state of a client and wants no lifespan.

    `hold` are the seconds for which a call that waits for a person is held before its caller must come back;
    `look_every` those between two looks at whether a tool list has changed that somebody listens to.
    """
    _ensure_search_tools(platform.hr.registry, page)
    return McpApp(McpServer(platform, hold=hold, look_every=look_every, page=page))


def _ensure_search_tools(registry: Registry, page: int) -> None:
    """Where there are more tools than one page holds, those that find others are among them."""
    if len(registry.list()) > page:
        for tool in (search_tools, describe_tool):
            if registry.get(tool.id) is None:
                registry.register(tool)


class McpApp:
    """Stateless streamable HTTP. The principal is in the scope's state; sessions are never authentication."""

    def __init__(self, server: McpServer) -> None:
        self._server = server

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While inside, whoever listens here or waits for a person is let go once the platform closes."""
        watching = asyncio.create_task(self._closing())
        try:
            yield
        finally:
            watching.cancel()
            self._server.changes.close()

    async def _closing(self) -> None:
        await self._server.closing.wait()
        self._server.changes.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"the MCP door speaks HTTP, not {scope['type']}")
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        principal = (scope.get("state") or {}).get("principal")
        if principal is None:
            say = "Show an API key that is made for this door: Authorization: Bearer <key>."
            await _refuse(send, 401, say, (b"www-authenticate", b'Bearer realm="handrail"'))
        elif scope["method"] != "POST":
            await _refuse(send, 405, "Messages are sent here by POST.", (b"allow", b"POST"))
        elif headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            await _refuse(send, 415, "Send application/json.")
        else:
            json, streams = _accepted(headers.get("accept"))
            if not json:
                await _refuse(send, 406, "Accept application/json and text/event-stream.")
                return
            body = await _read_body(receive)
            if body is None:
                await _refuse(send, 413, f"A message has at most {MAX_BODY} bytes.")
                return
            request = McpRequest(principal, bearer(headers.get("authorization")))
            await self._serve(read_message(body), request, headers, streams, scope, receive, send)

    async def _serve(
        self,
        message: RpcRequest | RpcMessage | ErrorData,
        request: McpRequest,
        headers: dict[str, str],
        streams: bool,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        version = headers.get("mcp-protocol-version")
        modern = version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS
        if isinstance(message, ErrorData):
            await send_json(send, 400, to_error(None, message))
        elif "method" not in message.body and modern:
            await _refuse(send, 400, "This server asks nothing, so there is nothing to answer.")
        elif not isinstance(message, RpcRequest):
            wrong = unsupported_protocol_version_rejection(version) if modern and version else None
            await (send_json(send, 202, b"") if wrong is None else _reject(send, None, wrong))
        elif message.method == "subscriptions/listen" and not streams:
            await _refuse(send, 406, "Accept text/event-stream to listen.")
        elif modern:
            route = await self._routed(message, headers, request, scope)
            if isinstance(route, InboundLadderRejection):
                await _reject(send, message, route)
            else:
                await self._exchange(message, request, route, receive, send, modern=True, streams=streams)
        else:
            connection = Connection.from_envelope(version or _DEFAULT_VERSION, None, None)
            await self._exchange(message, request, connection, receive, send, modern=False, streams=streams)

    async def _exchange(
        self,
        message: RpcRequest,
        request: McpRequest,
        connection: Connection,
        receive: Receive,
        send: Send,
        *,
        modern: bool,
        streams: bool,
    ) -> None:
        exchange = Exchange(message, request, receive, send, modern=modern, streams=streams)
        sdk = self._server.sdk
        await exchange.serve(
            serve_one(sdk, exchange, message.method, message.params, connection=connection, lifespan_state={})
        )

    async def _routed(
        self, message: RpcRequest, headers: dict[str, str], request: McpRequest, scope: Scope
    ) -> Connection | InboundLadderRejection:
        """A request of the current protocol: what its headers and its envelope say must agree."""
        pairs = ((name.decode("latin-1"), "") for name, _ in scope["headers"])
        if (twice := find_duplicated_routing_header(pairs)) is not None:
            return InboundLadderRejection(HEADER_MISMATCH, f"{twice} header appears more than once")
        route = classify_inbound_request(message.body, headers=headers)
        if isinstance(route, InboundLadderRejection):
            return route
        if message.method == "tools/call":
            schema = await self._server.header_schema((message.params or {}).get("name"), request.principal)
            if schema is not None:
                arguments = (message.params or {}).get("arguments") or {}
                raw_headers = Headers(raw=scope["headers"])
                if isinstance(arguments, dict):
                    wrong = validate_mcp_param_headers(schema, arguments, raw_headers)
                    if wrong is not None:
                        return wrong
        return Connection.from_envelope(route.protocol_version, route.client_info, route.client_capabilities)


def _accepted(accept: str | None) -> tuple[bool, bool]:
    """Whether JSON and event streams are accepted."""
    kinds = {part.partition(";")[0].strip().lower() for part in (accept or "").split(",")}
    every = "*/*" in kinds
    return (
        every or bool(kinds & {"application/json", "application/*"}),
        every or bool(kinds & {"text/event-stream", "text/*"}),
    )


async def _read_body(receive: Receive) -> bytes | None:
    """The body of a request; None when it is too large."""
    parts: list[bytes] = []
    size = 0
    while True:
        part: Any = await receive()
        if part["type"] != "http.request":
            return b""
        parts.append(part.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            return None
        if not part.get("more_body"):
            return parts[0] if len(parts) == 1 else b"".join(parts)


async def _refuse(send: Send, status: int, why: str, *headers: tuple[bytes, bytes]) -> None:
    await send_json(send, status, to_error(None, ErrorData(code=INVALID_REQUEST, message=why)), *headers)


async def _reject(send: Send, message: RpcRequest | None, wrong: InboundLadderRejection) -> None:
    status = ERROR_CODE_HTTP_STATUS.get(wrong.code, 400)
    error = ErrorData(code=wrong.code, message=wrong.message, data=wrong.data)
    await send_json(send, status, to_error(None if message is None else message.id, error))
