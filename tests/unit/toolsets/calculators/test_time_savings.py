"""Time Savings Calculator: worked by hand, at the edges, and whatever is put in."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.toolsets.calculators import time_savings
from handrail.toolsets.calculators.time_savings import RepeatedTask, calculate
from tests.unit.toolsets.calculators.tool_inputs import answer, refusal

SHARES = st.integers(0, 100).map(lambda percent: Decimal(percent) / 100)


@pytest.mark.req("CC-02")
def test_three_months_by_hand() -> None:
    # a task: 30 - 10 - 10 % × 20 = 18 minutes, 60 % of 30
    # tasks a month: 10 × 4 people × 48 weeks / 12 = 160
    # adoption, up to 80 % over 2 months: 80 × 0.5/2 = 20, 80 × 1.5/2 = 60, 80
    # hours: 160 × 0.2 × 18/60 = 9.6, less 4 × 3 of training = -2.4; 160 × 0.6 × 0.3 = 28.8; 38.4
    # together 64.8, at 50 an hour 3240; in a week 10 × 4 × 0.8 × 0.3 = 9.6, each 2.4
    out = answer(
        time_savings.calculate_time_savings,
        {
            "minutesBefore": 30,
            "minutesAfter": 10,
            "tasksPerWeek": 10,
            "people": 4,
            "adoption": 80,
            "rampMonths": 2,
            "reworkRate": 10,
            "reworkMinutes": 20,
            "trainingHours": 3,
            "hourlyCost": 50,
            "workingWeeks": 48,
            "months": 3,
        },
    )

    assert out["summary"] == {
        "hoursSaved": 64.8,
        "value": 3240.0,
        "minutesPerTask": 18.0,
        "timeCut": 60.0,
        "hoursPerWeek": 9.6,
        "hoursPerPerson": 2.4,
        "breakEven": 2,
        "verdict": "The new way saves 64.80 hours in 3 months, worth 3,240.",
    }
    assert [
        (one["adoption"], one["hours"], one["cumulativeHours"], one["value"]) for one in out["months"]
    ] == [
        (20.0, -2.4, -2.4, -120.0),
        (60.0, 28.8, 26.4, 1440.0),
        (80.0, 38.4, 64.8, 1920.0),
    ]


@pytest.mark.req("CC-02")
def test_corrections_can_eat_up_more_than_was_won() -> None:
    # 10 - 9 - 50 % × 10 = -4 minutes; 1 × 1 × 48/12 = 4 tasks a month, × -4/60 = -0.2667 hours
    found = calculate(
        RepeatedTask(
            minutes_before=10,
            minutes_after=9,
            tasks_per_week=1,
            people=1,
            adoption=100,
            ramp_months=0,
            rework_rate=50,
            rework_minutes=10,
            training_hours=0,
            working_weeks=48,
            months=1,
        )
    ).summary

    assert (found.minutes_per_task, found.hours_saved, found.break_even) == (-4, -0.27, "Never")
    assert found.verdict == "The new way costs 0.27 hours in a month, worth 13.33."


@pytest.mark.req("CC-02")
def test_nobody_who_takes_it_up_saves_nothing() -> None:
    found = calculate(
        RepeatedTask(
            minutes_before=1, minutes_after=0, tasks_per_week=1, people=1, adoption=0, training_hours=0
        )
    ).summary

    assert (found.hours_saved, found.break_even) == (0, 1)
    assert found.verdict == "Nothing is saved or lost in 12 months."


@pytest.mark.req("CC-02")
def test_a_task_that_takes_no_time_cannot_get_quicker() -> None:
    args = {"minutesBefore": 0, "minutesAfter": 0, "tasksPerWeek": 1, "people": 1}

    message = refusal(time_savings.calculate_time_savings, args)
    assert "minutesBefore: should be greater than or equal to 0.01, got 0" in message


@given(st.integers(0, 12), SHARES)
def test_a_ramp_takes_half_of_what_it_would_bring_at_once(ramp: int, target: Decimal) -> None:
    months = [time_savings.adoption_in(month, ramp, target) for month in range(1, ramp + 1)]

    assert round(sum(months, Decimal(0)), 20) == target * ramp / 2
    assert months == sorted(months)
    assert time_savings.adoption_in(ramp + 1, ramp, target) == target


@given(st.lists(st.integers(-50, 50).map(Decimal), min_size=1, max_size=12))
def test_it_breaks_even_exactly_when_the_sum_is_not_below_0(monthly: list[Decimal]) -> None:
    month = time_savings.break_even(monthly)

    assert (month is None) == (sum(monthly) < 0)
    assert month is None or sum(monthly[:month]) >= 0
