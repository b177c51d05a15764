"""Stoppable: how a call on its way is interrupted.

No task is made for a call: to interrupt it the caller's own task is cancelled, and the pipeline takes the
cancellation back, as `asyncio.timeout` does. A cancellation that somebody else sent passes through.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from typing import Any, Literal

from handrail.core.define.signal import Aborted, Signal
from handrail.core.run.aside import HasAside, Lies

Ending = Literal["cancelled", "timeout"]


class Stoppable(HasAside):
    """The task a call runs in, what ended it before its time, and who waits for its end."""

    __slots__ = ("_cancelling", "_task", "ending")

    ending: Ending | None
    _task: asyncio.Task[Any]
    _cancelling: int

    reason = Lies[str | None]()
    _signal = Lies[Signal | None]()
    _timer = Lies[asyncio.TimerHandle | None]()
    _waiting = Lies[tuple[Callable[[], None], ...]]()

    @property
    def signal(self) -> Signal:
        if self._signal is None:
            self._signal = Signal()
        return self._signal

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        return self._task.get_loop()

    def is_here(self) -> bool:
        """Whether this is the thread of the loop that the call runs in."""
        try:
            return asyncio.get_running_loop() is self.loop
        except RuntimeError:
            return False

    def limit(self, seconds: float) -> None:
        """Interrupt the body when the time is over."""
        said = f"timed out after {seconds:g} s"
        own = contextvars.Context()  # a timer would otherwise keep the call's context until it is pruned
        self._timer = self.loop.call_later(seconds, self.interrupt, "timeout", said, context=own)

    def interrupt(self, ending: Ending, reason: str) -> None:
        """Ask the call to stop; only the first request counts. Called in the loop's own thread."""
        if self.ending is None:
            self.ending = ending
            self.reason = reason
            self.signal.abort(reason)
            self._task.cancel()

    def check(self) -> None:
        """Stop here if the call was interrupted and whoever was waited for did not heed it."""
        if self.ending is not None:
            raise Aborted(self.reason)

    def is_cancelled_from_outside(self) -> bool:
        """Whether somebody else cancelled the task that the call runs in."""
        return self._task.cancelling() > self._cancelling

    def take_back(self) -> bool:
        """After the body stopped: whether the interruption was ours alone, and is now undone."""
        return self._task.uncancel() <= self._cancelling

    async def over(self, seconds: float) -> bool:
        """Wait in the call's own loop until it is over; False when it takes longer than that."""
        ended = asyncio.Event()
        self._waiting = (*self._waiting, ended.set)
        try:
            await asyncio.wait_for(ended.wait(), seconds)
        except TimeoutError:
            return False
        return True
