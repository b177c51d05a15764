"""Running: a command from its start until the last of its processes is gone, however it ends."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from handrail.ext import ToolError
from handrail.toolsets.workspace.shell import keeper
from handrail.toolsets.workspace.shell.boxing import Box
from handrail.toolsets.workspace.shell.printed import Printed
from handrail.toolsets.workspace.shell.sandbox import (
    INSTALL,
    Limits,
    Shown,
    environment,
    limited,
    sandboxed,
    waiting,
)

Ended = Literal["exited", "timeout", "output", "processes", "memory"]
Hear = Callable[[bytes], None]
_CHUNK = 64 * 1024
_GRACE = 5.0


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

    async def run(stop: asyncio.Event) -> Ran:
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb", 0) as telling:
            ready = os.dup(writing)
            try:
                line = sandboxed(shown, folder, limited(command, limits, waiting(ready)), writing)
                process = await _started(line, (writing, ready), None)
            finally:
                os.close(writing)
                os.close(ready)
            box = Box(process, telling)
            ran = await _lived(process, box.end, box.over(limits), limits, timeout, hear, stop)
        if not box.has_begun and ran.ended == "exited" and not stop.is_set():
            raise no_sandbox(f"bubblewrap does not start ({_last_line(ran.stderr)})")
        return ran

    return await _stoppable(run)


async def run_bare(command: str, folder: Path, limits: Limits, timeout: float, hear: Hear) -> Ran:
    """Run it without a sandbox, below a keeper that ends whatever it leaves behind."""

    async def run(stop: asyncio.Event) -> Ran:
        line = [sys.executable, "-I", "-S", keeper.__file__, str(limits.processes), *limited(command, limits)]
        process = await _started(line, (), folder)

        async def end() -> None:
            assert process.stdin is not None
            process.stdin.close()
            await process.wait()

        async def over() -> Ended:
            await process.wait()
            return "processes" if process.returncode == keeper.TOO_MANY else "exited"

        return await _lived(process, end, over, limits, timeout, hear, stop)

    return await _stoppable(run)


async def _stoppable(run: Callable[[asyncio.Event], Coroutine[Any, Any, Ran]]) -> Ran:
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


async def _started(line: list[str], kept: tuple[int, ...], folder: Path | None) -> Process:
    return await asyncio.create_subprocess_exec(
        *line,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        pass_fds=kept,
        cwd=folder,
        env=environment(os.environ),
        start_new_session=True,
        limit=_CHUNK,
    )


async def _lived(
    process: Process,
    end: Callable[[], Awaitable[None]],
    over: Callable[[], Awaitable[Ended]],
    limits: Limits,
    timeout: float,
    hear: Hear,
    stop: asyncio.Event,
) -> Ran:
    """The life of a command, ended by itself, by the clock or by a limit."""
    start = time.monotonic()
    ran = Ran()
    full = asyncio.Event()

    async def read(stream: asyncio.StreamReader | None, printed: Printed) -> None:
        assert stream is not None
        while data := await stream.read(_CHUNK):
            if full.is_set():  # what it still prints until it is gone is lost
                continue
            printed.add(data)
            hear(data)
            if ran.stdout.total + ran.stderr.total > limits.output:
                full.set()

    readers = [
        asyncio.ensure_future(read(process.stdout, ran.stdout)),
        asyncio.ensure_future(read(process.stderr, ran.stderr)),
    ]
    exiting = asyncio.ensure_future(process.wait())
    filling = asyncio.ensure_future(full.wait())
    watching = asyncio.ensure_future(over())
    stopping = asyncio.ensure_future(stop.wait())
    try:
        waited = {exiting, filling, watching, stopping}
        done, _ = await asyncio.wait(waited, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        ran.ended = "output" if filling in done else "exited" if exiting in done else "timeout"
        if watching in done and not watching.cancelled() and watching.exception() is None:
            ran.ended = watching.result()
    finally:
        for task in (filling, watching, stopping):
            task.cancel()
        await end()
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


def _last_line(printed: Printed) -> str:
    lines = printed.text().strip().splitlines()
    return lines[-1] if lines else "it says nothing"


def no_sandbox(why: str) -> ToolError:
    return ToolError(
        f"Commands only run in a sandbox, and there is none: {why}. Whoever runs this machine can install it "
        f"({INSTALL}), or allow commands without one in the settings.",
        code="NO_SANDBOX",
    )


def no_network() -> ToolError:
    return ToolError(
        "Commands have no network in this workspace. Run it without network, or use webfetch to read a page.",
        code="NO_NETWORK",
    )
