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

from benchmarks.load import Load, Request
from benchmarks.measured_processes import ROOT, environment
from benchmarks.timing import Effort, Measured, NotMeasured, Timing

SECONDS = 0.5
"""The length of one round against one server."""


@dataclass(frozen=True, slots=True)
class Server:
    """A module that serves until its standard input ends, and first prints a line of JSON with its `port`."""

    module: str
    python: str | None
    """None where there is none; what is asked of it is then reported as not measured."""
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadedRequest:
    """A request that is made of a server again and again."""

    name: str
    server: Server
    request: Callable[[Mapping[str, Any]], Request]
    """The request, of what the server printed."""


def time_served(asked: Sequence[LoadedRequest], effort: Effort) -> dict[str, Measured]:
    """Seconds for each request by name, in alternating order from round to round."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        seconds = SECONDS * effort.seconds / Effort().seconds
        return runner.run(_time(asked, max(3, effort.rounds // 3), seconds))


async def _time(asked: Sequence[LoadedRequest], rounds: int, seconds: float) -> dict[str, Measured]:
    took: dict[str, list[float]] = {one.name: [] for one in asked}
    failures: dict[str, NotMeasured] = {}
    loads: dict[str, tuple[Load, int]] = {}
    with ExitStack() as stack:
        told: dict[Server, Mapping[str, Any]] = {}
        for one in asked:
            try:
                if one.server not in told:
                    told[one.server] = stack.enter_context(_Process(one.server)).told
                about = told[one.server]
                load = Load(about["port"], one.request(about))
                loads[one.name] = (load, await _calibrated(load, seconds))
            except Exception as error:
                failures[one.name] = NotMeasured(str(error) or type(error).__name__)
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
        self.told: Mapping[str, Any] = {}
        self._process: subprocess.Popen[str] | None = None
        self._complaints: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed by __exit__

    def __enter__(self) -> _Process:
        python = self._server.python
        if python is None:
            raise _Failed("no environment with the peers")
        self._process = subprocess.Popen(
            [python, "-m", self._server.module, *self._server.arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
            cwd=ROOT,
            env=environment(python),
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.__exit__(None, None, None)
            raise _Failed(self._said())
        self.told = json.loads(line)
        return self

    def _said(self) -> str:
        self._complaints.seek(0)
        said = [line.strip() for line in self._complaints if line.strip()]
        return said[-1] if said else "the server ended without a word"

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
