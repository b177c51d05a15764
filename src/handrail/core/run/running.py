"""Running: a call whose body is at work, and how it is interrupted.

No task is made for a call: the caller's own task is cancelled and the pipeline takes the cancellation back,
as `asyncio.timeout` does. A cancellation that somebody else sent passes through.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

from handrail.core.define.signal import Signal

Ending = Literal["cancelled", "timeout"]


class Running:
    """One body at work."""

    __slots__ = (
        "_cancelling",
        "_task",
        "_timer",
        "call_id",
        "ended",
        "ending",
        "loop",
        "reason",
        "secrets",
        "signal",
    )

    def __init__(self, call_id: str) -> None:
        self.call_id = call_id
        self.signal = Signal()
        self.ending: Ending | None = None
        self.reason: str | None = None
        self.secrets: set[str] | None = None
        self.ended: list[Callable[[], None]] | None = None
        self.loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        task = asyncio.current_task()
        assert task is not None, "calls run inside a task"
        self._task = task
        self._cancelling = task.cancelling()

    def limit(self, seconds: float) -> None:
        """Interrupt the body when the time is over."""
        self._timer = self.loop.call_later(
            seconds, self.interrupt, "timeout", f"timed out after {seconds:g} s"
        )

    def interrupt(self, ending: Ending, reason: str) -> bool:
        """Ask the body to stop; only the first request counts. Called in the loop's own thread."""
        if self.ending is not None:
            return False
        self.ending = ending
        self.reason = reason
        self.signal.abort(reason)
        self._task.cancel()
        return True

    def is_here(self) -> bool:
        """Whether this is the thread of the loop that the call runs in."""
        try:
            return asyncio.get_running_loop() is self.loop
        except RuntimeError:
            return False

    def take_back(self) -> bool:
        """After the body stopped: whether the interruption was ours alone, and is now undone."""
        return self._task.uncancel() <= self._cancelling

    def close(self) -> None:
        """The body is over; whoever waits for that is told."""
        if self._timer is not None:
            self._timer.cancel()
        for tell in self.ended or ():
            tell()
        self.ended = None

    async def wait(self, seconds: float) -> bool:
        """Wait in the running's own loop until the body is over; False when it takes longer than that."""
        over = asyncio.Event()
        self.ended = [*(self.ended or ()), over.set]
        try:
            await asyncio.wait_for(over.wait(), seconds)
        except TimeoutError:
            return False
        return True
