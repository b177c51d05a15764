"""RateLimiter: a token bucket for each key."""

from __future__ import annotations

from collections.abc import Callable

_MAX_BUCKETS = 10_000


class RateLimiter:
    """So many a second for each name, and a burst of twice as many after a rest."""

    def __init__(self, per_second: float, ticks: Callable[[], float]) -> None:
        self._rate = per_second
        self._most = max(1.0, 2 * per_second)
        self._ticks = ticks
        self._buckets: dict[str, tuple[float, float]] = {}
        """What is left in each bucket, and when that was so."""

    def wait(self, name: str) -> float:
        """Take one; 0 when there was one, else the seconds until there is."""
        now = self._ticks()
        tokens, at = self._buckets.get(name, (self._most, now))
        tokens = min(self._most, tokens + (now - at) * self._rate)
        if tokens < 1:
            return (1 - tokens) / self._rate
        if name not in self._buckets and len(self._buckets) >= _MAX_BUCKETS:
            self._forget(now)
        self._buckets[name] = (tokens - 1, now)
        return 0.0

    def _forget(self, now: float) -> None:
        """Drop the buckets that are full again; all of them, if that makes no room."""
        self._buckets = {
            name: (tokens, at)
            for name, (tokens, at) in self._buckets.items()
            if tokens + (now - at) * self._rate < self._most
        }
        if len(self._buckets) >= _MAX_BUCKETS:
            self._buckets.clear()
