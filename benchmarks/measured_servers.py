"""Servers in processes of their own, under the same load in turn."""

from __future__ import annotations

import asyncio
import json
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any

from benchmarks.environments import ROOT, Python
from benchmarks.load import Load, Request
from benchmarks.measured_processes import environment
from benchmarks.timing import Effort, Measured, NotMeasured, Timing

SECONDS = 0.5
"""The length of one round against one server."""


@dataclass(frozen=True, slots=True)
class Server:
    """A module that serves until its standard input ends, and first prints a line of JSON with its `port`."""

    module: str
    python: Python
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadedRequest:
    """A request that is made of a server again and again."""

    name: str
    server: Server
    request: Callable[[Mapping[str, Any]], Request]
    """The request, of what the server printed."""


def time_served(requests: Sequence[LoadedRequest], effort: Effort) -> dict[str, Measured]:
    """Seconds for each request by name, in alternating order from round to round."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        seconds = SECONDS * effort.seconds / Effort().seconds
        return runner.run(_time(requests, max(3, effort.rounds // 3), seconds))


async def _time(requests: Sequence[LoadedRequest], rounds: int, seconds: float) -> dict[str, Measured]:
    took: dict[str, list[float]] = {loaded.name: [] for loaded in requests}
    failures: dict[str, NotMeasured] = {}
    loads: dict[str, tuple[Load, int]] = {}
    with ExitStack() as stack:
        announced: dict[Server, Mapping[str, Any]] = {}
        for loaded in requests:
            server = loaded.server
            try:
                if server not in announced:
                    announced[server] = stack.enter_context(_Process(server)).announced
                load = Load(announced[server]["port"], loaded.request(announced[server]))
                loads[loaded.name] = (load, await _calibrated(load, seconds))
            except Exception as error:
                failures[loaded.name] = NotMeasured(str(error) or type(error).__name__)
        turns = list(loads)
        for number in range(rounds):
            for name in turns if number % 2 == 0 else reversed(turns):
                load, times = loads[name]
                try:
                    took[name].append(await load.seconds(times) / times)
                except Exception as error:
                    failures[name] = NotMeasured(str(error) or type(error).__name__)
    return {name: failures.get(name) or Timing.over(took[name]) for name in took}


async def _calibrated(load: Load, seconds: float) -> int:
    """How many requests take about so long; warms the server up as well."""
    number = 200
    while (spent := await load.seconds(number)) < seconds / 2:
        number *= 2
    return max(100, round(number * seconds / spent))


class _Failed(Exception):
    """A server did not start."""


class _Process:
    """One running server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.announced: Mapping[str, Any] = {}
        self._process: subprocess.Popen[str] | None = None
        self._stderr: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed by __exit__

    def __enter__(self) -> _Process:
        python = self._server.python
        if python.missing_because:
            raise _Failed(python.missing_because)
        self._process = subprocess.Popen(
            [python.path, "-m", self._server.module, *self._server.arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            cwd=ROOT,
            env=environment(python),
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.__exit__(None, None, None)
            raise _Failed(self._last_line())
        self.announced = json.loads(line)
        return self

    def _last_line(self) -> str:
        self._stderr.seek(0)
        lines = [line.strip() for line in self._stderr if line.strip()]
        return lines[-1] if lines else "the server ended without a word"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        process.stdin.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
