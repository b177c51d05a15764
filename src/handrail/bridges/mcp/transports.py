"""How messages go to a server: over the pipes of a process of ours, or by HTTP; both bounded."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import CONNECTION_CLOSED, jsonrpc_message_adapter

from handrail.bridges.mcp.errors import RequestAttempt, current_attempt
from handrail.bridges.mcp.server_settings import Secret, Server

_log = logging.getLogger("handrail.mcp")
_GRACE = 2.0
_POLL = 0.02
_MAX_LOGGED = 1_000

_MAX_STDERR = 65_536
"""Bytes of its error output that are kept: far more than is told, so that no secret is cut in two."""


def environment(server: Server, secrets: Mapping[str, str]) -> dict[str, str]:
    """What the process finds in its environment: what is named, and nothing else of ours."""
    inherited = {name: os.environ[name] for name in server.inherit if name in os.environ}
    return inherited | {
        name: secrets[value.name] if isinstance(value, Secret) else value
        for name, value in server.env.items()
    }


@asynccontextmanager
async def stdio_transport(
    server: Server, secrets: Mapping[str, str], ended: Callable[[str, bool], None]
) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of messages from and to the process.

    `ended` hears why no more of them come, and whether one was too large.
    """
    process = await asyncio.create_subprocess_exec(
        server.command or "",  # one without an address has a command
        *server.args,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env=environment(server, secrets),
        cwd=server.cwd,
        start_new_session=True,
        limit=server.max_bytes,
    )
    stdin, stdout, stderr = _pipes(process)
    incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, outgoing = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with incoming:
            try:
                await _read(stdout, server, incoming)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass  # nobody listens any more
            except ValueError:
                ended(f"it sent an answer of more than {server.max_bytes} bytes", True)
            finally:
                ended("its process is gone", False)

    async def write() -> None:
        async with outgoing:
            async for message in outgoing:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    stdin.write(text.encode() + b"\n")
                    await stdin.drain()
                except OSError:
                    ended("its process is gone", False)
                    await incoming.aclose()
                    return

    logged = asyncio.ensure_future(_log_stderr(stderr, server, secrets))
    tasks = [logged, asyncio.ensure_future(read()), asyncio.ensure_future(write())]
    try:
        yield received, sent
    finally:
        try:
            with anyio.CancelScope(shield=True):
                if stdout.at_eof():
                    await asyncio.wait({logged}, timeout=_GRACE)  # it is gone by itself: hear why
                for task in tasks:
                    task.cancel()
                await _terminate(process, stdin)
                await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            _kill(process)
            for stream in (received, sent, incoming, outgoing):
                stream.close()


def _pipes(process: Process) -> tuple[StreamWriter, StreamReader, StreamReader]:
    """The pipes that every process of ours is started with."""
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise RuntimeError("the process was started without its pipes")
    return process.stdin, process.stdout, process.stderr


async def _read(stdout: StreamReader, server: Server, incoming: Any) -> None:
    """Hand on what the process says, a line a message, until it says no more."""
    while line := await stdout.readline():
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            _log.debug("the MCP server %s wrote a line that is no message", server.name)
            continue
        await incoming.send(SessionMessage(message))


async def _log_stderr(stderr: StreamReader, server: Server, secrets: Mapping[str, str]) -> None:
    """Keep its error output flowing, so that it never waits for us; if it goes, the log has the end of it."""
    tail = b""
    while piece := await stderr.read(65_536):
        tail = (tail + piece)[-_MAX_STDERR:]
    text = tail.decode("utf-8", "replace")
    for value in secrets.values():
        text = text.replace(value, "…")
    if text := text.strip()[-_MAX_LOGGED:]:
        _log.warning("the MCP server %s is gone; its last words: %s", server.name, text)


async def _terminate(process: Process, stdin: StreamWriter) -> None:
    """Close its input and give it time; then end it, and every process that it started."""
    with suppress(OSError):
        stdin.close()
    for how in (None, signal.SIGTERM, signal.SIGKILL):
        if how is not None:
            _signal(process.pid, how)
        if await _has_exited(process):
            return


def _kill(process: Process) -> None:
    """Leave nothing behind: neither the process nor what it started, nor the pipes that those hold."""
    _signal(process.pid, signal.SIGKILL)
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


def _signal(group: int, how: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, how)


async def _has_exited(process: Process) -> bool:
    loop = asyncio.get_running_loop()
    until = loop.time() + _GRACE
    # not `process.wait()`: it also waits for the pipes, which a grandchild may hold
    while process.returncode is None and loop.time() < until:  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(_POLL)
    return process.returncode is not None


_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
_STREAM = "text/event-stream"


@asynccontextmanager
async def http_transport(
    server: Server, url: str, secrets: Mapping[str, str]
) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of messages from and to an address."""
    headers = {"accept-encoding": "identity"}
    if server.secret is not None:
        headers["authorization"] = f"Bearer {secrets[server.secret]}"
    timeout = httpx2.Timeout(server.connect_timeout, read=None)
    bounded = BoundedTransport(httpx2.AsyncHTTPTransport(), server.max_bytes)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, transport=bounded, trust_env=False) as http,
        streamable_http_client(url, http_client=http, max_sse_event_size=server.max_bytes) as streams,
    ):
        yield streams


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Sends requests, and answers itself where no answer comes."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, most: int) -> None:
        self._inner = inner
        self._most = most

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        attempt = current_attempt.get() or RequestAttempt()  # where nobody waits, nobody reads it
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            attempt.arrived = attempt.arrived or not isinstance(error, _NEVER_SENT)
            attempt.lost = _describe_error(error)
            return _connection_closed_response(request)
        attempt.arrived, attempt.status = True, response.status_code
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            attempt.lost = "it sent an answer that is compressed, which nobody asked for"
            return _connection_closed_response(request)
        is_stream = response.headers.get("content-type", "").lower().startswith(_STREAM)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedStream(response.stream, None if is_stream else self._most)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    """What is read of an answer, up to a bound. Each event of a stream has a bound of its own."""

    def __init__(self, inner: httpx2.AsyncByteStream, most: int | None) -> None:
        self._inner = inner
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        try:
            async for piece in self._inner:
                read += len(piece)
                if self._most is not None and read > self._most:
                    raise _broken(f"it sent an answer of more than {self._most} bytes", too_large=True)
                yield piece
        except httpx2.TransportError as error:
            raise _broken(_describe_error(error)) from None

    async def aclose(self) -> None:
        await self._inner.aclose()


def _broken(why: str, too_large: bool = False) -> Exception:
    """An error that ends this answer, and nothing else of the connection."""
    attempt = current_attempt.get()
    if attempt is not None:
        attempt.lost, attempt.too_large = why, too_large
    return httpx2.StreamError(why)


def _describe_error(error: Exception) -> str:
    return f"the connection failed ({type(error).__name__})"


def _connection_closed_response(request: httpx2.Request) -> httpx2.Response:
    error = {"code": CONNECTION_CLOSED, "message": "Connection closed"}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    headers = {"content-type": "application/json"}
    return httpx2.Response(502, headers=headers, content=body, request=request)
