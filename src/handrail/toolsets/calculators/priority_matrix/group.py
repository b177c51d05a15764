"""Several people's ratings, taken together; their lists may differ."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from pydantic import Field

from handrail.toolsets.calculators.agreement import Spread, in_words, readable, spread_of, usual
from handrail.toolsets.calculators.figures import exact, exactly, mean, rounded, rounded_or_none
from handrail.toolsets.calculators.priority_matrix.calculate import Rated, matrix, ranked, verdict
from handrail.toolsets.calculators.priority_matrix.models import Priorities, QuadrantCount, Ranked
from handrail.toolsets.calculators.shapes import Told, name_key

_LEAST, _MOST = Decimal(1), Decimal(10)


class GroupRanked(Ranked):
    raters: int = Field(description="How many people rated it.")
    impact_deviation: float = Field(description="Standard deviation of the impact.")
    effort_deviation: float = Field(description="Standard deviation of the effort.")
    agreement: float | None = Field(description="100: all say the same; null for fewer than two.")


class Voice(Told):
    participant: int = Field(description="Its place among the submissions, from 1.")
    first: str = Field(description="What this person would do first.")
    items: int = Field(description="How many items this person rated.")


class GroupSummary(Told):
    participants: int = Field(description="How many people rated.")
    first: str | None = Field(description="What to do first.")
    items: int = Field(description="How many were ranked.")
    quick_wins: int = Field(description="How many bring much and take little.")
    agreement: float | None = Field(description="Mean over what more than one person rated.")
    disputed: str | None = Field(description="What people agree on least.")
    verdict: str = Field(description="What that means, in a sentence.")


class GroupPriorities(Told):
    summary: GroupSummary = Field(description="The figures that decide.")
    ranking: list[GroupRanked] = Field(description="All of them, the first before the others.")
    quadrants: list[QuadrantCount] = Field(description="The matrix.")
    participants: list[Voice] = Field(description="Each submission, in the order given.")


@exactly
def aggregate(outputs: list[Any]) -> dict[str, Any]:
    """Means of the ratings of each item, by whoever rated it, ranked anew."""
    found = readable(outputs, Priorities)
    by_name: dict[str, list[Ranked]] = {}
    for output in found:
        for one in output.ranking:
            by_name.setdefault(name_key(one.name), []).append(one)
    if not by_name:
        nothing = GroupSummary(
            participants=0,
            first=None,
            items=0,
            quick_wins=0,
            agreement=None,
            disputed=None,
            verdict="Nobody has rated anything yet.",
        )
        return GroupPriorities(summary=nothing, ranking=[], quadrants=[], participants=[]).to_dict()
    midpoint = mean([exact(output.summary.midpoint) for output in found])
    ranking = [
        _grouped(one, by_name[name_key(one.name)]) for one in ranked(map(_mean, by_name.values()), midpoint)
    ]
    shared = [one for one in ranking if one.agreement is not None]
    agreement = mean([exact(one.agreement or 0) for one in shared]) if shared else None
    disputed = min(shared, key=lambda one: (one.agreement or 0, name_key(one.name)), default=None)
    said = "" if agreement is None else f" Agreement is {in_words(agreement)}."
    summary = GroupSummary(
        participants=len(found),
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
        quadrants=matrix(ranking),
        participants=[
            Voice(participant=place, first=one.summary.first, items=one.summary.items)
            for place, one in enumerate(found, 1)
        ],
    ).to_dict()


def _mean(ratings: list[Ranked]) -> Rated:
    def of(what: str) -> Decimal:
        return mean([exact(getattr(one, what)) for one in ratings])

    name = usual(one.name for one in ratings)
    return Rated(name, of("impact"), of("effort"), of("confidence"), of("reach"))


def _grouped(one: Ranked, ratings: list[Ranked]) -> GroupRanked:
    impact = spread_of([exact(rating.impact) for rating in ratings], _LEAST, _MOST)
    effort = spread_of([exact(rating.effort) for rating in ratings], _LEAST, _MOST)
    return GroupRanked(
        **one.model_dump(),
        raters=len(ratings),
        impact_deviation=rounded(impact.deviation),
        effort_deviation=rounded(effort.deviation),
        agreement=rounded_or_none(_both(impact, effort), 1),
    )


def _both(impact: Spread, effort: Spread) -> Decimal | None:
    if impact.agreement is None or effort.agreement is None:
        return None
    return (impact.agreement + effort.agreement) / 2
