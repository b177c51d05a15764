"""Time Savings Calculator: hours that a quicker way of working sets free, month by month."""

from __future__ import annotations

from itertools import accumulate

from handrail import Result, tool
from handrail.ext import FormGroup, FormSpec, OutputSection, ViewSpec, build_markdown_table
from handrail.toolsets.calculators import time_savings_model
from handrail.toolsets.calculators.decimals import (
    HUNDRED,
    cents,
    format_number,
    from_percent,
    rounded,
    to_decimal,
    with_decimal_context,
)
from handrail.toolsets.calculators.time_savings_model import (
    MonthlySaving,
    RepeatedTask,
    TimeSavings,
    TimeSummary,
)

__all__ = ["calculate_time_savings"]


@with_decimal_context
def calculate(inputs: RepeatedTask) -> TimeSavings:
    """All figures, rounded."""
    before, target = to_decimal(inputs.minutes_before), from_percent(inputs.adoption)
    minutes = time_savings_model.minutes_saved(
        before,
        to_decimal(inputs.minutes_after),
        from_percent(inputs.rework_rate),
        to_decimal(inputs.rework_minutes),
    )
    tasks = time_savings_model.tasks_per_month(
        to_decimal(inputs.tasks_per_week), inputs.people, to_decimal(inputs.working_weeks)
    )
    training = to_decimal(inputs.training_hours) * inputs.people
    monthly = time_savings_model.monthly_hours(
        inputs.months, inputs.ramp_months, target, tasks, minutes, training
    )
    cost = cents(inputs.hourly_cost)
    sums = list(accumulate(monthly))
    weekly = time_savings_model.hours(to_decimal(inputs.tasks_per_week) * inputs.people, target, minutes)
    month = time_savings_model.break_even(monthly)
    total = rounded(sums[-1])
    return TimeSavings(
        summary=TimeSummary(
            hours_saved=total,
            value=rounded(sums[-1] * cost),
            minutes_per_task=rounded(minutes),
            time_cut=rounded(HUNDRED * minutes / before),
            hours_per_week=rounded(weekly),
            hours_per_person=rounded(weekly / inputs.people),
            break_even="Never" if month is None else month,
            verdict=_verdict(total, rounded(sums[-1] * cost), inputs.months),
        ),
        months=[
            MonthlySaving(
                month=number,
                adoption=rounded(
                    HUNDRED * time_savings_model.adoption_in(number, inputs.ramp_months, target)
                ),
                hours=rounded(saved),
                cumulative_hours=rounded(so_far),
                value=rounded(saved * cost),
                cumulative_value=rounded(so_far * cost),
            )
            for number, (saved, so_far) in enumerate(zip(monthly, sums, strict=True), 1)
        ],
    )


def _verdict(hours: float, value: float, months: int) -> str:
    span = "a month" if months == 1 else f"{months} months"
    if hours == 0:
        return f"Nothing is saved or lost in {span}."
    what = "saves" if hours > 0 else "costs"
    return (
        f"The new way {what} {format_number(abs(hours))} hours in {span}, worth {format_number(abs(value))}."
    )


FORM = FormSpec(
    {
        "minutesBefore": {"label": "Time today", "unit": "minutes", "placeholder": "30"},
        "minutesAfter": {"label": "Time in the new way", "unit": "minutes", "placeholder": "10"},
        "tasksPerWeek": {"label": "Times a week, each", "placeholder": "12"},
        "people": {"placeholder": "8"},
        "adoption": {"label": "Taken up in the end", "unit": "%", "widget": "slider"},
        "rampMonths": {"label": "Time until then", "unit": "months"},
        "reworkRate": {"label": "To be corrected", "unit": "%", "widget": "slider"},
        "reworkMinutes": {"label": "Time for a correction", "unit": "minutes"},
        "trainingHours": {"label": "Training, each", "unit": "hours"},
        "hourlyCost": {"label": "Cost of an hour"},
        "workingWeeks": {"unit": "weeks a year"},
        "months": {"label": "Look ahead", "unit": "months"},
    },
    groups=(
        FormGroup("Corrections", ("reworkRate", "reworkMinutes"), closed=True),
        FormGroup("Cost and time", ("trainingHours", "hourlyCost", "workingWeeks", "months"), closed=True),
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
                    {"key": "hoursSaved", "label": "Hours saved", "unit": "hours", "decimals": 1},
                    {"key": "value", "label": "Worth", "decimals": 2},
                    {"key": "hoursPerWeek", "label": "In a week", "unit": "hours", "decimals": 1},
                    {"key": "hoursPerPerson", "label": "Each in a week", "unit": "hours", "decimals": 1},
                    {"key": "minutesPerTask", "label": "Each time", "unit": "minutes", "decimals": 1},
                    {"key": "timeCut", "label": "Less time", "unit": "%", "decimals": 1},
                    {"key": "breakEven", "label": "Training is back in month"},
                ]
            },
        ),
        OutputSection(
            "months",
            "Hours set free",
            "chart",
            {
                "kind": "area",
                "x": "month",
                "y": [{"key": "cumulativeHours", "label": "Hours so far", "decimals": 1}],
            },
        ),
        OutputSection(
            "months",
            "Month by month",
            "table",
            {
                "columns": [
                    {"key": "month", "format": "integer"},
                    {"key": "adoption", "unit": "%", "decimals": 1},
                    {"key": "hours", "decimals": 1},
                    {"key": "cumulativeHours", "label": "Hours so far", "decimals": 1},
                    {"key": "value", "decimals": 2},
                    {"key": "cumulativeValue", "label": "Value so far", "decimals": 2},
                ]
            },
        ),
    )
)


@tool(
    "analysis.calculateTimeSavings",
    input=RepeatedTask,
    slug="time-savings-calculator",
    name="Time Savings Calculator",
    category="analysis",
    icon="timer",
    level="read",
    danger="safe",
    idempotent=True,
    sections=VIEW.sections,
    form=FORM,
    view=VIEW,
)
async def calculate_time_savings(args: RepeatedTask) -> TimeSavings | Result:
    """Calculate the hours and the money that a quicker way of doing a task sets free, month by month, while
    people take it up and learn it.

    Use it when you know how long a task takes and how often it is done. To see what that means for the size
    of a team, use analysis.calculateFteImpact instead.
    """
    result = calculate(args)
    return Result(
        data=result,
        summary=result.summary.verdict,
        markdown=build_markdown_table(
            [month.to_dict() for month in result.months], heading=result.summary.verdict, limit=60
        ),
    )
