"""The FTE Impact Calculator: its input, its output and its formulas. An FTE is one full-time person."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import Annotated

from pydantic import Field, field_validator

from handrail.toolsets.calculators.decimals import HUNDRED, ONE, ZERO
from handrail.toolsets.calculators.schemas import CalculatorInput, CalculatorOutput, Money, Percent, Verdict


class TeamWorkload(CalculatorInput):
    """A team, its work, and a change that makes the work lighter."""

    team_size: Annotated[float, Field(ge=0, le=100_000)] = Field(
        description="People in the team, in full-time equivalents, such as 6.5."
    )
    units_per_month: Annotated[float, Field(ge=0, le=1e9)] = Field(
        description="How many pieces of work come in a month, such as 3000."
    )
    minutes_per_unit: Annotated[float, Field(ge=0.01, le=10_080)] = Field(
        description="Minutes that one of them takes today."
    )
    time_cut: Percent = Field(description="Percent of these minutes that the change takes away.")
    share_affected: Percent = Field(default=100, description="Percent of the work that the change concerns.")
    volume_growth: Annotated[float, Field(ge=-100, le=200)] = Field(
        default=0, description="Percent by which the work grows from year to year, -100 to 200."
    )
    weekly_hours: Annotated[float, Field(ge=1, le=80)] = Field(
        default=40, description="Hours in a full working week."
    )
    absence_days: Annotated[float, Field(ge=0, le=200)] = Field(
        default=40, description="Days in a year for holidays, leave, illness and training, per person."
    )
    utilisation: Annotated[float, Field(ge=1, le=100)] = Field(
        default=80, description="Percent of the hours at work that are left for this work."
    )
    yearly_cost: Annotated[Money, Field(le=10_000_000)] = Field(
        default=70_000, description="What one full-time equivalent costs in a year."
    )
    years: Annotated[int, Field(ge=1, le=10)] = Field(
        default=3, description="How many years to look ahead, 1 to 10."
    )

    @field_validator("team_size")
    @classmethod
    def _somebody_or_nobody(cls, size: float) -> float:
        if 0 < size < 0.01:
            raise ValueError("must be 0, or at least 0.01 of a person")
        return size


class FteSummary(CalculatorOutput):
    freed: float = Field(description="Full-time equivalents set free today.")
    needed_before: float = Field(description="Full-time equivalents that the work needs today.")
    needed_after: float = Field(description="The same with the change.")
    capacity_hours: float = Field(description="Hours a year that one full-time equivalent has for this work.")
    load_before: float | None = Field(
        description="Work in percent of what the team can do; null for no team."
    )
    load_after: float | None = Field(description="The same with the change.")
    hours_freed: float = Field(description="Hours set free in a year.")
    value: float = Field(description="What the freed equivalents cost in a year.")
    hires_avoided: int = Field(description="People who need not be hired by the last year.")
    verdict: Verdict = ""


class FteYear(CalculatorOutput):
    year: int = Field(description="0 is today.")
    units: float = Field(description="Pieces of work in the year.")
    needed_before: float = Field(description="Full-time equivalents without the change.")
    needed_after: float = Field(description="Full-time equivalents with it.")
    freed: float = Field(description="The difference.")
    hires_before: int = Field(description="People missing from the team without the change.")
    hires_after: int = Field(description="People missing with it.")
    value: float = Field(description="What the freed equivalents cost in that year.")


class FteImpact(CalculatorOutput):
    summary: FteSummary = Field(description="The figures that decide.")
    years: list[FteYear] = Field(description="Year by year, from today.")


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


def fte_needed(hours: Decimal, capacity_hours: Decimal) -> Decimal:
    """Full-time equivalents for so many hours a year."""
    return hours / capacity_hours


def hires(needed_fte: Decimal, team: Decimal) -> int:
    """Whole people missing; a millionth of a person is none."""
    missing = (needed_fte - team).quantize(_MICRO)
    return int(max(ZERO, missing).to_integral_value(ROUND_CEILING))


def load(needed_fte: Decimal, team: Decimal) -> Decimal | None:
    """What is needed in percent of what is there; None when nobody is there."""
    return None if team == 0 else HUNDRED * needed_fte / team
