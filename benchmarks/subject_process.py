"""The inside of a measuring process: it holds subjects and times a round of one when told to.

A script ends with `main(subjects)`. Started by itself it measures its subjects and prints JSON.
With `--serve SECONDS` it obeys its parent: it prints the names of its subjects, then for each
index read from standard input the seconds of one round, one JSON value a line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from typing import NoReturn, TextIO

from benchmarks.timing import Effort, Subject, Timing, calibrate, forget_set_up, one_round

Builder = Callable[[], Awaitable[Sequence[Subject]]]


def main(build: Builder) -> None:
    """Measure what `build` makes, for a person or for the parent process."""
    parser = argparse.ArgumentParser(description="Time one library's subjects and print JSON.")
    parser.add_argument("--serve", type=float, metavar="SECONDS", help="obey a parent process")
    serve: float | None = parser.parse_args().serve
    refuse_network()
    wire = keep_standard_output()
    asyncio.run(_alone(build, wire) if serve is None else _serve(build, wire, serve))


def refuse_network() -> None:
    """Nothing that is timed here may wait for, or talk to, another machine."""

    def refuse(*_: object) -> NoReturn:
        raise OSError("benchmarks run without a network")

    for connecting in ("connect", "connect_ex"):
        setattr(socket.socket, connecting, refuse)


def keep_standard_output() -> TextIO:
    """Standard output for our lines alone; whatever a library prints goes to standard error."""
    wire = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return wire


async def _ready(build: Builder, seconds: float) -> list[tuple[Subject, int]]:
    ready = [(subject, await calibrate(subject, seconds)) for subject in await build()]
    forget_set_up()
    return ready


async def _serve(build: Builder, wire: TextIO, seconds: float) -> None:
    ready = await _ready(build, seconds)
    _say(wire, [subject.name for subject, _ in ready])
    # Reading blocks the loop on purpose: between rounds this process is to be still.
    for line in sys.stdin:
        subject, number = ready[int(line)]
        _say(wire, await one_round(subject, number))


async def _alone(build: Builder, wire: TextIO) -> None:
    effort = Effort()
    ready = await _ready(build, effort.seconds)
    rounds = [[await one_round(subject, number) for subject, number in ready] for _ in range(effort.rounds)]
    times = zip(*rounds, strict=True)
    _say(wire, {subject.name: asdict(Timing.over(of)) for (subject, _), of in zip(ready, times, strict=True)})


def _say(wire: TextIO, value: object) -> None:
    print(json.dumps(value), file=wire, flush=True)
