"""Run: a command from its start until the last of its processes is gone, and what it printed."""

from __future__ import annotations

import asyncio
import codecs
import os
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from handrail import ToolError
from handrail.toolsets.workspace.shell import reaper
from handrail.toolsets.workspace.shell.sandbox import (
    INSTALL_HINT,
    CommandLimits,
    SandboxSpec,
    bwrap_command,
    command_environment,
    limited_command,
    wait_script,
)
from handrail.toolsets.workspace.shell.sandbox_process import SandboxProcess

MAX_KEPT = 1_000_000
"""Bytes of one stream that are kept."""


class BoundedOutput:
    """One stream. The middle is left out when there is too much, and it is said how much."""

    __slots__ = ("_head", "_most", "_tail", "total")

    def __init__(self, most: int = MAX_KEPT) -> None:
        self._most = most // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = self._most - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data[-self._most :] if len(data) > self._most else data
        if len(self._tail) > 2 * self._most:
            del self._tail[: -self._most]

    @property
    def missing(self) -> int:
        """Bytes that were left out."""
        return max(0, self.total - 2 * self._most)

    def text(self) -> str:
        """As text; bytes that are none become `�`, and no character is cut in two."""
        tail = bytes(self._tail[-self._most :])
        if not self.missing:
            return (bytes(self._head) + tail).decode(errors="replace")
        # a decoder that waits for more leaves out the first bytes of a character that was cut
        head = codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(self._head))
        end = _whole_start(tail).decode(errors="replace")
        return f"{head}\n[{self.missing:,} bytes left out here]\n{end}"


def _whole_start(data: bytes) -> bytes:
    """Without the last bytes of a character that was cut at the start."""
    return data[:3].lstrip(bytes(range(0x80, 0xC0))) + data[3:]


EndReason = Literal["exited", "timeout", "output", "processes", "memory"]
OutputListener = Callable[[bytes], None]
_CHUNK = 64 * 1024
_GRACE = 5.0


@dataclass(slots=True)
class CommandResult:
    """How a command ended, and what it printed."""

    stdout: BoundedOutput = field(default_factory=BoundedOutput)
    stderr: BoundedOutput = field(default_factory=BoundedOutput)
    exit_code: int | None = None
    ended: EndReason = "exited"
    seconds: float = 0.0


async def run_sandboxed(
    command: str,
    spec: SandboxSpec,
    folder: Path,
    limits: CommandLimits,
    timeout: float,
    on_output: OutputListener,
) -> CommandResult:
    """Run it in a sandbox. When this returns, or is cancelled, its last process is gone."""

    async def run(stop: asyncio.Event) -> CommandResult:
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb", 0) as telling:
            ready = os.dup(writing)
            try:
                line = bwrap_command(
                    spec, folder, limited_command(command, limits, wait_script(ready)), writing
                )
                process = await _start(line, (writing, ready), None)
            finally:
                os.close(writing)
                os.close(ready)
            box = SandboxProcess(process, telling)
            result = await _run_to_end(
                process, box.end, box.limit_watcher(limits), limits, timeout, on_output, stop
            )
        if not box.has_begun and result.ended == "exited" and not stop.is_set():
            raise no_sandbox(f"bubblewrap does not start ({_last_line(result.stderr)})")
        return result

    return await _run_uninterrupted(run)


async def run_bare(
    command: str, folder: Path, limits: CommandLimits, timeout: float, on_output: OutputListener
) -> CommandResult:
    """Run it without a sandbox, below a reaper that ends whatever it leaves behind."""

    async def run(stop: asyncio.Event) -> CommandResult:
        reaping = (sys.executable, "-I", "-S", reaper.__file__, str(limits.processes))
        process = await _start([*reaping, *limited_command(command, limits)], (), folder)
        stdin = cast(asyncio.StreamWriter, process.stdin)

        async def end() -> None:
            stdin.close()
            await process.wait()

        async def limit_watcher() -> EndReason:
            await process.wait()
            return "processes" if process.returncode == reaper.TOO_MANY else "exited"

        return await _run_to_end(process, end, limit_watcher, limits, timeout, on_output, stop)

    return await _run_uninterrupted(run)


async def _run_uninterrupted(
    run: Callable[[asyncio.Event], Coroutine[Any, Any, CommandResult]],
) -> CommandResult:
    """Nothing interrupts a run but the wish to stop, so that it always ends in order."""
    stop = asyncio.Event()
    running = asyncio.ensure_future(run(stop))
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait((running,))
        except asyncio.CancelledError as error:
            cancelled = error
            stop.set()
    if cancelled is not None:
        raise cancelled
    return running.result()


async def _start(line: list[str], pass_fds: tuple[int, ...], folder: Path | None) -> Process:
    """A process with all three pipes."""
    return await asyncio.create_subprocess_exec(
        *line,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        pass_fds=pass_fds,
        cwd=folder,
        env=command_environment(os.environ),
        start_new_session=True,
        limit=_CHUNK,
    )


async def _run_to_end(
    process: Process,
    end: Callable[[], Awaitable[None]],
    limit_watcher: Callable[[], Awaitable[EndReason]],
    limits: CommandLimits,
    timeout: float,
    on_output: OutputListener,
    stop: asyncio.Event,
) -> CommandResult:
    """The life of a command, ended by itself, by the clock or by a limit."""
    start = time.monotonic()
    result = CommandResult()
    full = asyncio.Event()

    async def read(stream: asyncio.StreamReader, printed: BoundedOutput) -> None:
        while data := await stream.read(_CHUNK):
            if full.is_set():  # what it still prints until it is gone is lost
                continue
            printed.add(data)
            on_output(data)
            if result.stdout.total + result.stderr.total > limits.output:
                full.set()

    readers = [
        asyncio.ensure_future(read(cast(asyncio.StreamReader, stream), printed))
        for stream, printed in ((process.stdout, result.stdout), (process.stderr, result.stderr))
    ]
    exiting = asyncio.ensure_future(process.wait())
    filling = asyncio.ensure_future(full.wait())
    watching = asyncio.ensure_future(limit_watcher())
    stopping = asyncio.ensure_future(stop.wait())
    try:
        waited = {exiting, filling, watching, stopping}
        done, _ = await asyncio.wait(waited, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        result.ended = "output" if filling in done else "exited" if exiting in done else "timeout"
        if watching in done and not watching.cancelled() and watching.exception() is None:
            result.ended = watching.result()
    finally:
        for task in (filling, watching, stopping):
            task.cancel()
        await end()
        result.seconds = time.monotonic() - start
        await _drain(readers)
    if full.is_set():
        result.ended = "output"
    result.exit_code = process.returncode if result.ended == "exited" else None
    return result


async def _drain(readers: list[asyncio.Task[None]]) -> None:
    """What is still in the pipes; nobody writes to them any more."""
    await asyncio.wait(readers, timeout=_GRACE)
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)


def _last_line(printed: BoundedOutput) -> str:
    lines = printed.text().strip().splitlines()
    return lines[-1] if lines else "it says nothing"


def no_sandbox(why: str) -> ToolError:
    return ToolError(
        f"Commands only run in a sandbox, and there is none: {why}. Whoever runs this machine can install it "
        f"({INSTALL_HINT}), or allow commands without one in the settings.",
        code="NO_SANDBOX",
    )


def no_network() -> ToolError:
    return ToolError(
        "Commands have no network in this workspace. Run it without network, or use webfetch to read a page.",
        code="NO_NETWORK",
    )
