"""All figures of the Time Savings Calculator."""

from __future__ import annotations

from itertools import accumulate

from handrail.toolsets.calculators.figures import HUNDRED, cents, exact, exactly, part, rounded, spoken
from handrail.toolsets.calculators.time_savings import formulas
from handrail.toolsets.calculators.time_savings.models import MonthlySaving, Task, TimeSavings, TimeSummary


@exactly
def calculate(given: Task) -> TimeSavings:
    """All figures, rounded."""
    before, target = exact(given.minutes_before), part(given.adoption)
    minutes = formulas.minutes_saved(
        before, exact(given.minutes_after), part(given.rework_rate), exact(given.rework_minutes)
    )
    tasks = formulas.tasks_per_month(exact(given.tasks_per_week), given.people, exact(given.working_weeks))
    training = exact(given.training_hours) * given.people
    monthly = formulas.monthly_hours(given.months, given.ramp_months, target, tasks, minutes, training)
    cost = cents(given.hourly_cost)
    sums = list(accumulate(monthly))
    weekly = formulas.hours(exact(given.tasks_per_week) * given.people, target, minutes)
    month = formulas.break_even(monthly)
    total = rounded(sums[-1])
    return TimeSavings(
        summary=TimeSummary(
            hours_saved=total,
            value=rounded(sums[-1] * cost),
            minutes_per_task=rounded(minutes),
            time_cut=rounded(HUNDRED * minutes / before),
            hours_per_week=rounded(weekly),
            hours_per_person=rounded(weekly / given.people),
            break_even="Never" if month is None else month,
            verdict=_verdict(total, rounded(sums[-1] * cost), given.months),
        ),
        months=[
            MonthlySaving(
                month=number,
                adoption=rounded(HUNDRED * formulas.adoption_in(number, given.ramp_months, target)),
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
    return f"The new way {what} {spoken(abs(hours))} hours in {span}, worth {spoken(abs(value))}."
