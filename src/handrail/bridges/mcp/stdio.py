"""A server that is a process of ours: started with what the settings name, spoken to over its pipes."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from handrail.bridges.mcp.server import Secret, Server

_log = logging.getLogger("handrail.mcp")
_GRACE = 2.0
_POLL = 0.02
_LAST_WORDS = 1_000
_KEPT = 65_536
"""Bytes of its error output that are kept: far more than is told, so that no secret is cut in two."""


def environment(server: Server, secrets: Mapping[str, str]) -> dict[str, str]:
    """What the process finds in its environment: what is named, and nothing else of ours."""
    inherited = {name: os.environ[name] for name in server.inherit if name in os.environ}
    given = {
        name: secrets[value.name] if isinstance(value, Secret) else value
        for name, value in server.env.items()
    }
    return inherited | given


@asynccontextmanager
async def over_pipes(
    server: Server, secrets: Mapping[str, str], ended: Callable[[str, bool], None]
) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of messages from and to the process.

    `ended` hears why no more of them come, and whether one was too large.
    """
    assert server.command is not None
    process = await asyncio.create_subprocess_exec(
        server.command,
        *server.args,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env=environment(server, secrets),
        cwd=server.cwd,
        start_new_session=True,
        limit=server.max_bytes,
    )
    incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, outgoing = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with incoming:
            try:
                await _read(process, server, incoming)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass  # nobody listens any more
            except ValueError:
                ended(f"it sent an answer of more than {server.max_bytes} bytes", True)
            finally:
                ended("its process is gone", False)

    async def write() -> None:
        assert process.stdin is not None
        async with outgoing:
            async for message in outgoing:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    process.stdin.write(text.encode() + b"\n")
                    await process.stdin.drain()
                except OSError:
                    ended("its process is gone", False)
                    await incoming.aclose()
                    return

    words = asyncio.ensure_future(_last_words(process, server, secrets))
    tasks = [words, *(asyncio.ensure_future(one) for one in (read(), write()))]
    try:
        yield received, sent
    finally:
        try:
            with anyio.CancelScope(shield=True):
                if process.stdout is not None and process.stdout.at_eof():
                    await asyncio.wait({words}, timeout=_GRACE)  # it is gone by itself: hear why
                for task in tasks:
                    task.cancel()
                await _end(process)
                await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            _kill(process)
            for stream in (received, sent, incoming, outgoing):
                stream.close()


async def _read(process: Process, server: Server, incoming: Any) -> None:
    """Hand on what the process says, a line a message, until it says no more."""
    assert process.stdout is not None
    while line := await process.stdout.readline():
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            _log.debug("the MCP server %s wrote a line that is no message", server.name)
            continue
        await incoming.send(SessionMessage(message))


async def _last_words(process: Process, server: Server, secrets: Mapping[str, str]) -> None:
    """Keep its error output flowing, so that it never waits for us; if it goes, the log has the end of it."""
    assert process.stderr is not None
    kept = b""
    while piece := await process.stderr.read(65_536):
        kept = (kept + piece)[-_KEPT:]
    said = kept.decode("utf-8", "replace")
    for value in secrets.values():
        said = said.replace(value, "…")
    if said := said.strip()[-_LAST_WORDS:]:
        _log.warning("the MCP server %s is gone; its last words: %s", server.name, said)


async def _end(process: Process) -> None:
    """Close its input and give it time; then end it, and every process that it started."""
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    for how in (None, signal.SIGTERM, signal.SIGKILL):
        if how is not None:
            _signal(process.pid, how)
        if await _gone(process):
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


async def _gone(process: Process) -> bool:
    loop = asyncio.get_running_loop()
    until = loop.time() + _GRACE
    # not `process.wait()`: it also waits for the pipes, which a grandchild may hold
    while process.returncode is None and loop.time() < until:  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(_POLL)
    return process.returncode is not None
