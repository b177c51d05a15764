"""The formulas of the Process Automation Scoper. Rates are factors: 10 % is 0.1; ratings go from 1 to 5."""

from __future__ import annotations

from decimal import Decimal

from handrail.toolsets.calculators.figures import HUNDRED, ONE, clamp

WEIGHTS: dict[str, Decimal] = {
    "Clear rules": Decimal("0.30"),
    "Readable input": Decimal("0.25"),
    "Few exceptions": Decimal("0.20"),
    "Stability": Decimal("0.15"),
    "Volume": Decimal("0.10"),
}
_FULL_VOLUME = Decimal(80)
"""Hours of work in a month from which on more volume makes a process no more suitable."""
_HALF = Decimal("0.5")
_LATEST = 1000
"""Years."""


def monthly_hours(runs: Decimal, minutes: Decimal) -> Decimal:
    """runs × minutes / 60."""
    return runs * minutes / 60


def of_rating(rating: int) -> Decimal:
    """A rating from 1 to 5 as a score: 1 is 0, 5 is 100."""
    return HUNDRED * (rating - 1) / 4


def of_exceptions(rate: Decimal) -> Decimal:
    """100 without exceptions, 0 when every second run is one."""
    return clamp(HUNDRED - 2 * HUNDRED * rate)


def of_volume(hours: Decimal) -> Decimal:
    """100 from 80 hours a month on, less in proportion."""
    return clamp(HUNDRED * hours / _FULL_VOLUME)


def suitability(scores: dict[str, Decimal]) -> Decimal:
    """The weighted mean of the five factors."""
    return sum((WEIGHTS[name] * score for name, score in scores.items()), Decimal(0))


def coverage(exceptions: Decimal, rules: int, readable: int) -> Decimal:
    """(1 − exceptions) × mean of both ratings / 5: the share of the work that software does by itself."""
    return (ONE - exceptions) * Decimal(rules + readable) / 10


def effort(steps: int, systems: int, exceptions: Decimal, readable: int, stability: int) -> Decimal:
    """(2 + ½ steps + 3 systems) days, more for exceptions, for input that is hard to read, and for change."""
    plain = 2 + _HALF * steps + 3 * systems
    harder = (ONE + Decimal("0.15") * (5 - readable)) * (ONE + Decimal("0.10") * (5 - stability))
    return plain * (ONE + exceptions) * harder


def payback_months(cost: Decimal, yearly: Decimal) -> Decimal | None:
    """cost / (yearly saving / 12); None when nothing is saved, or so little that it takes 1000 years."""
    if cost == 0 and yearly >= 0:
        return Decimal(0)
    return cost * 12 / yearly if yearly * _LATEST >= cost else None
