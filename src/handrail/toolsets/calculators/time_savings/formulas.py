"""The formulas of the Time Savings Calculator. Shares are factors: 80 % is 0.8."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from handrail.toolsets.calculators.figures import ZERO

_MONTHS = 12
_MINUTES = 60
_HALF = Decimal("0.5")


def minutes_saved(before: Decimal, after: Decimal, rework_rate: Decimal, rework: Decimal) -> Decimal:
    """before − after − rate × rework: less than nothing when corrections eat up more than was won."""
    return before - after - rework_rate * rework


def adoption_in(month: int, ramp: int, target: Decimal) -> Decimal:
    """Mean share in a month, when it grows in a straight line from 0 to the target over `ramp` months.

    The mean of a straight line is its value in the middle: target × (month − ½) / ramp.
    """
    return target if month > ramp else target * (month - _HALF) / ramp


def tasks_per_month(per_week: Decimal, people: int, weeks: Decimal) -> Decimal:
    """per week × people × working weeks / 12."""
    return per_week * people * weeks / _MONTHS


def hours(tasks: Decimal, share: Decimal, minutes: Decimal) -> Decimal:
    """tasks × share × minutes / 60."""
    return tasks * share * minutes / _MINUTES


def monthly_hours(
    months: int, ramp: int, target: Decimal, tasks: Decimal, minutes: Decimal, training: Decimal
) -> list[Decimal]:
    """Hours set free in each month; the training is spent in the first."""
    saved = [hours(tasks, adoption_in(month, ramp, target), minutes) for month in range(1, months + 1)]
    return [saved[0] - training, *saved[1:]]


def break_even(monthly: Sequence[Decimal]) -> int | None:
    """The month from whose end on the sum is 0 or more and stays so; None when it never is."""
    total, owing = ZERO, 0
    for month, value in enumerate(monthly, 1):
        total += value
        if total < 0:
            owing = month
    return None if owing == len(monthly) else owing + 1
