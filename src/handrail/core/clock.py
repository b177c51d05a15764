"""Clock: where time comes from, so that a test can turn it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """Two readings: the time of day in seconds since 1970, and one that only ever goes forward."""

    now: Callable[[], float] = time.time
    ticks: Callable[[], float] = time.perf_counter
