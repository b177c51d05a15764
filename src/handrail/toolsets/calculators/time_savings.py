"""Time Savings Calculator: hours that a quicker way of working sets free, month by month."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import accumulate
from typing import Annotated

from pydantic import Field

from handrail.ext.forms import FormGroup, FormSpec
from handrail.toolsets.calculators import schemas
from handrail.toolsets.calculators.calculator import calculator, chart_section, summary_section, table_section
from handrail.toolsets.calculators.decimals import (
    HUNDRED,
    cents,
    format_number,
    from_percent,
    rounded,
    to_decimal,
    with_decimal_context,
)

Minutes = Annotated[float, Field(ge=0, le=10_080)]


class RepeatedTask(schemas.CalculatorInput):
    """A task that is done often, and a quicker way to do it."""

    minutes_before: Annotated[float, Field(ge=0.01, le=10_080)] = Field(
        description="Minutes that the task takes once today, such as 30."
    )
    minutes_after: Minutes = Field(description="Minutes that it will take in the new way, such as 10.")
    tasks_per_week: Annotated[float, Field(ge=0.01, le=10_000)] = Field(
        description="How often each person does it in a week, such as 12."
    )
    people: Annotated[int, Field(ge=1, le=1_000_000)] = Field(description="How many people do it.")
    adoption: schemas.Percent = Field(
        default=80, description="Percent of the tasks that will be done in the new way in the end."
    )
    ramp_months: Annotated[int, Field(ge=0, le=60)] = Field(
        default=3, description="Months until then, from none in even steps; 0 means from the first day."
    )
    rework_rate: schemas.Percent = Field(
        default=5, description="Percent of the tasks done in the new way that must be corrected."
    )
    rework_minutes: Minutes = Field(default=10, description="Minutes that one correction takes.")
    training_hours: Annotated[float, Field(ge=0, le=1_000)] = Field(
        default=2, description="Hours that each person needs to learn it, spent in the first month."
    )
    hourly_cost: Annotated[schemas.Money, Field(le=100_000)] = Field(
        default=50, description="What an hour of work costs, with everything that comes on top of pay."
    )
    working_weeks: Annotated[float, Field(ge=1, le=53)] = Field(
        default=46, description="Weeks that a person works in a year."
    )
    months: Annotated[int, Field(ge=1, le=60)] = Field(
        default=12, description="For how many months to look ahead, 1 to 60."
    )


class TimeSummary(schemas.CalculatorOutput):
    hours_saved: float = Field(description="Hours set free in all months together, less training.")
    value: float = Field(description="The same in money.")
    minutes_per_task: float = Field(description="Minutes set free by one task done in the new way.")
    time_cut: float = Field(description="The same in percent of the minutes before.")
    hours_per_week: float = Field(description="Hours set free in a working week once all have changed.")
    hours_per_person: float = Field(description="The same for each person.")
    break_even: int | schemas.Never = Field(
        description="The month in which the training has come back, or Never."
    )
    verdict: schemas.Verdict = ""


class MonthlySaving(schemas.CalculatorOutput):
    month: int = Field(description="1 is the first.")
    adoption: float = Field(description="Percent of the tasks done in the new way, on average of the month.")
    hours: float = Field(description="Hours set free, less training.")
    cumulative_hours: float = Field(description="Hours of this month and all before.")
    value: float = Field(description="What the hours of the month are worth.")
    cumulative_value: float = Field(description="The same for this month and all before.")


class TimeSavings(schemas.CalculatorOutput):
    summary: TimeSummary = Field(description="The figures that decide.")
    months: list[MonthlySaving] = Field(description="Month by month.")


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
    last_owing = max((month for month, total in enumerate(accumulate(monthly), 1) if total < 0), default=0)
    return None if last_owing == len(monthly) else last_owing + 1


@with_decimal_context
def calculate(inputs: RepeatedTask) -> TimeSavings:
    """All figures, rounded."""
    before, target = to_decimal(inputs.minutes_before), from_percent(inputs.adoption)
    minutes = minutes_saved(
        before,
        to_decimal(inputs.minutes_after),
        from_percent(inputs.rework_rate),
        to_decimal(inputs.rework_minutes),
    )
    tasks = tasks_per_month(
        to_decimal(inputs.tasks_per_week), inputs.people, to_decimal(inputs.working_weeks)
    )
    training = to_decimal(inputs.training_hours) * inputs.people
    monthly = monthly_hours(inputs.months, inputs.ramp_months, target, tasks, minutes, training)
    cost = cents(inputs.hourly_cost)
    sums = list(accumulate(monthly))
    weekly = hours(to_decimal(inputs.tasks_per_week) * inputs.people, target, minutes)
    month = break_even(monthly)
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
                adoption=rounded(HUNDRED * adoption_in(number, inputs.ramp_months, target)),
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

SECTIONS = (
    summary_section(
        {"key": "hoursSaved", "label": "Hours saved", "unit": "hours", "decimals": 1},
        {"key": "value", "label": "Worth", "decimals": 2},
        {"key": "hoursPerWeek", "label": "In a week", "unit": "hours", "decimals": 1},
        {"key": "hoursPerPerson", "label": "Each in a week", "unit": "hours", "decimals": 1},
        {"key": "minutesPerTask", "label": "Each time", "unit": "minutes", "decimals": 1},
        {"key": "timeCut", "label": "Less time", "unit": "%", "decimals": 1},
        {"key": "breakEven", "label": "Training is back in month"},
    ),
    chart_section(
        "months",
        "Hours set free",
        "area",
        "month",
        {"key": "cumulativeHours", "label": "Hours so far", "decimals": 1},
    ),
    table_section(
        "months",
        "Month by month",
        {"key": "month", "format": "integer"},
        {"key": "adoption", "unit": "%", "decimals": 1},
        {"key": "hours", "decimals": 1},
        {"key": "cumulativeHours", "label": "Hours so far", "decimals": 1},
        {"key": "value", "decimals": 2},
        {"key": "cumulativeValue", "label": "Value so far", "decimals": 2},
    ),
)


@calculator(
    "analysis.calculateTimeSavings",
    slug="time-savings-calculator",
    name="Time Savings Calculator",
    icon="timer",
    form=FORM,
    sections=SECTIONS,
    rows="months",
    limit=60,
)
def calculate_time_savings(args: RepeatedTask) -> TimeSavings:
    """Calculate the hours and the money that a quicker way of doing a task sets free, month by month, while
    people take it up and learn it.

    Use it when you know how long a task takes and how often it is done. To see what that means for the size
    of a team, use analysis.calculateFteImpact instead.
    """
    return calculate(args)
