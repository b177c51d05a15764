"""Connection: an open connection to a server. It belongs to a task of its own, which outlives every call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from contextvars import Context
from functools import partial
from typing import Annotated, Any, TypeVar

import anyio
from mcp.client.client import Client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    InputRequiredResult,
    ListToolsResult,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Discriminator, Tag, TypeAdapter

from handrail import __version__
from handrail.bridges.mcp.definitions import definition_of, size_of
from handrail.bridges.mcp.errors import (
    ConnectionLost,
    HeaderMismatch,
    RequestAttempt,
    ServerRefused,
    ServerUnreachable,
    UnusableAnswer,
    current_attempt,
)
from handrail.bridges.mcp.server_settings import Server
from handrail.bridges.mcp.transports import http_transport, stdio_transport
from handrail.ext.toolsets import Definition

T = TypeVar("T")
_log = logging.getLogger("handrail.mcp")
_MOST_TOOLS = 20_000
_MOST_PAGES = 1_000
_MOST_BYTES = 100_000_000
"""Of all that a server says of its tools."""
_ANSWER: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(
    Annotated[
        Annotated[CallToolResult, Tag("complete")] | Annotated[InputRequiredResult, Tag("input_required")],
        Discriminator(lambda answer: "input_required" if _is_input_required(answer) else "complete"),
    ]
)
"""What a call is answered with. Data are held to the tool's schema where the results of all tools are."""
_FORGOTTEN, _WORDLESS = "Session terminated", "Server returned an error response"
"""How the SDK says that a server forgot our session, and that it answered with a status alone."""
_WAITS = (0.05, 0.1, 0.25)
_MOST_WAITS = 10_000


class Connection:
    """An open connection, and what its server said of its tools."""

    def __init__(self, server: Server, secrets: Mapping[str, str]) -> None:
        self.server = server
        self.loop = asyncio.get_running_loop()
        self.stale = True
        """Whether the server may have other tools by now than it told."""
        self.tools: dict[str, Definition] = {}
        """What it last said of its tools, by its own names for them."""
        self.read_at = 0.0
        self.opened_at = self.loop.time()
        self.calls = 0
        """How many are on their way."""
        self._secrets = secrets
        self._why, self._too_large = "it was closed", False
        self._client: Client | None = None
        self._stop = asyncio.Event()
        self._scope = anyio.CancelScope()
        self._ready: asyncio.Future[None] = self.loop.create_future()
        self._reading = asyncio.Lock()
        self._task = self.loop.create_task(self._own(), context=Context())
        """Without the context of the call that happened to come first."""

    @property
    def alive(self) -> bool:
        return not self._stop.is_set() and not self._task.done()

    async def opened(self) -> None:
        """Wait until it is open. Raises `Unreachable`."""
        try:
            await asyncio.wait_for(asyncio.shield(self._ready), self.server.connect_timeout)
        except TimeoutError:
            raise ServerUnreachable(f"it did not answer within {self.server.connect_timeout:g} s") from None

    async def close(self) -> None:
        """End it; a process gets a moment to end by itself."""
        self._end("it was closed")
        if self._client is None:
            self._scope.cancel()
        with suppress(Exception):
            await asyncio.shield(self._task)

    def _end(self, why: str, too_large: bool = False) -> None:
        if not self._stop.is_set():
            self._why, self._too_large = why, too_large
            self._stop.set()

    async def _own(self) -> None:
        try:
            with self._scope:
                async with Client(
                    self._transport(),
                    client_info=Implementation(name="handrail", version=__version__),
                    message_handler=self._hear,
                    cache=None,
                ) as client:
                    self._client = client
                    self._ready.set_result(None)
                    async with anyio.create_task_group() as group:
                        group.start_soon(self._listen, client)
                        await self._stop.wait()
                        group.cancel_scope.cancel()
        except Exception as error:
            self._fail(_first(error))
        finally:
            self._end("the connection ended")
            if not self._ready.done():
                self._fail(ServerUnreachable(self._why))
            self._ready.exception()  # nobody may be waiting

    def _fail(self, error: BaseException) -> None:
        why = str(error) if isinstance(error, ServerUnreachable) else _described(error)
        self._end(why)
        if not self._ready.done():
            self._ready.set_exception(ServerUnreachable(why))
        else:
            _log.info("the connection to the MCP server %s ended: %s", self.server.name, why)

    @asynccontextmanager
    async def _transport(self) -> Any:
        """The streams of messages. Why nobody answered is told by the attempt at hand."""
        if self.server.url is None:
            async with stdio_transport(self.server, self._secrets, self._end) as streams:
                yield streams
        else:
            current_attempt.set(attempt := RequestAttempt())
            try:
                async with http_transport(self.server, self.server.url, self._secrets) as streams:
                    yield streams
            except Exception as error:
                if self._client is None and (attempt.lost or attempt.status in (401, 403)):
                    raise ServerUnreachable(attempt.lost or "it does not accept the credential") from error
                raise

    async def _hear(self, message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.stale = True

    async def _listen(self, client: Client) -> None:
        """Hear of changes, where the protocol has them on a stream of their own."""
        tools = client.server_capabilities.tools
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or not (tools and tools.list_changed):
            return
        with suppress(SubscriptionLost, MCPError):
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self.stale = True
        self.stale = True

    async def definitions(self) -> Mapping[str, Definition]:
        """What the server says of its tools, asked again where it is old. Raises `Lost`."""
        async with self._reading:
            if self.stale or self.loop.time() - self.read_at > self.server.refresh:
                self.stale = False
                try:
                    self.tools = await asyncio.wait_for(self._read(), self.server.timeout)
                except BaseException as error:
                    self.stale = True
                    if isinstance(error, (TimeoutError, ServerRefused, UnusableAnswer, HeaderMismatch)):
                        raise ConnectionLost("it does not say what its tools are", False) from None
                    raise
                self.read_at = self.loop.time()
            return self.tools

    async def _read(self) -> dict[str, Definition]:
        """Every page. A server that never ends is not read to its end."""
        tools: dict[str, Definition] = {}
        cursor: str | None = None
        room = _MOST_BYTES
        for _ in range(_MOST_PAGES):
            page = await self._request(partial(_page, cursor))
            for tool in page.tools:
                definition = definition_of(tool) if self.server.takes(tool.name) else None
                if definition is None or tool.name in tools:
                    continue
                if (room := room - size_of(definition)) < 0:
                    return tools
                tools[tool.name] = definition
            if not page.next_cursor or page.next_cursor == cursor or len(tools) >= _MOST_TOOLS:
                break
            cursor = page.next_cursor
        return tools

    async def call(self, name: str, args: dict[str, Any], progress: ProgressFnT) -> CallToolResult:
        """Call a tool by the server's own name for it.

        Where the server waits for something of its own, its state is handed back until it is done. What it
        wants to ask of a person or a model is declined.
        """
        state: str | None = None
        self.calls += 1
        try:
            for number in range(_MOST_WAITS):
                answer = await self._request(partial(_call, name, args, progress, state))
                if not isinstance(answer, InputRequiredResult):
                    return answer
                if answer.input_requests:
                    raise ServerRefused(
                        "It wants to ask somebody something before it goes on, which is declined."
                    )
                state = answer.request_state
                await asyncio.sleep(_WAITS[min(number, len(_WAITS) - 1)])
            raise ServerRefused("It does not come to an end.")
        finally:
            self.calls -= 1

    async def _request(self, send: Callable[[Client], Awaitable[T]]) -> T:
        """The answer to one request, or what became of it."""
        if not self.alive or self._client is None:
            raise ConnectionLost(self._why, False)
        attempt = RequestAttempt(arrived=self.server.url is None)
        token = current_attempt.set(attempt)
        try:
            return await send(self._client)
        except MCPError as error:
            if error.code == HEADER_MISMATCH:
                self.stale = True
                raise HeaderMismatch(error.message) from None
            if attempt.lost or error.code == CONNECTION_CLOSED or _is_no_answer(attempt, error):
                self.stale = True
                why = attempt.lost or (self._why if not self.alive else error.message)
                if attempt.too_large or (self._too_large and self.calls == 1):
                    raise UnusableAnswer(why) from None
                raise ConnectionLost(why, attempt.arrived) from None
            if error.message == _FORGOTTEN:  # so it did nothing
                self._end("it forgot the session")
                raise ConnectionLost("it forgot the session", False) from None
            if attempt.status in (401, 403):
                raise ServerRefused("It does not accept the credential.") from None
            raise ServerRefused(error.message) from None
        except ValueError as error:  # a result that is none
            raise UnusableAnswer("it is none that the protocol knows") from error
        finally:
            current_attempt.reset(token)


async def _page(cursor: str | None, client: Client) -> ListToolsResult:
    return await client.list_tools(cursor=cursor)


async def _call(
    name: str, args: dict[str, Any], progress: ProgressFnT, state: str | None, client: Client
) -> CallToolResult | InputRequiredResult:
    params = CallToolRequestParams(name=name, arguments=args, request_state=state)
    return await client.session.send_request(
        CallToolRequest(params=params), _ANSWER, progress_callback=progress
    )


def _is_input_required(answer: Any) -> bool:
    return isinstance(answer, Mapping) and answer.get("resultType") == "input_required"


def _is_no_answer(attempt: RequestAttempt, error: MCPError) -> bool:
    """Whether somebody in between answered, and nobody knows what the server did."""
    return attempt.status is not None and attempt.status >= 500 and error.message == _WORDLESS


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _described(error: BaseException) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such command, or no such folder"
    if isinstance(error, MCPError) and error.code == CONNECTION_CLOSED:
        return "it ended the connection before it answered the first request"
    if isinstance(error, MCPError):
        return f"it answered {error.message!r} to the first request"
    return f"{type(error).__name__}"
