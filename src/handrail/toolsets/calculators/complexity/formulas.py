"""The formulas of the Complexity Estimator: three points, drivers, and a range."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from handrail.toolsets.calculators.complexity.models import Certainty, Degree, Size
from handrail.toolsets.calculators.figures import HUNDRED, ONE, ZERO

DRIVERS: dict[Degree, Decimal] = {
    "low": Decimal("0.90"),
    "normal": Decimal("1.00"),
    "high": Decimal("1.15"),
    "very high": Decimal("1.35"),
}
QUANTILES: dict[Certainty, Decimal] = {
    "50": Decimal("0.674490"),
    "80": Decimal("1.281552"),
    "90": Decimal("1.644854"),
    "95": Decimal("1.959964"),
}
"""How many standard deviations on both sides of the mean hold that share of a normal distribution."""
_SIZES: tuple[tuple[int, Size], ...] = ((10, "Small"), (40, "Medium"), (120, "Large"))


def expected(optimistic: Decimal, likely: Decimal, pessimistic: Decimal) -> Decimal:
    """(o + 4 m + p) / 6."""
    return (optimistic + 4 * likely + pessimistic) / 6


def deviation(optimistic: Decimal, pessimistic: Decimal) -> Decimal:
    """(p − o) / 6."""
    return (pessimistic - optimistic) / 6


def factor(degrees: Iterable[Degree]) -> Decimal:
    """The drivers multiply."""
    product = ONE
    for degree in degrees:
        product *= DRIVERS[degree]
    return product


def total_deviation(deviations: Sequence[Decimal], correlation: Decimal) -> Decimal:
    """√((1 − ρ) Σσ² + ρ (Σσ)²): for ρ = 0 the root of the squares, for ρ = 1 the plain sum."""
    squares = sum((one * one for one in deviations), ZERO)
    plain = sum(deviations, ZERO)
    return ((ONE - correlation) * squares + correlation * plain * plain).sqrt()


def around(middle: Decimal, spread: Decimal, certainty: Certainty) -> tuple[Decimal, Decimal]:
    """The range that holds with this certainty; nothing takes less than no time."""
    half = QUANTILES[certainty] * spread
    return max(ZERO, middle - half), middle + half


def shares_of_risk(deviations: Sequence[Decimal], correlation: Decimal) -> list[Decimal]:
    """What each part adds to the variance, in percent: its square and its half of what it has in common."""
    plain = sum(deviations, ZERO)
    parts = [one * ((ONE - correlation) * one + correlation * plain) for one in deviations]
    total = sum(parts, ZERO)
    return [HUNDRED * one / total if total else ZERO for one in parts]


def size_of(days: Decimal) -> Size:
    """Up to 10 days small, up to 40 medium, up to 120 large."""
    return next((size for most, size in _SIZES if days <= most), "Very large")
