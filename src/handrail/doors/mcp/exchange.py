"""Exchange: one request over HTTP and its answer, as JSON, or as a stream once something is told before."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Mapping
from typing import Any

import anyio
from mcp.server.runner import modern_error_data
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import RequestId
from starlette.types import Receive, Send

from handrail.doors.mcp.messages import Message, to_error, to_notification, to_result
from handrail.doors.mcp.visit import Visit

_TRANSPORT = TransportContext(kind="streamable-http", can_send_request=False)
_LOOK_AFTER = 0.05
"""Seconds until an exchange looks whether its client is still there: most are over by then."""
_PING = 15.0
"""Seconds of silence after which a stream says that it is alive."""
_JSON = (b"content-type", b"application/json")
_STREAM = [
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
        self, message: Message, visit: Visit, receive: Receive, send: Send, *, modern: bool, streams: bool
    ) -> None:
        assert message.id is not None
        self.request_id: RequestId = message.id
        self.message_metadata = ServerMessageMetadata(request_context=visit, can_send_request=False)
        self.cancel_requested = anyio.Event()
        self._token = progress_token_from_params(message.params)
        self._visit = visit
        self._receive = receive
        self._send = send
        self._modern = modern
        self._streams = streams
        self._begun = False
        self._writing = asyncio.Lock()
        self._aside: list[asyncio.Task[None]] = []
        self._left = False

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        if self._streams:
            await self._emit(_event(to_notification(method, None if params is None else dict(params))))

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        if self._token is None:
            return
        told: dict[str, Any] = {"progressToken": self._token, "progress": progress}
        told |= {} if total is None else {"total": total}
        told |= {} if message is None else {"message": message}
        await self.notify("notifications/progress", told)

    async def serve(self, working: Awaitable[dict[str, Any]]) -> None:
        """Answer with what comes of the work."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        timers = [loop.call_later(_LOOK_AFTER, lambda: self._begin(self._watch(task)))]
        if self._streams:
            timers.append(loop.call_later(_PING, lambda: self._begin(self._keep_alive())))
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
            for aside in self._aside:
                aside.cancel()

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._aside.append(asyncio.get_running_loop().create_task(work))

    async def _watch(self, task: asyncio.Task[Any]) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._visit.gone.set()
        if self._modern:
            self._left = True
            task.cancel()

    async def _keep_alive(self) -> None:
        while True:
            await self._emit(b": ping\r\n\r\n")
            await asyncio.sleep(_PING)

    async def _emit(self, data: bytes, more: bool = True) -> None:
        async with self._writing:
            if not self._begun:
                self._begun = True
                await self._send({"type": "http.response.start", "status": 200, "headers": _STREAM})
            await self._send({"type": "http.response.body", "body": data, "more_body": more})

    async def _answer(self, status: int, body: bytes) -> None:
        if self._begun:
            await self._emit(_event(body), more=False)
        else:
            self._begun = True
            await answer(self._send, status, body)


def _event(body: bytes) -> bytes:
    return b"event: message\r\ndata: " + body + b"\r\n\r\n"


async def answer(send: Send, status: int, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    """One whole answer in JSON."""
    length = (b"content-length", str(len(body)).encode())
    kind = (_JSON,) if body else ()
    await send({"type": "http.response.start", "status": status, "headers": [*kind, length, *headers]})
    await send({"type": "http.response.body", "body": body})
