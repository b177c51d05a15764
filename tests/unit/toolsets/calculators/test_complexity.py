"""Complexity Estimator: worked by hand, at the edges, and whatever is put in."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.toolsets.calculators import complexity
from handrail.toolsets.calculators.complexity import WorkPackage, calculate
from tests.unit.toolsets.calculators.tool_inputs import answer, refusal

DEVIATIONS = st.lists(st.integers(0, 1000).map(lambda one: Decimal(one) / 10), min_size=1, max_size=8)
SHARES = st.integers(0, 100).map(lambda percent: Decimal(percent) / 100)


def item(name: str, best: float, likely: float, worst: float) -> dict[str, Any]:
    return {"name": name, "optimistic": best, "likely": likely, "pessimistic": worst}


@pytest.mark.req("CC-04", "CC-09")
def test_two_parts_by_hand() -> None:
    # Import: (2 + 4×4 + 12)/6 = 5, (12-2)/6 = 1.6667; Pages: (6 + 4×9 + 18)/6 = 10, (18-6)/6 = 2
    # high novelty: × 1.15: 5.75 and 11.5, deviations 1.9167 and 2.3; together 17.25
    # nothing in common: √(3.6736 + 5.29) = 2.9939; 80 of 100: ± 1.281552 × 2.9939 = 3.8369
    # risk: 3.6736/8.9636 = 41 %, 5.29/8.9636 = 59 %; two people: 17.25/10 = 1.725 weeks, to even 1.7
    out = answer(
        complexity.estimate_complexity,
        {
            "items": [item("Import", 2, 4, 12), item("Pages", 6, 9, 18)],
            "novelty": "high",
            "correlation": 0,
            "teamSize": 2,
        },
    )

    assert out["summary"] == {
        "expectedDays": 17.2,  # 17.25, to the even neighbour
        "lowDays": 13.4,
        "highDays": 21.1,
        "calendarWeeks": 1.7,
        "factor": 1.15,
        "size": "Medium",
        "uncertainty": 22.2,
        "verdict": "Medium: 17.2 days, and in 80 of 100 cases between 13.4 and 21.1.",
    }
    assert out["items"][0] == {"name": "Import", "expected": 5.8, "low": 3.3, "high": 8.2, "deviation": 1.92}
    assert out["risks"] == [{"name": "Pages", "score": 59.0}, {"name": "Import", "score": 41.0}]


@pytest.mark.req("CC-04")
def test_parts_that_go_wrong_together_widen_the_range() -> None:
    # deviations 3 and 4: apart √(9 + 16) = 5, together 3 + 4 = 7, halfway √(0.5 × 25 + 0.5 × 49) = √37
    both = [Decimal(3), Decimal(4)]

    assert complexity.total_deviation(both, Decimal(0)) == 5
    assert complexity.total_deviation(both, Decimal(1)) == 7
    assert complexity.total_deviation(both, Decimal("0.5")) == Decimal(37).sqrt()


@pytest.mark.req("CC-04")
def test_work_that_takes_no_time_is_small_and_certain() -> None:
    found = calculate(WorkPackage.model_validate({"items": [item("Nothing", 0, 0, 0)]}))

    assert (found.summary.expected_days, found.summary.uncertainty, found.summary.size) == (0, 0, "Small")
    assert found.risks[0].score == 0


@pytest.mark.req("CC-04")
@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([], "items: add at least one part of the work"),
        ([item("A", 5, 4, 6)], "items.0.likely: must be at least the optimistic 5 days, got 4"),
        ([item("A", 1, 4, 2.5)], "items.0.pessimistic: must be at least the likely 4 days, got 2.5"),
        ([item("A", 1, 2, 3), item(" a ", 1, 2, 3)], "items: “a” is there twice; give each its own name"),
        ([item(" ", 1, 2, 3)], "items.0.name: string should have at least 1 character"),
    ],
)
def test_what_cannot_be_is_said_at_its_field(items: list[dict[str, Any]], message: str) -> None:
    assert message in refusal(complexity.estimate_complexity, {"items": items})


@given(DEVIATIONS, SHARES)
def test_the_range_of_all_lies_between_the_root_and_the_sum(values: list[Decimal], shared: Decimal) -> None:
    total = complexity.total_deviation(values, shared)
    slack = Decimal("1e-20")

    assert complexity.total_deviation(values, Decimal(0)) <= total + slack
    assert total <= sum(values) + slack


@given(DEVIATIONS, SHARES)
def test_the_shares_of_risk_add_up(values: list[Decimal], shared: Decimal) -> None:
    shares = complexity.shares_of_risk(values, shared)

    assert round(sum(shares, Decimal(0)), 15) == (100 if any(values) else 0)
    assert all(0 <= share <= 100 for share in shares)


@given(st.lists(st.integers(0, 1000).map(Decimal), min_size=3, max_size=3).map(sorted))
def test_what_is_expected_lies_between_the_best_and_the_worst(points: list[Decimal]) -> None:
    best, likely, worst = points

    assert best <= complexity.expected(best, likely, worst) <= worst
