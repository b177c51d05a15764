"""How a call on its way is interrupted, and the state that only some calls come to have."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from handrail.core.define.signal import Aborted, Signal
from handrail.core.guard.dedup import DedupEntry, Signature
from handrail.core.guard.idempotency import KeyId
from handrail.core.tell.events import ToolStarted

T = TypeVar("T")

HeldClaims = tuple[list[str], str, str]
"""The keys that a call holds, its tenant, and the holder's name."""


@dataclass(slots=True, eq=False, repr=False)
class RareState:
    """An idempotency key, claims, secrets, failed attempts, a timer, a signal and who waits for the end."""

    approval_id: str | None = None
    attempt: int = 1
    claimed: HeldClaims | None = None
    doubtful: bool = False
    entry: tuple[Signature, DedupEntry] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    finished: bool = False
    key: KeyId | None = None
    reason: str | None = None
    secrets: set[str] | None = None
    signal: Signal | None = None
    started: ToolStarted | None = None
    stray: asyncio.Future[Any] | None = None
    timer: asyncio.TimerHandle | None = None
    tries: tuple[str, ...] = ()
    waiting: tuple[Callable[[], None], ...] = ()
    withheld: str = ""


NO_RARE_STATE = RareState()
"""Shared by all calls of which nothing rare is known; never written to."""


class HasRareState:
    """The base of whatever has a `rare` state."""

    __slots__ = ("rare",)

    rare: RareState


class RareField(Generic[T]):
    """An attribute of the rare state; the first one that is set gives the call a rare state of its own."""

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
        reason = f"timed out after {seconds:g} s"
        own = contextvars.Context()  # a timer would otherwise keep the call's context until it is pruned
        self._timer = self.loop.call_later(seconds, self.interrupt, "timeout", reason, context=own)

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
