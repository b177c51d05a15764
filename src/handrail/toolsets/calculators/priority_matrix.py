"""Priority Matrix: what to do first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from handrail.ext.forms import FormGroup, FormSpec
from handrail.toolsets.calculators import schemas
from handrail.toolsets.calculators.agreement import (
    agreement_label,
    by_name,
    most_common,
    numbered_summaries,
    parse_outputs,
    spread_of,
)
from handrail.toolsets.calculators.calculator import (
    PARTICIPANTS,
    calculator,
    ranking_section,
    summary_section,
    table_section,
)
from handrail.toolsets.calculators.decimals import (
    HUNDRED,
    mean,
    rounded,
    rounded_or_none,
    to_decimal,
    with_decimal_context,
)

Rating = Annotated[float, Field(ge=1, le=10)]
Quadrant = Literal["Quick win", "Big bet", "Fill-in", "Rethink"]


class PriorityItem(schemas.CalculatorInput):
    """Something that could be done."""

    name: schemas.Name = Field(description="What could be done, such as Answer invoices by mail.")
    impact: Rating = Field(description="What it would bring, from 1, hardly anything, to 10, a great deal.")
    effort: Rating = Field(description="What it would take, from 1, an hour or so, to 10, a year or more.")
    confidence: schemas.Percent = Field(default=80, description="How sure you are of both, in percent.")
    reach: Annotated[float, Field(ge=0.01, le=1e9)] = Field(
        default=1,
        description="How many people or cases it concerns; 1 for all when that makes no difference.",
    )


class PriorityItems(schemas.CalculatorInput):
    """What could be done, rated."""

    items: Annotated[
        list[PriorityItem],
        schemas.at_least_one("add at least one item to rank"),
        schemas.UNIQUE_NAMES,
        Field(min_length=1, max_length=100),
    ] = Field(description="What to rank, 1 to 100.")
    midpoint: Rating = Field(
        default=5.5, description="Where high impact and high effort begin; the middle of the scale is 5.5."
    )


class RankedItem(schemas.CalculatorOutput):
    rank: int = Field(description="1 is first; equal scores have equal ranks.")
    name: str = Field(description="What could be done.")
    score: float = Field(description="Reach × impact × confidence / effort.")
    quadrant: Quadrant = Field(description="Where it stands in the matrix.")
    impact: float = Field(description="1 to 10.")
    effort: float = Field(description="1 to 10.")
    confidence: float = Field(description="Percent.")
    reach: float = Field(description="People or cases.")


class QuadrantCount(schemas.CalculatorOutput):
    quadrant: Quadrant = Field(description="Which one.")
    count: int = Field(description="How many items stand in it.")
    items: str = Field(description="Their names.")
    advice: str = Field(description="What to do with them.")


class PrioritySummary(schemas.CalculatorOutput):
    first: str = Field(description="What to do first.")
    items: int = Field(description="How many were ranked.")
    quick_wins: int = Field(description="How many bring much and take little.")
    midpoint: float = Field(description="Where high begins.")
    verdict: schemas.Verdict = ""


class Priorities(schemas.CalculatorOutput):
    summary: PrioritySummary = Field(description="The figures that decide.")
    ranking: list[RankedItem] = Field(description="All of them, the first before the others.")
    quadrants: list[QuadrantCount] = Field(description="The matrix.")


ADVICE: dict[Quadrant, str] = {
    "Quick win": "Do these first.",
    "Big bet": "Plan these, and make sure of them before you start.",
    "Fill-in": "Do these when there is time.",
    "Rethink": "Leave these, or find a smaller way.",
}


def priority_score(reach: Decimal, impact: Decimal, confidence: Decimal, effort: Decimal) -> Decimal:
    """reach × impact × confidence / effort, with confidence as a factor. Effort is never 0."""
    return reach * impact * confidence / effort


def quadrant(impact: Decimal, effort: Decimal, midpoint: Decimal) -> Quadrant:
    """By impact and effort alone; what stands exactly in the middle counts as high."""
    if impact >= midpoint:
        return "Quick win" if effort < midpoint else "Big bet"
    return "Fill-in" if effort < midpoint else "Rethink"


def ranks(scores: Sequence[float]) -> list[int]:
    """Places of scores that are sorted already, the highest first: 1, 2, 2, 4."""
    places: list[int] = []
    for place, value in enumerate(scores):
        places.append(places[-1] if place and value == scores[place - 1] else place + 1)
    return places


@dataclass(frozen=True, slots=True)
class ItemRatings:
    """An item with its ratings; confidence in percent."""

    name: str
    impact: Decimal
    effort: Decimal
    confidence: Decimal
    reach: Decimal


_RATINGS = ("impact", "effort", "confidence", "reach")


@with_decimal_context
def calculate(inputs: PriorityItems) -> Priorities:
    """All figures, rounded."""
    rated = [
        ItemRatings(item.name, *(to_decimal(getattr(item, rating)) for rating in _RATINGS))
        for item in inputs.items
    ]
    ranking = rank_items(rated, to_decimal(inputs.midpoint))
    return Priorities(
        summary=PrioritySummary(
            first=ranking[0].name,
            items=len(ranking),
            quick_wins=quick_wins(ranking),
            midpoint=inputs.midpoint,
            verdict=verdict(ranking),
        ),
        ranking=ranking,
        quadrants=quadrant_counts(ranking),
    )


def rank_items(rated: Iterable[ItemRatings], midpoint: Decimal) -> list[RankedItem]:
    """The highest score first; of equals the one with less effort, then by name."""
    scored = [
        (rounded(priority_score(item.reach, item.impact, item.confidence / HUNDRED, item.effort)), item)
        for item in rated
    ]
    scored.sort(key=lambda pair: (-pair[0], pair[1].effort, schemas.name_key(pair[1].name)))
    places = ranks([score for score, _ in scored])
    return [
        RankedItem(
            rank=place,
            name=item.name,
            score=score,
            quadrant=quadrant(item.impact, item.effort, midpoint),
            **{rating: rounded(getattr(item, rating)) for rating in _RATINGS},
        )
        for place, (score, item) in zip(places, scored, strict=True)
    ]


def quadrant_counts(ranking: Iterable[RankedItem]) -> list[QuadrantCount]:
    """All four quadrants, also those with nothing in them."""
    names: dict[Quadrant, list[str]] = {quadrant: [] for quadrant in get_args(Quadrant)}
    for item in ranking:
        names[item.quadrant].append(item.name)
    return [
        QuadrantCount(quadrant=quadrant, count=len(items), items=", ".join(items), advice=ADVICE[quadrant])
        for quadrant, items in names.items()
    ]


def quick_wins(ranking: Iterable[RankedItem]) -> int:
    return sum(item.quadrant == "Quick win" for item in ranking)


def verdict(ranking: Sequence[RankedItem]) -> str:
    first, wins = ranking[0], quick_wins(ranking)
    advice = f"Begin with {first.name}, a {first.quadrant.lower()}"
    if first.quadrant in ("Fill-in", "Rethink"):
        advice = f"{first.name} scores highest, but is no more than a {first.quadrant.lower()}"
        advice = advice.replace("a rethink", "something to rethink")
    count = f"{wins} quick win{'' if wins == 1 else 's'}" if wins else "no quick win"
    return f"{advice}; among {len(ranking)} there {'are' if wins > 1 else 'is'} {count}."


_MIN_RATING, _MAX_RATING = Decimal(1), Decimal(10)


class GroupRankedItem(RankedItem):
    raters: int = Field(description="How many people rated it.")
    impact_deviation: float = Field(description="Standard deviation of the impact.")
    effort_deviation: float = Field(description="Standard deviation of the effort.")
    agreement: float | None = Field(description="100: all say the same; null for fewer than two.")


class PrioritySubmission(schemas.CalculatorOutput):
    participant: int = Field(description="Its place among the submissions, from 1.")
    first: str = Field(description="What this person would do first.")
    items: int = Field(description="How many items this person rated.")


class GroupPrioritySummary(schemas.CalculatorOutput):
    participants: int = Field(description="How many people rated.")
    first: str | None = Field(default=None, description="What to do first.")
    items: int = Field(default=0, description="How many were ranked.")
    quick_wins: int = Field(default=0, description="How many bring much and take little.")
    agreement: float | None = Field(default=None, description="Mean over what more than one person rated.")
    disputed: str | None = Field(default=None, description="What people agree on least.")
    verdict: str = Field(description="What that means, in a sentence.")


class GroupPriorities(schemas.CalculatorOutput):
    summary: GroupPrioritySummary = Field(description="The figures that decide.")
    ranking: list[GroupRankedItem] = Field(description="All of them, the first before the others.")
    quadrants: list[QuadrantCount] = Field(description="The matrix.")
    participants: list[PrioritySubmission] = Field(description="Each submission, in the order given.")


@with_decimal_context
def aggregate(outputs: list[Any]) -> dict[str, Any]:
    """Means of the ratings of each item, by whoever rated it, ranked anew."""
    submissions = parse_outputs(outputs, Priorities)
    groups = by_name(item for output in submissions for item in output.ranking)
    if not groups:
        nothing = GroupPrioritySummary(participants=0, verdict="Nobody has rated anything yet.")
        return GroupPriorities(summary=nothing, ranking=[], quadrants=[], participants=[]).to_dict()
    midpoint = mean([to_decimal(output.summary.midpoint) for output in submissions])
    ranking = [
        _group_item(item, groups[schemas.name_key(item.name)])
        for item in rank_items(map(_mean_ratings, groups.values()), midpoint)
    ]
    shared = [item for item in ranking if item.agreement is not None]
    agreement = mean([to_decimal(item.agreement or 0) for item in shared]) if shared else None
    disputed = min(shared, key=lambda item: (item.agreement or 0, schemas.name_key(item.name)), default=None)
    consent = "" if agreement is None else f" Agreement is {agreement_label(agreement)}."
    summary = GroupPrioritySummary(
        participants=len(submissions),
        first=ranking[0].name,
        items=len(ranking),
        quick_wins=quick_wins(ranking),
        agreement=rounded_or_none(agreement, 1),
        disputed=None if disputed is None or disputed.agreement == 100 else disputed.name,
        verdict=verdict(ranking) + consent,
    )
    return GroupPriorities(
        summary=summary,
        ranking=ranking,
        quadrants=quadrant_counts(ranking),
        participants=numbered_summaries((output.summary for output in submissions), PrioritySubmission),
    ).to_dict()


def _mean_ratings(items: list[RankedItem]) -> ItemRatings:
    means = (mean([to_decimal(getattr(item, rating)) for item in items]) for rating in _RATINGS)
    return ItemRatings(most_common(item.name for item in items), *means)


def _group_item(item: RankedItem, ratings: list[RankedItem]) -> GroupRankedItem:
    impact = spread_of([to_decimal(rating.impact) for rating in ratings], _MIN_RATING, _MAX_RATING)
    effort = spread_of([to_decimal(rating.effort) for rating in ratings], _MIN_RATING, _MAX_RATING)
    agreements = [spread.agreement for spread in (impact, effort) if spread.agreement is not None]
    return GroupRankedItem(
        **item.model_dump(),
        raters=len(ratings),
        impact_deviation=rounded(impact.deviation),
        effort_deviation=rounded(effort.deviation),
        agreement=rounded(mean(agreements), 1) if agreements else None,
    )


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

SECTIONS = (
    summary_section(
        {"key": "first", "label": "Begin with"},
        {"key": "quickWins", "label": "Quick wins", "format": "integer"},
        {"key": "items", "format": "integer"},
        {"key": "agreement", "unit": "%", "decimals": 1},
        {"key": "midpoint", "label": "High begins at"},
        {"key": "verdict", "label": "In short"},
    ),
    ranking_section("ranking", "Ranking", note="quadrant", decimals=2, order="given"),
    table_section(
        "quadrants", "Matrix", {"key": "quadrant"}, {"key": "items"}, {"key": "count"}, {"key": "advice"}
    ),
    table_section(
        "ranking",
        "All ratings",
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
    ),
    PARTICIPANTS,
)


@calculator(
    "planning.rankPriorities",
    slug="priority-matrix",
    name="Priority Matrix",
    icon="grid-2x2",
    form=FORM,
    sections=SECTIONS,
    rows="ranking",
    columns=["rank", "name", "score", "quadrant"],
    limit=100,
    aggregate=aggregate,
)
def rank_priorities(args: PriorityItems) -> Priorities:
    """Rank what could be done by impact, effort, confidence and reach, and place each item in a matrix of
    four quadrants.

    Use it to choose among several things; with a group, in a session. For a single thing by criteria of your
    own use assessment.quickScore instead.
    """
    return calculate(args)
