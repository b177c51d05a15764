"""Polling: looking again until something of another process is there, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
DEADLINE = 60.0
_PAUSE = 0.02


def poll_until(found: Callable[[], T]) -> T:
    """What is found, once it is; fails when it never comes."""
    deadline = time.monotonic() + DEADLINE
    while not (value := found()):
        assert time.monotonic() < deadline, "it never came"
        time.sleep(_PAUSE)  # leaves the processor to whom it waits for
    return value
