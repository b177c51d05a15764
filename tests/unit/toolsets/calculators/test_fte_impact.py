"""FTE Impact Calculator: worked by hand, at the edges, and whatever is put in."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.toolsets.calculators import fte_impact
from handrail.toolsets.calculators.fte_impact import TeamWorkload, calculate
from tests.unit.toolsets.calculators.tool_inputs import answer, refusal


@pytest.mark.req("CC-07", "CC-09")
def test_a_team_by_hand() -> None:
    # capacity: (52 × 40 - 40 × 8) × 80 % = (2080 - 320) × 0.8 = 1408 hours a year
    # work: 12 × 2816 × 20/60 = 11264 hours = 8 equivalents; with half of it 50 % quicker × 0.75 = 6
    # freed: 2 equivalents, 2816 hours, 140000; load of 7: 8/7 = 114.3 %, 6/7 = 85.7 %
    # in a year 25 % more: 10 and 7.5; missing 3 and 1 of 7, so 2 hires less
    out = answer(
        fte_impact.calculate_fte_impact,
        {
            "teamSize": 7,
            "unitsPerMonth": 2816,
            "minutesPerUnit": 20,
            "timeCut": 50,
            "shareAffected": 50,
            "volumeGrowth": 25,
            "years": 1,
        },
    )

    assert out["summary"] == {
        "freed": 2.0,
        "neededBefore": 8.0,
        "neededAfter": 6.0,
        "capacityHours": 1408.0,
        "loadBefore": 114.3,
        "loadAfter": 85.7,
        "hoursFreed": 2816.0,
        "value": 140000.0,
        "hiresAvoided": 2,
        "verdict": "The change sets 2 of 8 full-time equivalents free, "
        "and 2 fewer people must be hired next year.",
    }
    assert [(one["neededBefore"], one["neededAfter"]) for one in out["years"]] == [(8, 6), (10, 7.5)]
    assert [(one["hiresBefore"], one["hiresAfter"]) for one in out["years"]] == [(1, 0), (3, 1)]


@pytest.mark.req("CC-07")
def test_nobody_and_nothing_to_do() -> None:
    found = calculate(TeamWorkload(team_size=0, units_per_month=0, minutes_per_unit=1, time_cut=50))

    assert (found.summary.load_before, found.summary.freed, found.summary.hires_avoided) == (None, 0, 0)
    assert found.summary.verdict == "The change sets 0 of 0 full-time equivalents free."


@pytest.mark.req("CC-07")
def test_work_that_ends_needs_nobody() -> None:
    found = calculate(
        TeamWorkload(team_size=1, units_per_month=100, minutes_per_unit=60, time_cut=0, volume_growth=-100)
    )

    assert [one.needed_before for one in found.years] == [0.85, 0, 0, 0]


@pytest.mark.req("CC-07")
def test_a_person_is_hired_as_a_whole_and_not_for_a_millionth() -> None:
    assert fte_impact.hires(Decimal("7.01"), Decimal(7)) == 1
    assert fte_impact.hires(Decimal("7.0000001"), Decimal(7)) == 0
    assert fte_impact.hires(Decimal(3), Decimal(7)) == 0


@pytest.mark.req("CC-07")
def test_hours_that_nobody_has_are_refused_at_their_field() -> None:
    args = {"teamSize": 1, "unitsPerMonth": 1, "minutesPerUnit": 1, "timeCut": 1, "utilisation": 0}

    message = refusal(fte_impact.calculate_fte_impact, args)
    assert "utilisation: should be greater than or equal to 1, got 0" in message


@pytest.mark.req("CC-07")
def test_a_crumb_of_a_person_is_no_team() -> None:
    args = {"teamSize": 0.001, "unitsPerMonth": 1, "minutesPerUnit": 1, "timeCut": 1}

    message = refusal(fte_impact.calculate_fte_impact, args)
    assert "teamSize: must be 0, or at least 0.01 of a person, got 0.001" in message


@given(st.integers(1, 80), st.integers(0, 200), st.integers(1, 100))
def test_there_is_always_some_capacity(hours: int, absent: int, percent: int) -> None:
    found = fte_impact.capacity(Decimal(hours), Decimal(absent), Decimal(percent) / 100)

    assert 0 < found <= 52 * hours


@given(st.integers(0, 100), st.integers(0, 100), st.integers(0, 10_000))
def test_a_change_never_makes_work(cut: int, affected: int, units: int) -> None:
    lighter = fte_impact.workload(Decimal(units), Decimal(7), Decimal(cut) / 100, Decimal(affected) / 100)

    assert 0 <= lighter <= fte_impact.workload(Decimal(units), Decimal(7))
