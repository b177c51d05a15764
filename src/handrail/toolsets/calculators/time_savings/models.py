"""What the Time Savings Calculator asks for and tells."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from handrail.toolsets.calculators.shapes import Given, Money, Never, Percent, Told, Verdict

Minutes = Annotated[float, Field(ge=0, le=10_080)]


class Task(Given):
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


class TimeSummary(Told):
    hours_saved: float = Field(description="Hours set free in all months together, less training.")
    value: float = Field(description="The same in money.")
    minutes_per_task: float = Field(description="Minutes set free by one task done in the new way.")
    time_cut: float = Field(description="The same in percent of the minutes before.")
    hours_per_week: float = Field(description="Hours set free in a working week once all have changed.")
    hours_per_person: float = Field(description="The same for each person.")
    break_even: int | Never = Field(description="The month in which the training has come back, or Never.")
    verdict: Verdict = ""


class MonthlySaving(Told):
    month: int = Field(description="1 is the first.")
    adoption: float = Field(description="Percent of the tasks done in the new way, on average of the month.")
    hours: float = Field(description="Hours set free, less training.")
    cumulative_hours: float = Field(description="Hours of this month and all before.")
    value: float = Field(description="What the hours of the month are worth.")
    cumulative_value: float = Field(description="The same for this month and all before.")


class TimeSavings(Told):
    summary: TimeSummary = Field(description="The figures that decide.")
    months: list[MonthlySaving] = Field(description="Month by month.")
