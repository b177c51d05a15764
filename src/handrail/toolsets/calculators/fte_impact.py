"""FTE Impact Calculator: what a change in work means for the size of a team."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import Annotated

from pydantic import Field, field_validator

from handrail.ext.forms import FormGroup, FormSpec
from handrail.toolsets.calculators import schemas
from handrail.toolsets.calculators.calculator import calculator, chart_section, summary_section, table_section
from handrail.toolsets.calculators.decimals import (
    HUNDRED,
    ONE,
    ZERO,
    cents,
    format_number,
    from_percent,
    rounded,
    rounded_or_none,
    to_decimal,
    with_decimal_context,
)


class TeamWorkload(schemas.CalculatorInput):
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
    time_cut: schemas.Percent = Field(description="Percent of these minutes that the change takes away.")
    share_affected: schemas.Percent = Field(
        default=100, description="Percent of the work that the change concerns."
    )
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
    yearly_cost: Annotated[schemas.Money, Field(le=10_000_000)] = Field(
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


class FteSummary(schemas.CalculatorOutput):
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
    verdict: schemas.Verdict = ""


class FteYear(schemas.CalculatorOutput):
    year: int = Field(description="0 is today.")
    units: float = Field(description="Pieces of work in the year.")
    needed_before: float = Field(description="Full-time equivalents without the change.")
    needed_after: float = Field(description="Full-time equivalents with it.")
    freed: float = Field(description="The difference.")
    hires_before: int = Field(description="People missing from the team without the change.")
    hires_after: int = Field(description="People missing with it.")
    value: float = Field(description="What the freed equivalents cost in that year.")


class FteImpact(schemas.CalculatorOutput):
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


def hires(needed_fte: Decimal, team: Decimal) -> int:
    """Whole people missing; a millionth of a person is none."""
    missing = (needed_fte - team).quantize(_MICRO)
    return int(max(ZERO, missing).to_integral_value(ROUND_CEILING))


def load(needed_fte: Decimal, team: Decimal) -> Decimal | None:
    """What is needed in percent of what is there; None when nobody is there."""
    return None if team == 0 else HUNDRED * needed_fte / team


@with_decimal_context
def calculate(inputs: TeamWorkload) -> FteImpact:
    """All figures, rounded."""
    team = to_decimal(inputs.team_size)
    hours = capacity(
        to_decimal(inputs.weekly_hours), to_decimal(inputs.absence_days), from_percent(inputs.utilisation)
    )
    years = [_year(inputs, year, hours, team) for year in range(inputs.years + 1)]
    before, after = _needed(inputs, 0, hours)
    avoided = years[-1].hires_before - years[-1].hires_after
    return FteImpact(
        summary=FteSummary(
            freed=rounded(before - after),
            needed_before=rounded(before),
            needed_after=rounded(after),
            capacity_hours=rounded(hours, 1),
            load_before=rounded_or_none(load(before, team), 1),
            load_after=rounded_or_none(load(after, team), 1),
            hours_freed=rounded((before - after) * hours, 1),
            value=rounded((before - after) * cents(inputs.yearly_cost)),
            hires_avoided=avoided,
            verdict=_verdict(inputs, before, after, avoided),
        ),
        years=years,
    )


def _needed(inputs: TeamWorkload, year: int, hours: Decimal) -> tuple[Decimal, Decimal]:
    """Full-time equivalents for the work of a year, before and after the change."""
    units = units_in(year, to_decimal(inputs.units_per_month), from_percent(inputs.volume_growth))
    minutes = to_decimal(inputs.minutes_per_unit)
    lighter = workload(units, minutes, from_percent(inputs.time_cut), from_percent(inputs.share_affected))
    return workload(units, minutes) / hours, lighter / hours


def _year(inputs: TeamWorkload, year: int, hours: Decimal, team: Decimal) -> FteYear:
    before, after = _needed(inputs, year, hours)
    return FteYear(
        year=year,
        units=rounded(units_in(year, to_decimal(inputs.units_per_month), from_percent(inputs.volume_growth))),
        needed_before=rounded(before),
        needed_after=rounded(after),
        freed=rounded(before - after),
        hires_before=hires(before, team),
        hires_after=hires(after, team),
        value=rounded((before - after) * cents(inputs.yearly_cost)),
    )


def _verdict(inputs: TeamWorkload, before: Decimal, after: Decimal, avoided: int) -> str:
    freed = format_number(rounded(before - after))
    effect = f"The change sets {freed} of {format_number(rounded(before))} full-time equivalents free"
    if avoided:
        when = "next year" if inputs.years == 1 else f"in {inputs.years} years"
        return f"{effect}, and {avoided} fewer {'person' if avoided == 1 else 'people'} must be hired {when}."
    return f"{effect}."


FORM = FormSpec(
    {
        "teamSize": {"unit": "full-time equivalents", "placeholder": "6.5"},
        "unitsPerMonth": {"label": "Pieces of work a month", "placeholder": "3000"},
        "minutesPerUnit": {"label": "Time for one", "unit": "minutes", "placeholder": "20"},
        "timeCut": {"label": "Less time by", "unit": "%", "widget": "slider"},
        "shareAffected": {"label": "Of the work, this concerns", "unit": "%", "widget": "slider"},
        "volumeGrowth": {"label": "Work grows by", "unit": "% a year"},
        "weeklyHours": {"label": "Working week", "unit": "hours"},
        "absenceDays": {"label": "Absence", "unit": "days a year"},
        "utilisation": {"unit": "%", "widget": "slider"},
        "yearlyCost": {"label": "Cost of a person a year"},
        "years": {"label": "Look ahead", "unit": "years"},
    },
    groups=(
        FormGroup(
            "Capacity and cost",
            ("weeklyHours", "absenceDays", "utilisation", "yearlyCost", "years"),
            closed=True,
        ),
    ),
)

SECTIONS = (
    summary_section(
        {"key": "freed", "label": "Set free", "unit": "FTEs", "decimals": 2},
        {"key": "neededBefore", "label": "Needed today", "unit": "FTEs", "decimals": 2},
        {"key": "neededAfter", "label": "Needed after", "unit": "FTEs", "decimals": 2},
        {"key": "hiresAvoided", "label": "Hires avoided", "format": "integer"},
        {"key": "loadBefore", "label": "Load today", "unit": "%", "decimals": 1},
        {"key": "loadAfter", "label": "Load after", "unit": "%", "decimals": 1},
        {"key": "value", "label": "Worth a year", "decimals": 2},
        {"key": "hoursFreed", "label": "Set free a year", "unit": "hours", "decimals": 1},
        {"key": "capacityHours", "label": "One FTE has a year", "unit": "hours", "decimals": 1},
    ),
    chart_section(
        "years",
        "Full-time equivalents needed",
        "line",
        "year",
        {"key": "neededBefore", "label": "Without it", "decimals": 2},
        {"key": "neededAfter", "label": "With it", "decimals": 2},
    ),
    table_section(
        "years",
        "Year by year",
        {"key": "year", "format": "integer"},
        {"key": "units", "label": "Pieces of work", "decimals": 0},
        {"key": "neededBefore", "label": "Needed without", "decimals": 2},
        {"key": "neededAfter", "label": "Needed with", "decimals": 2},
        {"key": "freed", "label": "Set free", "decimals": 2},
        {"key": "hiresBefore", "label": "Hires without", "format": "integer"},
        {"key": "hiresAfter", "label": "Hires with", "format": "integer"},
        {"key": "value", "label": "Worth", "decimals": 2},
    ),
)


@calculator(
    "analysis.calculateFteImpact",
    slug="fte-impact-calculator",
    name="FTE Impact Calculator",
    icon="users",
    form=FORM,
    sections=SECTIONS,
    rows="years",
)
def calculate_fte_impact(args: TeamWorkload) -> FteImpact:
    """Calculate how many full-time equivalents a team needs with and without a change to its work, year by
    year, and how many hires that spares.

    Use it to plan capacity, not to judge people. For the hours of a single task use
    analysis.calculateTimeSavings instead.
    """
    return calculate(args)
