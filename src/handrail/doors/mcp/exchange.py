"""One JSON-RPC message over HTTP and its answer: as JSON, or as a stream once something is sent before it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import anyio
from mcp.server.runner import modern_error_data
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, RequestId
from pydantic_core import from_json, to_json
from starlette.types import Receive, Send

from handrail.core.define.principal import Principal


@dataclass(slots=True)
class McpRequest:
    """One request that came over HTTP; a server's handler finds it as `ctx.request`."""

    principal: Principal
    key: str | None = None
    """The key that was shown, for those who stay long enough to be asked again."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when whoever asked has left."""


def bearer(authorization: str | None) -> str | None:
    """The key in an Authorization header."""
    kind, _, key = (authorization or "").partition(" ")
    return key.strip() or None if kind.lower() == "bearer" else None


_LARGEST_ID = 2**63


@dataclass(frozen=True, slots=True)
class RpcMessage:
    """One message of a client."""

    method: str
    """Empty in a response."""
    params: dict[str, Any] | None
    body: dict[str, Any]
    """All of it, as it came."""


@dataclass(frozen=True, slots=True)
class RpcRequest(RpcMessage):
    """A message that is answered."""

    id: RequestId


def read_message(data: bytes) -> RpcRequest | RpcMessage | ErrorData:
    """The message in a body. NaN, lone surrogates and bottomless nesting are not JSON here."""
    try:
        body = from_json(data, allow_inf_nan=False, cache_strings=False)
    except (ValueError, RecursionError, OverflowError):
        return ErrorData(code=PARSE_ERROR, message="Parse error: the body is not JSON.")
    if not isinstance(body, dict):
        return _invalid_request("The body must be one JSON-RPC message, not a batch or a bare value.")
    if body.get("jsonrpc") != "2.0":
        return _invalid_request('A message says "jsonrpc": "2.0".')
    method, params, message_id = body.get("method"), body.get("params"), body.get("id")
    if "method" not in body and ("result" in body) != ("error" in body):
        return RpcMessage("", None, body)
    if not isinstance(method, str):
        return _invalid_request("A message names its method as text.")
    if "params" in body and not isinstance(params, dict):
        return _invalid_request("The params of a message are an object.")
    if "id" not in body:
        return RpcMessage(method, params, body)
    if not _is_id(message_id):
        return _invalid_request("The id of a request is text or a whole number.")
    return RpcRequest(method, params, body, message_id)


def _is_id(value: Any) -> TypeGuard[RequestId]:
    if isinstance(value, str):
        return True
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST_ID


def _invalid_request(why: str) -> ErrorData:
    return ErrorData(code=INVALID_REQUEST, message=why)


def to_result(id: RequestId, result: dict[str, Any]) -> bytes:
    """A response as it goes over the wire."""
    return to_json({"jsonrpc": "2.0", "id": id, "result": result}, inf_nan_mode="null", fallback=str)


def to_error(id: RequestId | None, error: ErrorData) -> bytes:
    """An error as it goes over the wire; one whose request could not be read has the id null."""
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return to_json({"jsonrpc": "2.0", "id": id, "error": body}, inf_nan_mode="null", fallback=str)


def to_notification(method: str, params: dict[str, Any] | None) -> bytes:
    body: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        body["params"] = params
    return to_json(body, inf_nan_mode="null", fallback=str)


_TRANSPORT = TransportContext(kind="streamable-http", can_send_request=False)

_WATCH_AFTER = 0.05
"""Seconds until an exchange looks whether its client is still there: most are over by then."""

_PING_INTERVAL = 15.0
"""Seconds of silence after which a stream says that it is alive."""
_JSON_HEADER = (b"content-type", b"application/json")

_STREAM_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class Exchange:
    """What a server's handler writes to while it works on one request: the SDK's `DispatchContext`.

    The answer is JSON with its own status unless something is told before it, or it takes long: then it is
    a stream of events. A client of the current protocol that leaves thereby cancels its request.
    """

    can_send_request = False
    transport = _TRANSPORT

    def __init__(
        self,
        message: RpcRequest,
        request: McpRequest,
        receive: Receive,
        send: Send,
        *,
        modern: bool,
        streams: bool,
    ) -> None:
        self.request_id = message.id
        self.message_metadata = ServerMessageMetadata(request_context=request, can_send_request=False)
        self.cancel_requested = anyio.Event()
        self._token = progress_token_from_params(message.params)
        self._request = request
        self._receive = receive
        self._send = send
        self._modern = modern
        self._streams = streams
        self._begun = False
        self._writing = asyncio.Lock()
        self._side_tasks: list[asyncio.Task[None]] = []
        self._left = False

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        if self._streams:
            await self._emit(_sse_event(to_notification(method, None if params is None else dict(params))))

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        if self._token is None:
            return
        params: dict[str, Any] = {"progressToken": self._token, "progress": progress}
        params |= {} if total is None else {"total": total}
        params |= {} if message is None else {"message": message}
        await self.notify("notifications/progress", params)

    async def serve(self, working: Awaitable[dict[str, Any]]) -> None:
        """Answer with what comes of the work."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        if task is None:
            raise RuntimeError("A request is served inside a task.")
        timers = [loop.call_later(_WATCH_AFTER, lambda: self._begin(self._watch(task)))]
        if self._streams:
            timers.append(loop.call_later(_PING_INTERVAL, lambda: self._begin(self._keep_alive())))
        try:
            await self._answer(200, to_result(self.request_id, await working))
        except asyncio.CancelledError:
            if not self._left:
                raise
            task.uncancel()
        except Exception as error:
            data = modern_error_data(error)
            status = ERROR_CODE_HTTP_STATUS.get(data.code, 200) if self._modern else 200
            await self._answer(status, to_error(self.request_id, data))
        finally:
            for timer in timers:
                timer.cancel()
            for side_task in self._side_tasks:
                side_task.cancel()

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._side_tasks.append(asyncio.get_running_loop().create_task(work))

    async def _watch(self, task: asyncio.Task[Any]) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._request.gone.set()
        if self._modern:
            self._left = True
            task.cancel()

    async def _keep_alive(self) -> None:
        while True:
            await self._emit(b": ping\r\n\r\n")
            await asyncio.sleep(_PING_INTERVAL)

    async def _emit(self, data: bytes, more: bool = True) -> None:
        async with self._writing:
            if not self._begun:
                self._begun = True
                await self._send({"type": "http.response.start", "status": 200, "headers": _STREAM_HEADERS})
            await self._send({"type": "http.response.body", "body": data, "more_body": more})

    async def _answer(self, status: int, body: bytes) -> None:
        if self._begun:
            await self._emit(_sse_event(body), more=False)
        else:
            self._begun = True
            await send_json(self._send, status, body)


def _sse_event(body: bytes) -> bytes:
    return b"event: message\r\ndata: " + body + b"\r\n\r\n"


async def send_json(send: Send, status: int, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    """One whole answer in JSON."""
    length = (b"content-length", str(len(body)).encode())
    kind = (_JSON_HEADER,) if body else ()
    await send({"type": "http.response.start", "status": status, "headers": [*kind, length, *headers]})
    await send({"type": "http.response.body", "body": body})
