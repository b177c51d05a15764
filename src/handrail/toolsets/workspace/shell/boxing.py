"""Boxing: a sandbox from its start to its end. The command in it waits for a word of ours before it begins.

Whatever ends a sandbox with us is in place by then. Should we be killed before, the word never comes, and the
command has not run.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import BinaryIO, Literal

from handrail.toolsets.workspace.shell.counting import over_limit
from handrail.toolsets.workspace.shell.sandbox import READY, Limits

LOW = 10
"""How much a command yields to others when the processor is scarce."""
_TICK = 0.05
_GRACE = 5.0


class Box:
    """A running sandbox: its first process, whose end is the end of all the others."""

    def __init__(self, process: Process, telling: BinaryIO) -> None:
        self._process = process
        self._first: int | None = None
        self._handle: int | None = None
        self._is_ending = False
        self._beginning = asyncio.ensure_future(self._begin(telling))

    @property
    def has_begun(self) -> bool:
        """Whether the sandbox was ever there."""
        return self._handle is not None

    async def _begin(self, telling: BinaryIO) -> None:
        """Wait until everything is in place, then give the word."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), telling)
        try:
            first = int(json.loads(await reader.readuntil(b"}"))["child-pid"])
            await reader.readuntil(READY)
        except (asyncio.IncompleteReadError, ValueError, KeyError):
            return  # it could not start
        finally:
            transport.close()
        with suppress(ProcessLookupError):
            self._handle = os.pidfd_open(first)
            self._first = first
        if self._handle is not None and not self._is_ending:
            _put_last(first)
            self._say(b"go\n")

    def _say(self, word: bytes) -> None:
        assert self._process.stdin is not None
        if word:
            self._process.stdin.write(word)
        self._process.stdin.close()

    def over(self, limits: Limits) -> Callable[[], Awaitable[Literal["exited", "processes", "memory"]]]:
        async def watch() -> Literal["exited", "processes", "memory"]:
            """Ends when a limit is passed that nothing else enforces."""
            await asyncio.shield(self._beginning)
            ticks = 0
            while self._first is not None:
                await asyncio.sleep(_TICK)
                ticks += 1
                if (passed := over_limit(self._first, limits, memory=ticks % 4 == 0)) is not None:
                    return passed
            await self._process.wait()
            return "exited"

        return watch

    async def end(self) -> None:
        """End all of its processes, and wait until they are gone."""
        self._is_ending = True
        await asyncio.wait((self._beginning,), timeout=_GRACE)
        self._beginning.cancel()
        self._say(b"")
        if self._handle is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        else:
            try:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._handle, signal.SIGKILL)
                await _gone(self._handle)
            finally:
                os.close(self._handle)
        await self._process.wait()


def _put_last(first: int) -> None:
    """Let the command yield to others, and be the first to go when the machine has no memory left."""
    with suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{first}/task/{first}/children") as children:
            command = int(children.read().split()[0])
        os.setpriority(os.PRIO_PROCESS, command, LOW)
        with open(f"/proc/{command}/oom_score_adj", "w") as score:
            score.write("1000")


async def _gone(handle: int) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(handle, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(handle)
