"""undisturbed: measures while the machine is ours.

Where machines are shared, a host takes processors away for minutes, and says so. What is measured then is
the host.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import psutil

T = TypeVar("T")
_MAX_STEAL_SHARE = 0.05
_TRIES = 4


async def measure_without_steal(measure: Callable[[], Awaitable[T]]) -> T:
    """What is measured while next to nothing is taken away; at the last try, whatever is measured."""
    for _ in range(_TRIES):
        taken, passed = steal_seconds(), _cpu_seconds()
        found = await measure()
        if steal_seconds() - taken <= _MAX_STEAL_SHARE * (_cpu_seconds() - passed):
            break
    return found


def steal_seconds() -> float:
    """Seconds of all processors that the host took away; 0 where it does not say."""
    return float(getattr(psutil.cpu_times(), "steal", 0.0))


def _cpu_seconds() -> float:
    """Seconds of all processors."""
    return float(sum(psutil.cpu_times()))
