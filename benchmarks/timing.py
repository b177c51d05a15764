"""The timing method. Every subject is timed by this code, whichever process it lives in."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Subject:
    """Something to time."""

    name: str
    loop: Callable[[int], Awaitable[object]]
    """Does the work this many times in a row and returns the last result."""
    correct: Callable[[object], bool]
    """Whether that result is right: what answers wrongly has no time."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure."""

    rounds: int = 30
    seconds: float = 0.04
    """Length of one round of one subject."""
    imports: int = 9
    """Fresh processes for each of our imports."""
    peer_imports: int = 3
    """The same for the peers, whose imports are only reported."""


QUICK = Effort(rounds=7, seconds=0.02, imports=3, peer_imports=1)


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds for doing it once, over all rounds."""

    best: float
    """What it costs when nothing else disturbs; ratios are made of these."""
    median: float
    rounds: int

    @classmethod
    def over(cls, seconds: Sequence[float]) -> Timing:
        return cls(best=min(seconds), median=median(seconds), rounds=len(seconds))

    @classmethod
    def fixed(cls, seconds: float) -> Timing:
        """A number that was not measured in rounds, such as a bound."""
        return cls(best=seconds, median=seconds, rounds=1)


@dataclass(frozen=True, slots=True)
class Size(Timing):
    """Bytes in the place of seconds."""

    @classmethod
    def of(cls, text: str) -> Size:
        size = float(len(text.encode()))
        return cls(size, size, 1)


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """There is no time, and this is why."""

    reason: str


Measured = Timing | NotMeasured


def by_median(measured: Measured) -> Measured:
    """For what is judged by how it usually goes: the median in the place of the best round."""
    return measured if isinstance(measured, NotMeasured) else Timing.fixed(measured.median)


class WrongAnswer(Exception):
    """A subject did not do what it is timed for."""


async def calibrate(subject: Subject, seconds: float) -> int:
    """How often to repeat so that one round lasts about this long. Warms the subject up as well."""
    await one_round(subject, 1)  # what is made once, by the first call, says nothing of the others
    number = 1
    while (spent := await one_round(subject, number) * number) < seconds / 2:
        number *= 2
    return max(1, round(number * seconds / spent))


async def one_round(subject: Subject, number: int) -> float:
    """Seconds for each of this many repetitions.

    Garbage collection stays on, since allocating is part of the cost, and starts from the same
    state each time. The loop turns once before the clock stops, so that work which a call merely
    put off is charged to it.
    """
    gc.collect()
    start = time.perf_counter()
    result = await subject.loop(number)
    await asyncio.sleep(0)
    spent = time.perf_counter() - start
    if not subject.correct(result):
        raise WrongAnswer(f"{subject.name} answered {result!r}")
    return spent / number


def forget_set_up() -> None:
    """Take what is alive now out of the collector's sight: a large import is no cost of a call."""
    gc.collect()
    gc.freeze()
