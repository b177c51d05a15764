"""A body in a process of its own: named by import path, stoppable by force.

The two ends share a socket: the request goes out, lines of JSON come back. It is a lifeline too: when this
end is gone, the process kills itself and what it started.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing, suppress
from inspect import ismethod
from typing import Any, BinaryIO

from handrail.core.define.context import Context
from handrail.core.define.tool import Body, InitContext, Tool
from handrail.core.errors import RemoteError, ToolError
from handrail.core.run.process_child import facts_of, from_portable

_START = "from handrail.core.run.process_child import main; main()"
_PRINTED = 2_000
_LINE_LIMIT = 64 * 1024 * 1024
_LAST_WORDS = 1.0
"""Seconds for what a process that is gone left in its channels."""


class ProcessDied(Exception):
    """The body's process ended without an answer."""

    def __init__(self, message: str, began: bool) -> None:
        super().__init__(message)
        self.began = began
        """Whether the body may have run."""


async def run_in_process(
    tool_id: str, body: Body, args: Mapping[str, Any], ctx: Context, init: InitContext, grace: float
) -> Any:
    """The body's value, from a process that is gone, with all its children, when this returns."""
    request = {
        "module": _module_of(body),
        "function": body.fn.__qualname__,
        "tool": tool_id,
        "args": args,
        "facts": facts_of(ctx),
        "working_dir": init.working_dir,
    }
    async with _channels() as (lines, writer, tail, theirs, printing):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-c", _START, str(theirs.fileno())),
            stdin=DEVNULL,
            stdout=printing,
            stderr=printing,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
        )
        theirs.close()
        printing.close()
        try:
            answer = await _converse(process, _Talk(lines, writer, ctx), tail, request)
            with suppress(TimeoutError):  # it may have something to do at exit
                await asyncio.wait_for(process.wait(), grace)
        finally:
            await _stop(process, grace)
    if "classes" in answer:
        raise RemoteError(answer["error"], answer["classes"])
    if "error" in answer:
        raise ToolError(answer["error"], code=answer["code"], retry_after=answer.get("retry_after"))
    return from_portable(answer["result"])


@asynccontextmanager
async def _channels() -> AsyncIterator[
    tuple[asyncio.StreamReader, asyncio.StreamWriter, _Tail, socket.socket, BinaryIO]
]:
    """A socket to talk over and a pipe for what is printed: our ends connected, theirs to be handed on."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb", 0) as printed, os.fdopen(writing, "wb", 0) as printing:
            pipe, tail = await asyncio.get_running_loop().connect_read_pipe(_Tail, printed)
            with closing(pipe):
                lines, writer = await asyncio.open_connection(sock=ours, limit=_LINE_LIMIT)
                with closing(writer):
                    yield lines, writer, tail, theirs, printing


def _module_of(body: Body) -> str:
    """The module that defines the tool at its top level: mostly, but not always, that of its function."""
    fn = body.fn
    if ismethod(fn):
        return type(fn.__self__).__module__
    for name in (fn.__module__, *sys.modules):
        values = list(getattr(sys.modules.get(name), "__dict__", {}).values())
        if name != "__main__" and any(type(value) is Tool and value.body is body for value in values):
            return name
    return str(fn.__module__)


async def _converse(process: Process, talk: _Talk, tail: _Tail, request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of the process; raises `ProcessDied` when it ends without one."""
    answering = asyncio.create_task(talk.answer(request))
    exiting = asyncio.create_task(process.wait())
    try:
        await asyncio.wait({answering, exiting}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            _signal_group(process.pid, signal.SIGKILL)  # who is left must not hold the channel open
            await asyncio.wait({answering}, timeout=_LAST_WORDS)
        if answering.done() and (answer := answering.result()) is not None:
            return answer
        code = await exiting
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        printed = await tail.text()
        words = f"The process of {request['tool']} ended ({how}) before it answered."
        raise ProcessDied(f"{words} It said: {printed}" if printed else words, talk.began)
    finally:
        answering.cancel()
        exiting.cancel()
        await asyncio.gather(answering, exiting, return_exceptions=True)


class _Talk:
    """What the process says, line by line."""

    def __init__(self, lines: asyncio.StreamReader, writer: asyncio.StreamWriter, ctx: Context) -> None:
        self._lines = lines
        self._writer = writer
        self._ctx = ctx
        self.began = False

    async def answer(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """Ask, pass on progress and output, and give the answer; None when there is none."""
        with suppress(ConnectionError):
            self._writer.write(json.dumps(request).encode() + b"\n")
            await self._writer.drain()
            while line := await self._line():
                message = json.loads(line)
                if "result" in message or "error" in message:
                    return dict(message)
                if "progress" in message:
                    self._ctx.metadata(message["progress"])
                elif "chunk" in message:
                    self._ctx.append_output(message["chunk"])
                else:
                    self.began = True
        return None

    async def _line(self) -> bytes:
        """The next whole line; empty at the end, and where the process was killed in the middle of one."""
        try:
            line = await self._lines.readline()
            return line if line.endswith(b"\n") else b""
        except ValueError:  # asyncio's word for a line beyond the limit
            much = f"more than {_LINE_LIMIT // 1024**2} MB at once"
            raise ToolError(f"Its process answered with {much}.", code="INVALID_OUTPUT") from None


class _Tail(asyncio.Protocol):
    """The end of what the process printed; all of it is read, so that printing never blocks."""

    def __init__(self) -> None:
        self._printed = b""
        self._over = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self._printed = (self._printed + data)[-_PRINTED:]

    def connection_lost(self, _: Exception | None) -> None:
        self._over.set()

    async def text(self) -> str:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), _LAST_WORDS)
        return self._printed.decode(errors="replace").strip()


async def _stop(process: Process, grace: float) -> None:
    """End the process and everything it started: asked first; by force after the grace, or once cancelled."""
    try:
        if process.returncode is None:
            _signal_group(process.pid, signal.SIGTERM)
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), grace)
    finally:
        _signal_group(process.pid, signal.SIGKILL)
        await _reaped(process)


async def _reaped(process: Process) -> None:
    """A killed process is gone in a moment; it is waited for however often the call is cancelled then."""
    gone = asyncio.ensure_future(process.wait())
    cancelled: asyncio.CancelledError | None = None
    while not gone.done():
        try:
            await asyncio.shield(gone)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


def _signal_group(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
