"""Sandbox process: a running sandbox from its start to its end, and the limits on its processes."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import BinaryIO, Literal, cast

from handrail.toolsets.workspace.shell.sandbox import READY, CommandLimits

_SHARED = re.compile(rb"^RssShmem:\s+(\d+) kB", re.MULTILINE)
_PAGE = os.sysconf("SC_PAGE_SIZE")


def exceeded_limit(
    first: int, limits: CommandLimits, *, memory: bool
) -> Literal["processes", "memory"] | None:
    """The limit that the sandbox of this first process has passed; with `memory`, that is counted too."""
    home = f"/proc/{first}/root/proc"
    try:
        pids = [name for name in os.listdir(home) if name.isdigit()]
    except OSError:  # it is gone
        return None
    if len(pids) > limits.processes:
        return "processes"
    if memory and _used_memory(home, pids, limits.memory) > limits.memory:
        return "memory"
    return None


def _used_memory(home: str, pids: list[str], most: int) -> int:
    """What each has for itself, and the most that one of them has in common with others."""
    own, common = 0, 0
    for pid in pids:
        alone, shared = _process_memory(f"{home}/{pid}")
        own += alone
        if shared > most // 4:  # files count here too, so it is looked at more closely
            common = max(common, _shared_memory(f"{home}/{pid}"))
    return own + common


def _process_memory(process: str) -> tuple[int, int]:
    """Memory that the process shares with nobody, and that it may share."""
    try:
        with open(f"{process}/statm", "rb") as statm:
            _, resident, shared, *_ = statm.read().split()
    except (OSError, ValueError):
        return 0, 0
    return (int(resident) - int(shared)) * _PAGE, int(shared) * _PAGE


def _shared_memory(process: str) -> int:
    """Memory of a process that is no file's."""
    try:
        with open(f"{process}/status", "rb") as status:
            match = _SHARED.search(status.read())
    except OSError:
        return 0
    return 0 if match is None else int(match[1]) * 1024


NICENESS = 10
"""How much a command yields to others when the processor is scarce."""
_POLL_PAUSE = 0.05
_GRACE = 5.0


class SandboxProcess:
    """A running sandbox: its first process, whose end is the end of all the others."""

    def __init__(self, process: Process, info: BinaryIO) -> None:
        self._process = process
        self._stdin = cast(asyncio.StreamWriter, process.stdin)
        self._first: int | None = None
        self._handle: int | None = None
        self._is_ending = False
        self._beginning = asyncio.ensure_future(self._begin(info))

    @property
    def has_begun(self) -> bool:
        """Whether the sandbox was ever there."""
        return self._handle is not None

    async def _begin(self, info: BinaryIO) -> None:
        """Wait until the sandbox is ready, then let its command begin."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), info)
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
            _lower_priority(first)
            self._send(b"go\n")

    def _send(self, word: bytes) -> None:
        if word:
            self._stdin.write(word)
        self._stdin.close()

    def limit_watcher(
        self, limits: CommandLimits
    ) -> Callable[[], Awaitable[Literal["exited", "processes", "memory"]]]:
        async def watch() -> Literal["exited", "processes", "memory"]:
            """Ends when a limit is passed that nothing else enforces."""
            await asyncio.shield(self._beginning)
            ticks = 0
            while self._first is not None:
                await asyncio.sleep(_POLL_PAUSE)
                ticks += 1
                if (passed := exceeded_limit(self._first, limits, memory=ticks % 4 == 0)) is not None:
                    return passed
            await self._process.wait()
            return "exited"

        return watch

    async def end(self) -> None:
        """End all of its processes, and wait until they are gone."""
        self._is_ending = True
        await asyncio.wait((self._beginning,), timeout=_GRACE)
        self._beginning.cancel()
        self._send(b"")
        if self._handle is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        else:
            try:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._handle, signal.SIGKILL)
                await _wait_until_gone(self._handle)
            finally:
                os.close(self._handle)
        await self._process.wait()


def _lower_priority(first: int) -> None:
    """Let the command yield to others, and be the first to go when the machine has no memory left."""
    with suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{first}/task/{first}/children") as children:
            command = int(children.read().split()[0])
        os.setpriority(os.PRIO_PROCESS, command, NICENESS)
        with open(f"/proc/{command}/oom_score_adj", "w") as score:
            score.write("1000")


async def _wait_until_gone(handle: int) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(handle, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(handle)
