"""How a call on its way is interrupted, and the state that only some calls come to have."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Mapping
from typing import Any, Generic, Literal, TypeVar

from handrail.core.define.signal import Aborted, Signal
from handrail.core.guard.dedup import DedupEntry, Signature
from handrail.core.guard.idempotency import KeyId
from handrail.core.tell.events import ToolStarted

T = TypeVar("T")

HeldClaims = tuple[list[str], str, str]
"""The keys that a call holds, its tenant, and the holder's name."""
_NOTHING: Mapping[str, Any] = {}


class RareState:
    """An idempotency key, claims, secrets, failed attempts, a timer, a signal and who waits for the end."""

    __slots__ = (
        "approval_id",
        "attempt",
        "claimed",
        "doubtful",
        "entry",
        "extra",
        "finished",
        "key",
        "reason",
        "secrets",
        "signal",
        "started",
        "stray",
        "timer",
        "tries",
        "waiting",
        "withheld",
    )

    def __init__(self) -> None:
        self.approval_id: str | None = None
        self.attempt = 1
        self.claimed: HeldClaims | None = None
        self.doubtful = False
        self.entry: tuple[Signature, DedupEntry] | None = None
        self.extra = _NOTHING
        self.finished = False
        self.key: KeyId | None = None
        self.reason: str | None = None
        self.secrets: set[str] | None = None
        self.signal: Signal | None = None
        self.started: ToolStarted | None = None
        self.stray: asyncio.Future[Any] | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.tries: tuple[str, ...] = ()
        self.waiting: tuple[Callable[[], None], ...] = ()
        self.withheld = ""


NO_RARE_STATE = RareState()
"""Shared by all calls that have nothing aside; never written to."""


class HasRareState:
    """The base of whatever carries an `aside`."""

    __slots__ = ("rare",)

    rare: RareState


class RareField(Generic[T]):
    """An attribute that lies in the aside; the first one that is set gives the call an aside of its own."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name.lstrip("_")

    def __get__(self, call: HasRareState, owner: type | None = None) -> T:
        value: T = getattr(call.rare, self._name)
        return value

    def __set__(self, call: HasRareState, value: T) -> None:
        if call.rare is NO_RARE_STATE:
            call.rare = RareState()
        setattr(call.rare, self._name, value)


Ending = Literal["cancelled", "timeout"]


class Interruptible(HasRareState):
    """The task a call runs in, what ended it before its time, and who waits for its end."""

    __slots__ = ("_cancelling", "_task", "ending")

    ending: Ending | None
    _task: asyncio.Task[Any]
    _cancelling: int

    reason = RareField[str | None]()
    _signal = RareField[Signal | None]()
    _timer = RareField[asyncio.TimerHandle | None]()
    _waiting = RareField[tuple[Callable[[], None], ...]]()

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
