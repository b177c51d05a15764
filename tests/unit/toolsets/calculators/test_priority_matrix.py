"""Priority Matrix: worked by hand, at the edges, alone and in a group."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.toolsets.calculators import priority_matrix
from handrail.toolsets.calculators.priority_matrix import PriorityItems, aggregate, calculate
from tests.unit.toolsets.calculators.tool_inputs import answer, inputs, refusal


def item(name: str, impact: float, effort: float, **more: float) -> dict[str, Any]:
    return {"name": name, "impact": impact, "effort": effort, **more}


def counted(args: dict[str, Any]) -> dict[str, Any]:
    return calculate(PriorityItems.model_validate(args)).to_dict()


@pytest.mark.req("CC-05", "CC-09")
def test_four_items_by_hand() -> None:
    # Search 8 × 0.8 / 2 = 3.2; Rewrite 9 × 0.5 / 9 = 0.5; Labels 3 × 0.8 / 1 = 2.4;
    # Archive 2 × 1 / 8 = 0.25, for four teams 1.0
    out = answer(
        priority_matrix.rank_priorities,
        {
            "items": [
                item("Rewrite", 9, 9, confidence=50),
                item("Archive", 2, 8, confidence=100, reach=4),
                item("Search", 8, 2),
                item("Labels", 3, 1),
            ]
        },
    )

    assert [(one["rank"], one["name"], one["score"], one["quadrant"]) for one in out["ranking"]] == [
        (1, "Search", 3.2, "Quick win"),
        (2, "Labels", 2.4, "Fill-in"),
        (3, "Archive", 1.0, "Rethink"),
        (4, "Rewrite", 0.5, "Big bet"),
    ]
    assert out["summary"] == {
        "first": "Search",
        "items": 4,
        "quickWins": 1,
        "midpoint": 5.5,
        "verdict": "Begin with Search, a quick win; among 4 there is 1 quick win.",
    }
    assert [(one["quadrant"], one["count"], one["items"]) for one in out["quadrants"]] == [
        ("Quick win", 1, "Search"),
        ("Big bet", 1, "Rewrite"),
        ("Fill-in", 1, "Labels"),
        ("Rethink", 1, "Archive"),
    ]


@pytest.mark.req("CC-05")
def test_equal_scores_have_equal_ranks_and_less_effort_comes_first() -> None:
    # 8/4 = 4/2 = 2 (× 0.8), 1/1 = 1 (× 0.8)
    out = counted({"items": [item("B", 8, 4), item("A", 4, 2), item("C", 1, 1)]})

    assert [(one["rank"], one["name"]) for one in out["ranking"]] == [(1, "A"), (1, "B"), (3, "C")]


@pytest.mark.req("CC-05")
def test_the_middle_counts_as_high_and_no_quick_win_is_said() -> None:
    out = answer(priority_matrix.rank_priorities, {"items": [item("A", 5.5, 5.5)]})
    low = answer(priority_matrix.rank_priorities, {"items": [item("A", 1, 10)]})

    assert out["summary"]["verdict"] == "Begin with A, a big bet; among 1 there is no quick win."
    assert low["summary"]["verdict"] == (
        "A scores highest, but is no more than something to rethink; among 1 there is no quick win."
    )


@pytest.mark.req("CC-05")
@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([], "items: add at least one item to rank"),
        ([item("A", 5, 0)], "items.0.effort: should be greater than or equal to 1, got 0"),
        ([item("A", 5, 5, reach=0)], "items.0.reach: should be greater than or equal to 0.01, got 0"),
        ([item("A  b", 1, 2), item("a B", 2, 3)], "items: “a B” is there twice"),
    ],
)
def test_what_cannot_be_is_said_at_its_field(items: list[dict[str, Any]], message: str) -> None:
    assert message in refusal(priority_matrix.rank_priorities, {"items": items})


@pytest.mark.req("CC-05", "CC-09")
def test_two_people_with_different_lists_by_hand() -> None:
    # search: impact (8 + 4)/2 = 6, deviation 2; effort 2 and 2; confidence 80: 6 × 0.8 / 2 = 2.4
    # agreement: impact 1 - 2/4.5 = 55.56 %, effort 100 %: together 77.78 %
    # Labels by one person alone: 3 × 0.8 / 1 = 2.4 as well; less effort comes first
    one = counted({"items": [item("Search", 8, 2), item("Labels", 3, 1)]})
    other = counted({"items": [item("search", 4, 2)]})
    out = aggregate([one, other])

    assert [(row["rank"], row["name"], row["score"], row["raters"]) for row in out["ranking"]] == [
        (1, "Labels", 2.4, 1),
        (1, "Search", 2.4, 2),
    ]
    search = out["ranking"][1]
    assert (search["impact"], search["impactDeviation"], search["effortDeviation"]) == (6, 2, 0)
    assert (search["agreement"], search["quadrant"]) == (77.8, "Quick win")
    assert out["ranking"][0]["agreement"] is None
    assert out["summary"] == {
        "participants": 2,
        "first": "Labels",
        "items": 2,
        "quickWins": 1,
        "agreement": 77.8,
        "disputed": "Search",
        "verdict": "Labels scores highest, but is no more than a fill-in; among 2 there is 1 quick win. "
        "Agreement is fair.",
    }
    assert out["participants"] == [
        {"participant": 1, "first": "Search", "items": 2},
        {"participant": 2, "first": "search", "items": 1},
    ]


@pytest.mark.req("CC-09")
def test_nobody_one_and_what_is_no_ranking() -> None:
    alone = counted({"items": [item("A", 8, 2)]})
    nobody, one = aggregate([]), aggregate([alone])

    assert nobody["summary"]["verdict"] == "Nobody has rated anything yet."
    assert (nobody["ranking"], nobody["quadrants"]) == ([], [])
    assert (one["summary"]["agreement"], one["summary"]["disputed"]) == (None, None)
    assert one["ranking"][0]["score"] == alone["ranking"][0]["score"]
    assert aggregate([7, alone, {"ranking": []}]) == one


@settings(max_examples=40)
@given(st.lists(inputs(priority_matrix.rank_priorities), min_size=1, max_size=4), st.randoms())
def test_who_comes_first_makes_no_difference(several: list[dict[str, Any]], chance: Any) -> None:
    outputs = list(map(counted, several))
    mixed = list(outputs)
    chance.shuffle(mixed)
    one, other = aggregate(outputs), aggregate(mixed)

    assert {key: one[key] for key in ("summary", "ranking", "quadrants")} == {
        key: other[key] for key in ("summary", "ranking", "quadrants")
    }


@given(st.lists(st.tuples(st.integers(10, 100), st.integers(10, 100)), min_size=1, max_size=5))
def test_several_who_say_the_same_say_what_each_says(pairs: list[tuple[int, int]]) -> None:
    rated = [item(f"Item {at}", impact / 10, effort / 10) for at, (impact, effort) in enumerate(pairs)]
    alone = counted({"items": rated})
    out = aggregate([alone] * 3)

    assert [(row["name"], row["quadrant"]) for row in out["ranking"]] == [
        (row["name"], row["quadrant"]) for row in alone["ranking"]
    ]
    assert all(row["agreement"] == 100 for row in out["ranking"])
    assert out["summary"]["disputed"] is None
