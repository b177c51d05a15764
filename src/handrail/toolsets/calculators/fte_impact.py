"""FTE Impact Calculator: what a change in work means for the size of a team."""

from __future__ import annotations

from decimal import Decimal

from handrail import Result, tool
from handrail.ext import FormGroup, FormSpec, OutputSection, ViewSpec, build_markdown_table
from handrail.toolsets.calculators import fte_impact_model
from handrail.toolsets.calculators.decimals import (
    cents,
    format_number,
    from_percent,
    rounded,
    rounded_or_none,
    to_decimal,
    with_decimal_context,
)
from handrail.toolsets.calculators.fte_impact_model import FteImpact, FteSummary, FteYear, TeamWorkload

__all__ = ["calculate_fte_impact"]


@with_decimal_context
def calculate(inputs: TeamWorkload) -> FteImpact:
    """All figures, rounded."""
    team = to_decimal(inputs.team_size)
    hours = fte_impact_model.capacity(
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
            load_before=rounded_or_none(fte_impact_model.load(before, team), 1),
            load_after=rounded_or_none(fte_impact_model.load(after, team), 1),
            hours_freed=rounded((before - after) * hours, 1),
            value=rounded((before - after) * cents(inputs.yearly_cost)),
            hires_avoided=avoided,
            verdict=_verdict(inputs, before, after, avoided),
        ),
        years=years,
    )


def _needed(inputs: TeamWorkload, year: int, hours: Decimal) -> tuple[Decimal, Decimal]:
    units = fte_impact_model.units_in(
        year, to_decimal(inputs.units_per_month), from_percent(inputs.volume_growth)
    )
    minutes = to_decimal(inputs.minutes_per_unit)
    lighter = fte_impact_model.workload(
        units, minutes, from_percent(inputs.time_cut), from_percent(inputs.share_affected)
    )
    return fte_impact_model.fte_needed(
        fte_impact_model.workload(units, minutes), hours
    ), fte_impact_model.fte_needed(lighter, hours)


def _year(inputs: TeamWorkload, year: int, hours: Decimal, team: Decimal) -> FteYear:
    before, after = _needed(inputs, year, hours)
    return FteYear(
        year=year,
        units=rounded(
            fte_impact_model.units_in(
                year, to_decimal(inputs.units_per_month), from_percent(inputs.volume_growth)
            )
        ),
        needed_before=rounded(before),
        needed_after=rounded(after),
        freed=rounded(before - after),
        hires_before=fte_impact_model.hires(before, team),
        hires_after=fte_impact_model.hires(after, team),
        value=rounded((before - after) * cents(inputs.yearly_cost)),
    )


def _verdict(inputs: TeamWorkload, before: Decimal, after: Decimal, avoided: int) -> str:
    freed = format_number(rounded(before - after))
    said = f"The change sets {freed} of {format_number(rounded(before))} full-time equivalents free"
    if avoided:
        when = "next year" if inputs.years == 1 else f"in {inputs.years} years"
        return f"{said}, and {avoided} fewer {'person' if avoided == 1 else 'people'} must be hired {when}."
    return f"{said}."


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

VIEW = ViewSpec(
    (
        OutputSection(
            "summary",
            "Summary",
            "summary",
            {
                "figures": [
                    {"key": "freed", "label": "Set free", "unit": "FTEs", "decimals": 2},
                    {"key": "neededBefore", "label": "Needed today", "unit": "FTEs", "decimals": 2},
                    {"key": "neededAfter", "label": "Needed after", "unit": "FTEs", "decimals": 2},
                    {"key": "hiresAvoided", "label": "Hires avoided", "format": "integer"},
                    {"key": "loadBefore", "label": "Load today", "unit": "%", "decimals": 1},
                    {"key": "loadAfter", "label": "Load after", "unit": "%", "decimals": 1},
                    {"key": "value", "label": "Worth a year", "decimals": 2},
                    {"key": "hoursFreed", "label": "Set free a year", "unit": "hours", "decimals": 1},
                    {"key": "capacityHours", "label": "One FTE has a year", "unit": "hours", "decimals": 1},
                ]
            },
        ),
        OutputSection(
            "years",
            "Full-time equivalents needed",
            "chart",
            {
                "kind": "line",
                "x": "year",
                "y": [
                    {"key": "neededBefore", "label": "Without it", "decimals": 2},
                    {"key": "neededAfter", "label": "With it", "decimals": 2},
                ],
            },
        ),
        OutputSection(
            "years",
            "Year by year",
            "table",
            {
                "columns": [
                    {"key": "year", "format": "integer"},
                    {"key": "units", "label": "Pieces of work", "decimals": 0},
                    {"key": "neededBefore", "label": "Needed without", "decimals": 2},
                    {"key": "neededAfter", "label": "Needed with", "decimals": 2},
                    {"key": "freed", "label": "Set free", "decimals": 2},
                    {"key": "hiresBefore", "label": "Hires without", "format": "integer"},
                    {"key": "hiresAfter", "label": "Hires with", "format": "integer"},
                    {"key": "value", "label": "Worth", "decimals": 2},
                ]
            },
        ),
    )
)


@tool(
    "analysis.calculateFteImpact",
    input=TeamWorkload,
    slug="fte-impact-calculator",
    name="FTE Impact Calculator",
    category="analysis",
    icon="users",
    level="read",
    danger="safe",
    idempotent=True,
    sections=VIEW.sections,
    form=FORM,
    view=VIEW,
)
async def calculate_fte_impact(args: TeamWorkload) -> FteImpact | Result:
    """Calculate how many full-time equivalents a team needs with and without a change to its work, year by
    year, and how many hires that spares.

    Use it to plan capacity, not to judge people. For the hours of a single task use
    analysis.calculateTimeSavings instead.
    """
    result = calculate(args)
    return Result(
        data=result,
        summary=result.summary.verdict,
        markdown=build_markdown_table(
            [year.to_dict() for year in result.years], heading=result.summary.verdict
        ),
    )
