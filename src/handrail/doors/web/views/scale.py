"""Scales: round numbers along an axis, and where a value stands between them. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_STEPS = (1, 2, 2.5, 5, 10)
_WANTED = 4
_SHORT = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` to `high`, with round numbers on it."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        """Where a value stands: 0 at the low end, 1 at the high one."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


def scale_for(numbers: Sequence[float], *, from_zero: bool) -> Scale:
    """A scale that holds all numbers; from zero where lengths are compared."""
    low, high = min(numbers), max(numbers)
    if from_zero or low * high <= 0 or (high - low) >= max(abs(low), abs(high)) / 2:
        low, high = min(low, 0), max(high, 0)
    if high - low <= max(abs(high), abs(low)) * 1e-9:
        low, high = min(low, 0), max(high, 0)
    if high == low:
        high = low + 1
    step = _step((high - low) / _WANTED)
    first, last = math.floor(low / step), math.ceil(high / step)
    ticks = tuple(at * step for at in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks)


def _step(rough: float) -> float:
    """The round number next to a rough step."""
    size = 10.0 ** math.floor(math.log10(rough))
    return next(one * size for one in _STEPS if one * size >= rough * 0.999999)


def short(number: float) -> str:
    """A tick in few signs: 120k, 1.5M, 0.25."""
    if number == 0:
        return "0"
    sign = "\u2212" if number < 0 else ""
    left = abs(number)
    if left >= 1e15 or left < 1e-4:
        digits, _, power = f"{left:.0e}".partition("e")
        return f"{sign}{digits}e{int(power)}".replace("-", "\u2212")
    for size, unit in _SHORT:
        if left >= size:
            return f"{sign}{left / size:.4g}{unit}"
    return f"{sign}{left:.4g}"
