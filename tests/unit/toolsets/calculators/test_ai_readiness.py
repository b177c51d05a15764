"""AI Readiness Assessment: worked by hand, at the edges, alone and in a group."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.toolsets.calculators import ai_readiness
from handrail.toolsets.calculators.ai_readiness import Assessment, aggregate, calculate
from tests.unit.toolsets.calculators.tool_inputs import answer, inputs, refusal

FIELDS = {
    "strategy": ("goals", "sponsorship", "useCases"),
    "data": ("quality", "access", "ownership"),
    "technology": ("infrastructure", "integration", "security"),
    "people": ("skills", "literacy", "openness"),
    "processes": ("documented", "measured", "changeable"),
    "governance": ("policy", "oversight", "compliance"),
}


def rated(*ratings: tuple[int, int, int], **more: Any) -> dict[str, Any]:
    """Arguments with three ratings for each dimension in turn."""
    pairs = zip(FIELDS.items(), ratings, strict=True)
    return {name: dict(zip(fields, three, strict=True)) for (name, fields), three in pairs} | more


def assessed(*ratings: tuple[int, int, int], **more: Any) -> dict[str, Any]:
    return answer(ai_readiness.assess_ai_readiness, rated(*ratings, **more))


def counted(args: dict[str, Any]) -> dict[str, Any]:
    """The same without a call around it."""
    return calculate(Assessment.model_validate(args)).to_dict()


@pytest.mark.req("CC-03", "CC-09")
def test_an_organisation_by_hand() -> None:
    # strategy (3+4+5)/3 = 4, (4-1)/4 = 75; data 1.667 gives 16.667; the others 3 give 50
    # weights 2 1 1 1 1 0 add up to 6: 75 × 2/6 + (16.667 + 3 × 50)/6 = 25 + 27.778 = 52.778
    # that would be Building (45 and more), and data is Starting: one above that is Exploring
    # gains up to 75: data 58.333/6 = 9.722, the others 25/6 = 4.167, governance does not count
    out = assessed(
        (3, 4, 5),
        (1, 1, 3),
        (3, 3, 3),
        (3, 3, 3),
        (2, 3, 4),
        (3, 3, 3),
        weights={"strategy": 2, "governance": 0},
    )

    assert out["summary"] == {
        "score": 52.8,
        "band": "Exploring",
        "weakest": "Data",
        "strongest": "Strategy",
        "verdict": "Exploring: 52.8 of 100, held back by data.",
    }
    assert out["dimensions"][1] == {
        "dimension": "Data",
        "score": 16.7,
        "target": 75.0,
        "gap": 58.3,
        "weight": 16.7,
        "band": "Starting",
    }
    assert [(one["name"], one["score"]) for one in out["gaps"]] == [
        ("Data", 9.7),
        ("Technology", 4.2),
        ("People", 4.2),
        ("Processes", 4.2),
    ]


@pytest.mark.req("CC-03")
def test_the_least_and_the_most() -> None:
    least, most = assessed(*[(1, 1, 1)] * 6), assessed(*[(5, 5, 5)] * 6)

    assert (least["summary"]["score"], least["summary"]["band"], len(least["gaps"])) == (0, "Starting", 6)
    assert (most["summary"]["score"], most["summary"]["band"], most["gaps"]) == (100, "Leading", [])


@pytest.mark.req("CC-03")
@pytest.mark.parametrize(
    ("score", "band"),
    [
        ("0", "Starting"),
        ("24.9", "Starting"),
        ("25", "Exploring"),
        ("45", "Building"),
        ("65", "Practising"),
        ("84.999", "Practising"),
        ("85", "Leading"),
    ],
)
def test_bands_begin_where_they_say(score: str, band: str) -> None:
    assert ai_readiness.band_of(Decimal(score)) == band


@pytest.mark.req("CC-03")
def test_weights_that_are_all_0_are_refused_at_the_weights() -> None:
    nothing = dict.fromkeys(FIELDS, 0)

    message = refusal(ai_readiness.assess_ai_readiness, rated(*[(3, 3, 3)] * 6, weights=nothing))
    assert "weights: all weights are 0; give at least one a weight above 0" in message


@pytest.mark.req("CC-03")
def test_a_rating_beyond_the_scale_is_refused_at_its_field() -> None:
    message = refusal(ai_readiness.assess_ai_readiness, rated((3, 3, 6), *[(3, 3, 3)] * 5))
    assert "strategy.useCases: should be 1, 2, 3, 4 or 5, got 6" in message


@given(inputs(ai_readiness.assess_ai_readiness), st.sampled_from([2, 10, 0.5]))
def test_weights_count_in_relation_to_each_other(args: dict[str, Any], factor: float) -> None:
    weights = {name: 1 + at for at, name in enumerate(FIELDS)}
    scaled = {name: weight * factor for name, weight in weights.items()}

    assert counted(args | {"weights": weights}) == counted(args | {"weights": scaled})


@pytest.mark.req("CC-09")
def test_two_people_by_hand() -> None:
    # 50 and 100: mean 75, deviation 25, agreement 1 - 25/50 = 50 %; Practising from 65 on
    out = aggregate([assessed(*[(3, 3, 3)] * 6), assessed(*[(5, 5, 5)] * 6)])

    assert out["summary"] == {
        "participants": 2,
        "score": 75.0,
        "band": "Practising",
        "agreement": 50.0,
        "deviation": 25.0,
        "weakest": "Strategy",
        "strongest": "Strategy",
        "disputed": "Strategy",
        "verdict": "Practising: 75 of 100, by 2 people with weak agreement.",
    }
    assert [(one["low"], one["high"], one["agreement"]) for one in out["dimensions"]] == [(50, 100, 50)] * 6
    assert [one["score"] for one in out["participants"]] == [50, 100]
    assert out["gaps"] == []


@pytest.mark.req("CC-09")
def test_nobody_one_and_what_is_no_assessment() -> None:
    alone = assessed(*[(2, 2, 2)] * 6)
    nobody, one = aggregate([]), aggregate([alone])

    assert nobody["summary"]["verdict"] == "Nobody has answered yet."
    assert (nobody["summary"]["score"], nobody["dimensions"]) == (None, [])
    assert (one["summary"]["score"], one["summary"]["agreement"]) == (25, None)
    assert one["summary"]["verdict"] == "Exploring: 25 of 100, by one person."
    assert one["summary"]["disputed"] is None
    assert aggregate([{"summary": "old"}, None, alone]) == one


@settings(max_examples=40)
@given(st.lists(inputs(ai_readiness.assess_ai_readiness), min_size=1, max_size=4), st.randoms())
def test_who_comes_first_makes_no_difference(several: list[dict[str, Any]], chance: Any) -> None:
    outputs = [counted(args | {"weights": {"data": 3}}) for args in several]
    mixed = list(outputs)
    chance.shuffle(mixed)
    one, other = aggregate(outputs), aggregate(mixed)

    assert {key: one[key] for key in ("summary", "dimensions", "gaps")} == {
        key: other[key] for key in ("summary", "dimensions", "gaps")
    }
    assert sorted(voice["score"] for voice in one["participants"]) == sorted(
        voice["score"] for voice in other["participants"]
    )
