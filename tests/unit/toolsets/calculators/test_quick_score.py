"""Quick Score: worked by hand, at the edges, alone and in a group."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.toolsets.calculators import quick_score
from handrail.toolsets.calculators.quick_score import QuickScoreInput, aggregate, calculate
from tests.unit.toolsets.calculators.tool_inputs import answer, refusal

CRITERIA = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(["Price", "price", "Service", "Speed", "Fit"]),
            "score": st.integers(0, 10),
            "weight": st.integers(1, 9),
        }
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda one: str(one["name"]).casefold(),
)


def criterion(name: str, score: float, weight: float = 1) -> dict[str, Any]:
    return {"name": name, "score": score, "weight": weight}


def counted(*criteria: dict[str, Any], subject: str = "Offer") -> dict[str, Any]:
    return calculate(
        QuickScoreInput.model_validate({"subject": subject, "criteria": list(criteria)})
    ).to_dict()


@pytest.mark.req("CC-08", "CC-09")
def test_an_offer_by_hand() -> None:
    # weights 3 + 2 = 5: 60 % and 40 %; points 0.6 × 8 × 10 = 48 and 0.4 × 4.5 × 10 = 18: 66, good
    # still to be won: 0.6 × 2 × 10 = 12 and 0.4 × 5.5 × 10 = 22
    out = answer(
        quick_score.score_quickly,
        {"subject": "Offer of Alder", "criteria": [criterion("Price", 8, 3), criterion("Service", 4.5, 2)]},
    )

    assert out == {
        "summary": {
            "subject": "Offer of Alder",
            "score": 66.0,
            "band": "Good",
            "strongest": "Price",
            "weakest": "Service",
            "verdict": "Offer of Alder scores 66 of 100: good.",
        },
        "criteria": [
            {"name": "Price", "score": 8.0, "weight": 60.0, "contribution": 48.0},
            {"name": "Service", "score": 4.5, "weight": 40.0, "contribution": 18.0},
        ],
        "levers": [{"name": "Service", "score": 22.0}, {"name": "Price", "score": 12.0}],
    }


@pytest.mark.req("CC-08")
@pytest.mark.parametrize(
    ("score", "band"), [(0, "Weak"), (3.9, "Weak"), (4, "Mixed"), (6, "Good"), (8, "Strong"), (10, "Strong")]
)
def test_bands_begin_where_they_say(score: float, band: str) -> None:
    assert counted(criterion("A", score))["summary"]["band"] == band


@pytest.mark.req("CC-08")
def test_what_is_perfect_has_no_lever_and_what_does_not_count_changes_nothing() -> None:
    out = counted(criterion("A", 10), criterion("B", 0, 0))

    assert (out["summary"]["score"], out["levers"]) == (100, [])


@pytest.mark.req("CC-08")
@pytest.mark.parametrize(
    ("criteria", "message"),
    [
        ([], "criteria: add at least one criterion to rate by"),
        ([criterion("A", 5, 0)], "criteria: all weights are 0; give at least one a weight above 0"),
        ([criterion("A", 11)], "criteria.0.score: should be less than or equal to 10, got 11"),
        ([criterion("A", 1, -1)], "criteria.0.weight: should be greater than or equal to 0, got -1"),
        ([criterion("A", 1), criterion("a", 2)], "criteria: “a” is there twice"),
    ],
)
def test_what_cannot_be_is_said_at_its_field(criteria: list[dict[str, Any]], message: str) -> None:
    assert message in refusal(quick_score.score_quickly, {"subject": "Offer", "criteria": criteria})


@pytest.mark.req("CC-09")
def test_two_people_with_different_criteria_by_hand() -> None:
    # Ana: Price 8 alone, 80 points; Bo: price 4 and Service 6, alike: 50 points
    # together (80 + 50)/2 = 65, deviation 15, agreement 1 - 15/50 = 70 %
    # price: score (8 + 4)/2 = 6, deviation 2, agreement 1 - 2/5 = 60 %; weight (100 + 50)/2 = 75,
    #   points (80 + 20)/2 = 50; Service: weight (0 + 50)/2 = 25, points 30/2 = 15; 50 + 15 = 65
    out = aggregate([counted(criterion("Price", 8)), counted(criterion("price", 4), criterion("Service", 6))])

    assert out["summary"] == {
        "participants": 2,
        "subject": "Offer",
        "score": 65.0,
        "band": "Good",
        "low": 50.0,
        "high": 80.0,
        "deviation": 15.0,
        "agreement": 70.0,
        "verdict": "Offer scores 65 of 100: good, with fair agreement.",
    }
    price, service = out["criteria"]
    assert (price["name"], price["score"], price["weight"], price["contribution"]) == ("Price", 6, 75, 50)
    assert (price["raters"], price["low"], price["high"], price["agreement"]) == (2, 4, 8, 60)
    assert (service["weight"], service["contribution"], service["agreement"]) == (25, 15, None)
    assert [(one["participant"], one["score"]) for one in out["participants"]] == [(1, 80), (2, 50)]


@pytest.mark.req("CC-09")
def test_nobody_one_and_what_is_no_score() -> None:
    alone = counted(criterion("A", 5))
    nobody, one = aggregate([]), aggregate([alone])

    assert nobody["summary"]["verdict"] == "Nobody has rated yet."
    assert (nobody["criteria"], nobody["levers"]) == ([], [])
    assert one["summary"]["verdict"] == "Offer scores 50 of 100: mixed, by one person."
    assert aggregate(["odd", alone]) == one


@given(CRITERIA, st.sampled_from([2, 10, 0.5, 100]))
def test_weights_count_in_relation_to_each_other(criteria: list[dict[str, Any]], factor: float) -> None:
    scaled = [{**one, "weight": one["weight"] * factor} for one in criteria]

    assert counted(*criteria) == counted(*scaled)


@given(CRITERIA)
def test_the_score_lies_between_the_least_and_the_most(criteria: list[dict[str, Any]]) -> None:
    scores = [one["score"] * 10 for one in criteria]

    assert min(scores) <= counted(*criteria)["summary"]["score"] <= max(scores)


@settings(max_examples=40)
@given(st.lists(CRITERIA, min_size=1, max_size=4), st.randoms())
def test_who_comes_first_makes_no_difference(several: list[list[dict[str, Any]]], chance: Any) -> None:
    outputs = [counted(*criteria) for criteria in several]
    mixed = list(outputs)
    chance.shuffle(mixed)
    one, other = aggregate(outputs), aggregate(mixed)

    assert {key: one[key] for key in ("summary", "criteria", "levers")} == {
        key: other[key] for key in ("summary", "criteria", "levers")
    }
