"""The formulas of the FTE Impact Calculator. Shares are factors: 80 % is 0.8."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal

from handrail.toolsets.calculators.figures import HUNDRED, ONE, ZERO

_WEEKS = 52
_DAYS = 5
_MICRO = Decimal("0.000001")


def capacity(weekly_hours: Decimal, absence_days: Decimal, utilisation: Decimal) -> Decimal:
    """(52 × hours − absent days × hours / 5) × utilisation: hours a year for this work. Always above 0."""
    return (_WEEKS * weekly_hours - absence_days * weekly_hours / _DAYS) * utilisation


def units_in(year: int, monthly: Decimal, growth: Decimal) -> Decimal:
    """12 × monthly × (1 + g)^year."""
    return 12 * monthly * (ONE if year == 0 else (ONE + growth) ** year)


def workload(units: Decimal, minutes: Decimal, cut: Decimal = ZERO, affected: Decimal = ONE) -> Decimal:
    """units × minutes / 60 × (1 − affected × cut), in hours."""
    return units * minutes / 60 * (ONE - affected * cut)


def needed(hours: Decimal, capacity_hours: Decimal) -> Decimal:
    """Full-time equivalents for so many hours a year."""
    return hours / capacity_hours


def hires(needed_fte: Decimal, team: Decimal) -> int:
    """Whole people missing; a millionth of a person is none."""
    missing = (needed_fte - team).quantize(_MICRO)
    return int(max(ZERO, missing).to_integral_value(ROUND_CEILING))


def load(needed_fte: Decimal, team: Decimal) -> Decimal | None:
    """What is needed in percent of what is there; None when nobody is there."""
    return None if team == 0 else HUNDRED * needed_fte / team
