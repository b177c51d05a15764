"""Priority Matrix: what to do first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, get_args

from pydantic import Field

from handrail import Result, tool
from handrail.ext import FormGroup, FormSpec, OutputSection, ViewSpec, build_markdown_table
from handrail.toolsets.calculators import priority_matrix_model
from handrail.toolsets.calculators.agreement import (
    Spread,
    agreement_label,
    most_common,
    parse_outputs,
    spread_of,
)
from handrail.toolsets.calculators.decimals import (
    HUNDRED,
    mean,
    rounded,
    rounded_or_none,
    to_decimal,
    with_decimal_context,
)
from handrail.toolsets.calculators.priority_matrix_model import (
    Priorities,
    PriorityItems,
    PrioritySummary,
    Quadrant,
    QuadrantCount,
    RankedItem,
)
from handrail.toolsets.calculators.schemas import CalculatorOutput, name_key

__all__ = ["rank_priorities"]


@dataclass(frozen=True, slots=True)
class ItemRatings:
    """An item with its ratings; confidence in percent."""

    name: str
    impact: Decimal
    effort: Decimal
    confidence: Decimal
    reach: Decimal


@with_decimal_context
def calculate(inputs: PriorityItems) -> Priorities:
    """All figures, rounded."""
    rated = [
        ItemRatings(
            one.name,
            to_decimal(one.impact),
            to_decimal(one.effort),
            to_decimal(one.confidence),
            to_decimal(one.reach),
        )
        for one in inputs.items
    ]
    ranking = rank_items(rated, to_decimal(inputs.midpoint))
    wins = sum(one.quadrant == "Quick win" for one in ranking)
    return Priorities(
        summary=PrioritySummary(
            first=ranking[0].name,
            items=len(ranking),
            quick_wins=wins,
            midpoint=inputs.midpoint,
            verdict=verdict(ranking),
        ),
        ranking=ranking,
        quadrants=quadrant_counts(ranking),
    )


def rank_items(rated: Iterable[ItemRatings], midpoint: Decimal) -> list[RankedItem]:
    """The highest score first; of equals the one with less effort, then by name."""
    scored = [
        (
            rounded(priority_matrix_model.score(one.reach, one.impact, one.confidence / HUNDRED, one.effort)),
            one,
        )
        for one in rated
    ]
    scored.sort(key=lambda pair: (-pair[0], pair[1].effort, name_key(pair[1].name)))
    places = priority_matrix_model.ranks([score for score, _ in scored])
    return [
        RankedItem(
            rank=place,
            name=one.name,
            score=score,
            quadrant=priority_matrix_model.quadrant(one.impact, one.effort, midpoint),
            impact=rounded(one.impact),
            effort=rounded(one.effort),
            confidence=rounded(one.confidence),
            reach=rounded(one.reach),
        )
        for place, (score, one) in zip(places, scored, strict=True)
    ]


def quadrant_counts(ranking: Iterable[RankedItem]) -> list[QuadrantCount]:
    """All four quadrants, also those with nothing in them."""
    names: dict[Quadrant, list[str]] = {quadrant: [] for quadrant in get_args(Quadrant)}
    for one in ranking:
        names[one.quadrant].append(one.name)
    return [
        QuadrantCount(
            quadrant=quadrant,
            count=len(found),
            items=", ".join(found),
            advice=priority_matrix_model.ADVICE[quadrant],
        )
        for quadrant, found in names.items()
    ]


def verdict(ranking: list[RankedItem]) -> str:
    first, wins = ranking[0], sum(one.quadrant == "Quick win" for one in ranking)
    said = f"Begin with {first.name}, a {first.quadrant.lower()}"
    if first.quadrant in ("Fill-in", "Rethink"):
        said = f"{first.name} scores highest, but is no more than a {first.quadrant.lower()}"
        said = said.replace("a rethink", "something to rethink")
    count = f"{wins} quick win{'' if wins == 1 else 's'}" if wins else "no quick win"
    return f"{said}; among {len(ranking)} there {'are' if wins > 1 else 'is'} {count}."


_MIN_RATING, _MAX_RATING = Decimal(1), Decimal(10)


class GroupRankedItem(RankedItem):
    raters: int = Field(description="How many people rated it.")
    impact_deviation: float = Field(description="Standard deviation of the impact.")
    effort_deviation: float = Field(description="Standard deviation of the effort.")
    agreement: float | None = Field(description="100: all say the same; null for fewer than two.")


class PrioritySubmission(CalculatorOutput):
    participant: int = Field(description="Its place among the submissions, from 1.")
    first: str = Field(description="What this person would do first.")
    items: int = Field(description="How many items this person rated.")


class GroupPrioritySummary(CalculatorOutput):
    participants: int = Field(description="How many people rated.")
    first: str | None = Field(description="What to do first.")
    items: int = Field(description="How many were ranked.")
    quick_wins: int = Field(description="How many bring much and take little.")
    agreement: float | None = Field(description="Mean over what more than one person rated.")
    disputed: str | None = Field(description="What people agree on least.")
    verdict: str = Field(description="What that means, in a sentence.")


class GroupPriorities(CalculatorOutput):
    summary: GroupPrioritySummary = Field(description="The figures that decide.")
    ranking: list[GroupRankedItem] = Field(description="All of them, the first before the others.")
    quadrants: list[QuadrantCount] = Field(description="The matrix.")
    participants: list[PrioritySubmission] = Field(description="Each submission, in the order given.")


@with_decimal_context
def aggregate(outputs: list[Any]) -> dict[str, Any]:
    """Means of the ratings of each item, by whoever rated it, ranked anew."""
    submissions = parse_outputs(outputs, Priorities)
    by_name: dict[str, list[RankedItem]] = {}
    for output in submissions:
        for one in output.ranking:
            by_name.setdefault(name_key(one.name), []).append(one)
    if not by_name:
        nothing = GroupPrioritySummary(
            participants=0,
            first=None,
            items=0,
            quick_wins=0,
            agreement=None,
            disputed=None,
            verdict="Nobody has rated anything yet.",
        )
        return GroupPriorities(summary=nothing, ranking=[], quadrants=[], participants=[]).to_dict()
    midpoint = mean([to_decimal(output.summary.midpoint) for output in submissions])
    ranking = [
        _group_item(one, by_name[name_key(one.name)])
        for one in rank_items(map(_mean_ratings, by_name.values()), midpoint)
    ]
    shared = [one for one in ranking if one.agreement is not None]
    agreement = mean([to_decimal(one.agreement or 0) for one in shared]) if shared else None
    disputed = min(shared, key=lambda one: (one.agreement or 0, name_key(one.name)), default=None)
    said = "" if agreement is None else f" Agreement is {agreement_label(agreement)}."
    summary = GroupPrioritySummary(
        participants=len(submissions),
        first=ranking[0].name,
        items=len(ranking),
        quick_wins=sum(one.quadrant == "Quick win" for one in ranking),
        agreement=rounded_or_none(agreement, 1),
        disputed=None if disputed is None or disputed.agreement == 100 else disputed.name,
        verdict=verdict([*ranking]) + said,
    )
    return GroupPriorities(
        summary=summary,
        ranking=ranking,
        quadrants=quadrant_counts(ranking),
        participants=[
            PrioritySubmission(participant=place, first=one.summary.first, items=one.summary.items)
            for place, one in enumerate(submissions, 1)
        ],
    ).to_dict()


def _mean_ratings(ratings: list[RankedItem]) -> ItemRatings:
    def of(what: str) -> Decimal:
        return mean([to_decimal(getattr(one, what)) for one in ratings])

    name = most_common(one.name for one in ratings)
    return ItemRatings(name, of("impact"), of("effort"), of("confidence"), of("reach"))


def _group_item(one: RankedItem, ratings: list[RankedItem]) -> GroupRankedItem:
    impact = spread_of([to_decimal(rating.impact) for rating in ratings], _MIN_RATING, _MAX_RATING)
    effort = spread_of([to_decimal(rating.effort) for rating in ratings], _MIN_RATING, _MAX_RATING)
    return GroupRankedItem(
        **one.model_dump(),
        raters=len(ratings),
        impact_deviation=rounded(impact.deviation),
        effort_deviation=rounded(effort.deviation),
        agreement=rounded_or_none(_mean_agreement(impact, effort), 1),
    )


def _mean_agreement(impact: Spread, effort: Spread) -> Decimal | None:
    if impact.agreement is None or effort.agreement is None:
        return None
    return (impact.agreement + effort.agreement) / 2


FORM = FormSpec(
    {
        "items": {"label": "What could be done"},
        "items.*.name": {"placeholder": "Answer invoices by mail"},
        "items.*.impact": {"help": "What it would bring: 1 is hardly anything, 10 is a great deal."},
        "items.*.effort": {"help": "What it would take: 1 is an hour or so, 10 is a year or more."},
        "items.*.confidence": {"widget": "slider", "unit": "%"},
        "midpoint": {"label": "High begins at"},
    },
    groups=(FormGroup("Fine tuning", ("midpoint",), closed=True),),
)

VIEW = ViewSpec(
    (
        OutputSection(
            "summary",
            "Summary",
            "summary",
            {
                "figures": [
                    {"key": "first", "label": "Begin with"},
                    {"key": "quickWins", "label": "Quick wins", "format": "integer"},
                    {"key": "items", "format": "integer"},
                    {"key": "agreement", "unit": "%", "decimals": 1},
                    {"key": "midpoint", "label": "High begins at"},
                    {"key": "verdict", "label": "In short"},
                ]
            },
        ),
        OutputSection(
            "ranking",
            "Ranking",
            "ranking",
            {"label": "name", "value": "score", "note": "quadrant", "decimals": 2, "order": "given"},
        ),
        OutputSection(
            "quadrants",
            "Matrix",
            "table",
            {"columns": [{"key": "quadrant"}, {"key": "items"}, {"key": "count"}, {"key": "advice"}]},
        ),
        OutputSection(
            "ranking",
            "All ratings",
            "table",
            {
                "columns": [
                    {"key": "rank", "format": "integer"},
                    {"key": "name"},
                    {"key": "score", "decimals": 2},
                    {"key": "quadrant"},
                    {"key": "impact", "decimals": 1},
                    {"key": "effort", "decimals": 1},
                    {"key": "confidence", "unit": "%", "decimals": 0},
                    {"key": "reach"},
                    {"key": "raters", "format": "integer"},
                    {"key": "agreement", "unit": "%", "decimals": 1},
                ]
            },
        ),
        OutputSection("participants", "Who said what", "table"),
    )
)


@tool(
    "planning.rankPriorities",
    input=PriorityItems,
    slug="priority-matrix",
    name="Priority Matrix",
    category="planning",
    icon="grid-2x2",
    level="read",
    danger="safe",
    idempotent=True,
    collaborative=True,
    aggregate=aggregate,
    sections=VIEW.sections,
    form=FORM,
    view=VIEW,
)
async def rank_priorities(args: PriorityItems) -> Priorities | Result:
    """Rank what could be done by impact, effort, confidence and reach, and place each item in a matrix of
    four quadrants.

    Use it to choose among several things; with a group, in a session. For a single thing by criteria of your
    own use assessment.quickScore instead.
    """
    result = calculate(args)
    columns = ["rank", "name", "score", "quadrant"]
    return Result(
        data=result,
        summary=result.summary.verdict,
        markdown=build_markdown_table(
            [one.to_dict() for one in result.ranking], columns, heading=result.summary.verdict, limit=100
        ),
    )
