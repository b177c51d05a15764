"""TurnedClock: a clock that stands still until a test turns it."""

from __future__ import annotations

from handrail.core.clock import Clock
from handrail.core.errors import UsageError


class TurnedClock(Clock):
    """Time of day and ticks in one; `Handrail(clock=...)` takes it, and `turn` lets seconds pass."""

    _hand: list[float]

    def __init__(self, at: float = 1_000.0) -> None:
        hand = [at]
        super().__init__(now=lambda: hand[0], ticks=lambda: hand[0])
        object.__setattr__(self, "_hand", hand)

    def turn(self, seconds: float) -> float:
        """Let so many seconds pass; the new time."""
        if seconds < 0:
            raise UsageError("A clock only goes forward. Make another one that begins earlier.")
        self._hand[0] += seconds
        return self._hand[0]
