"""Running: a command from its start until the last of its processes is gone, however it ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from handrail.ext import ToolError
from handrail.toolsets.workspace.shell import keeper
from handrail.toolsets.workspace.shell.counting import over_limit
from handrail.toolsets.workspace.shell.printed import Printed
from handrail.toolsets.workspace.shell.sandbox import INSTALL, Limits, Shown, environment, limited, sandboxed

T = TypeVar("T")
Ended = Literal["exited", "timeout", "output", "processes", "memory"]
Hear = Callable[[bytes], None]
_CHUNK = 64 * 1024
_TICK = 0.05
_GRACE = 5.0
_LOW = 10
"""How much a command yields to others when the processor is scarce."""


@dataclass(slots=True)
class Ran:
    """How a command ended, and what it printed."""

    stdout: Printed = field(default_factory=Printed)
    stderr: Printed = field(default_factory=Printed)
    exit_code: int | None = None
    ended: Ended = "exited"
    seconds: float = 0.0


async def run_sandboxed(
    command: str, shown: Shown, folder: Path, limits: Limits, timeout: float, hear: Hear
) -> Ran:
    """Run it in a sandbox. When this returns, or is cancelled, its last process is gone."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", 0) as info:
        try:
            line = sandboxed(shown, folder, limited(command, limits), writing)
            process = await _started(line, (writing,), None)
        finally:
            os.close(writing)
        telling = asyncio.ensure_future(asyncio.to_thread(_first_process, info.read))
        box = _Box(process, telling)
        return await _lived(process, box.end, box.over(limits), limits, timeout, hear)


async def run_bare(command: str, folder: Path, limits: Limits, timeout: float, hear: Hear) -> Ran:
    """Run it without a sandbox, below a keeper that ends whatever it leaves behind."""
    inner = [sys.executable, "-I", "-S", keeper.__file__, str(limits.processes), *limited(command, limits)]
    process = await _started(inner, (), folder, stdin=PIPE)

    async def end() -> None:
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), _GRACE)
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def never() -> Ended:
        await process.wait()
        return "processes" if process.returncode == keeper.TOO_MANY else "exited"

    return await _lived(process, end, never, limits, timeout, hear)


async def _started(
    line: list[str], kept: tuple[int, ...], folder: Path | None, stdin: int = DEVNULL
) -> Process:
    process = await asyncio.create_subprocess_exec(
        *line,
        stdin=stdin,
        stdout=PIPE,
        stderr=PIPE,
        pass_fds=kept,
        cwd=folder,
        env=environment(os.environ),
        start_new_session=True,
        limit=_CHUNK,
    )
    with suppress(ProcessLookupError, PermissionError):
        os.setpriority(os.PRIO_PROCESS, process.pid, _LOW)
    return process


async def _lived(
    process: Process,
    end: Callable[[], Awaitable[None]],
    over: Callable[[], Awaitable[Ended]],
    limits: Limits,
    timeout: float,
    hear: Hear,
) -> Ran:
    """The life of a command, ended by itself, by the clock or by a limit."""
    start = time.monotonic()
    ran = Ran()
    full = asyncio.Event()

    async def read(stream: asyncio.StreamReader | None, printed: Printed) -> None:
        assert stream is not None
        while data := await stream.read(_CHUNK):
            printed.add(data)
            hear(data)
            if ran.stdout.total + ran.stderr.total > limits.output:
                full.set()
                return

    readers = [
        asyncio.ensure_future(read(process.stdout, ran.stdout)),
        asyncio.ensure_future(read(process.stderr, ran.stderr)),
    ]
    exiting = asyncio.ensure_future(process.wait())
    filling = asyncio.ensure_future(full.wait())
    watching = asyncio.ensure_future(over())
    try:
        waited = {exiting, filling, watching}
        done, _ = await asyncio.wait(waited, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        ran.ended = "output" if filling in done else "exited" if exiting in done else "timeout"
        if watching in done and not watching.cancelled() and watching.exception() is None:
            ran.ended = watching.result()
    finally:
        watching.cancel()
        filling.cancel()
        await _surely(end())
        ran.seconds = time.monotonic() - start
        await _drained(readers)
    if full.is_set():
        ran.ended = "output"
    ran.exit_code = process.returncode if ran.ended == "exited" else None
    return ran


async def _drained(readers: list[asyncio.Task[None]]) -> None:
    """What is still in the pipes; nobody writes to them any more."""
    await asyncio.wait(readers, timeout=_GRACE)
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)


async def _surely(work: Awaitable[T]) -> T:
    """Wait for the end of it, however often this is cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return task.result()


class _Box:
    """A running sandbox: its first process, whose end is the end of all the others."""

    def __init__(self, process: Process, telling: asyncio.Future[int | None]) -> None:
        self._process = process
        self._telling = telling

    def over(self, limits: Limits) -> Callable[[], Awaitable[Ended]]:
        async def watch() -> Ended:
            """Ends when a limit is passed that nothing else enforces."""
            first = await asyncio.shield(self._telling)
            ticks = 0
            while first is not None:
                await asyncio.sleep(_TICK)
                ticks += 1
                if (passed := over_limit(first, limits, memory=ticks % 4 == 0)) is not None:
                    return passed
            await self._process.wait()
            return "exited"

        return watch

    async def end(self) -> None:
        first = await self._telling
        if first is None:
            await self._process.wait()
            return
        try:
            handle = os.pidfd_open(first)
        except ProcessLookupError:
            handle = -1
        try:
            if handle >= 0:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                await _gone(handle)
        finally:
            if handle >= 0:
                os.close(handle)
        await self._process.wait()


async def _gone(handle: int) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(handle, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(handle)


def _first_process(read: Callable[[int], bytes]) -> int | None:
    """The process that the sandbox says is its first; None when it could not start."""
    said = b""
    while data := read(4096):
        said += data
        if b"}" in said:
            break
    try:
        return int(json.loads(said)["child-pid"])
    except (ValueError, KeyError):
        return None


def no_sandbox(why: str) -> ToolError:
    return ToolError(
        f"Commands only run in a sandbox, and there is none: {why}. Whoever runs this machine can install it "
        f"({INSTALL}), or allow commands without one in the settings.",
        code="NO_SANDBOX",
    )
