"""Waiting for threads without holding up the loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

DEADLINE = 20.0


async def wait_for_event(happened: threading.Event) -> None:
    """Wait for a thread without holding up the loop."""
    assert await asyncio.get_running_loop().run_in_executor(None, happened.wait, DEADLINE)


async def eventually(holds: Callable[[], bool]) -> bool:
    """Whether something that no event tells comes true before the deadline."""
    deadline = time.monotonic() + DEADLINE
    while not holds():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.001)
    return True
