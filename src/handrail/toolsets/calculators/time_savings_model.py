"""The Time Savings Calculator: its input, its output and its formulas."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from handrail.toolsets.calculators.decimals import ZERO
from handrail.toolsets.calculators.schemas import (
    CalculatorInput,
    CalculatorOutput,
    Money,
    Never,
    Percent,
    Verdict,
)

Minutes = Annotated[float, Field(ge=0, le=10_080)]


class RepeatedTask(CalculatorInput):
    """A task that is done often, and a quicker way to do it."""

    minutes_before: Annotated[float, Field(ge=0.01, le=10_080)] = Field(
        description="Minutes that the task takes once today, such as 30."
    )
    minutes_after: Minutes = Field(description="Minutes that it will take in the new way, such as 10.")
    tasks_per_week: Annotated[float, Field(ge=0.01, le=10_000)] = Field(
        description="How often each person does it in a week, such as 12."
    )
    people: Annotated[int, Field(ge=1, le=1_000_000)] = Field(description="How many people do it.")
    adoption: Percent = Field(
        default=80, description="Percent of the tasks that will be done in the new way in the end."
    )
    ramp_months: Annotated[int, Field(ge=0, le=60)] = Field(
        default=3, description="Months until then, from none in even steps; 0 means from the first day."
    )
    rework_rate: Percent = Field(
        default=5, description="Percent of the tasks done in the new way that must be corrected."
    )
    rework_minutes: Minutes = Field(default=10, description="Minutes that one correction takes.")
    training_hours: Annotated[float, Field(ge=0, le=1_000)] = Field(
        default=2, description="Hours that each person needs to learn it, spent in the first month."
    )
    hourly_cost: Annotated[Money, Field(le=100_000)] = Field(
        default=50, description="What an hour of work costs, with everything that comes on top of pay."
    )
    working_weeks: Annotated[float, Field(ge=1, le=53)] = Field(
        default=46, description="Weeks that a person works in a year."
    )
    months: Annotated[int, Field(ge=1, le=60)] = Field(
        default=12, description="For how many months to look ahead, 1 to 60."
    )


class TimeSummary(CalculatorOutput):
    hours_saved: float = Field(description="Hours set free in all months together, less training.")
    value: float = Field(description="The same in money.")
    minutes_per_task: float = Field(description="Minutes set free by one task done in the new way.")
    time_cut: float = Field(description="The same in percent of the minutes before.")
    hours_per_week: float = Field(description="Hours set free in a working week once all have changed.")
    hours_per_person: float = Field(description="The same for each person.")
    break_even: int | Never = Field(description="The month in which the training has come back, or Never.")
    verdict: Verdict = ""


class MonthlySaving(CalculatorOutput):
    month: int = Field(description="1 is the first.")
    adoption: float = Field(description="Percent of the tasks done in the new way, on average of the month.")
    hours: float = Field(description="Hours set free, less training.")
    cumulative_hours: float = Field(description="Hours of this month and all before.")
    value: float = Field(description="What the hours of the month are worth.")
    cumulative_value: float = Field(description="The same for this month and all before.")


class TimeSavings(CalculatorOutput):
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
    total, owing = ZERO, 0
    for month, value in enumerate(monthly, 1):
        total += value
        if total < 0:
            owing = month
    return None if owing == len(monthly) else owing + 1
