"""undisturbed: measures while the machine is ours.

Where machines are shared, a host takes processors away for minutes, and says so. What is measured then is
the host.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import psutil

T = TypeVar("T")
_LITTLE = 0.05
_TRIES = 4


async def undisturbed(measure: Callable[[], Awaitable[T]]) -> T:
    """What is measured while next to nothing is taken away; at the last try, whatever is measured."""
    for _ in range(_TRIES):
        taken, passed = taken_away(), _passed()
        found = await measure()
        if taken_away() - taken <= _LITTLE * (_passed() - passed):
            break
    return found


def taken_away() -> float:
    """Seconds of all processors that the host took away; 0 where it does not say."""
    return float(getattr(psutil.cpu_times(), "steal", 0.0))


def _passed() -> float:
    """Seconds of all processors."""
    return float(sum(psutil.cpu_times()))
