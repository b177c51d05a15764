"""Several people's assessments, taken together."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, get_args

from pydantic import Field

from handrail.toolsets.calculators.agreement import Spread, in_words, readable, spread_of
from handrail.toolsets.calculators.ai_readiness import formulas
from handrail.toolsets.calculators.ai_readiness.calculate import told
from handrail.toolsets.calculators.ai_readiness.models import (
    Band,
    Dimension,
    DimensionScore,
    Gap,
    Readiness,
)
from handrail.toolsets.calculators.figures import (
    HUNDRED,
    ZERO,
    exact,
    exactly,
    mean,
    normalised,
    rounded,
    rounded_or_none,
    spoken,
)
from handrail.toolsets.calculators.shapes import Told


class GroupSummary(Told):
    participants: int = Field(description="How many assessments there are.")
    score: float | None = Field(description="Mean of the scores, 0 to 100.")
    band: Band | None = Field(description="How far that is.")
    agreement: float | None = Field(description="100: all say the same; null for fewer than two.")
    deviation: float | None = Field(description="Standard deviation of the scores.")
    weakest: Dimension | None = Field(description="The dimension with the lowest mean.")
    strongest: Dimension | None = Field(description="The one with the highest.")
    disputed: Dimension | None = Field(description="The dimension people agree on least.")
    verdict: str = Field(description="What that means, in a sentence.")


class GroupDimension(DimensionScore):
    low: float = Field(description="The lowest score anybody gave.")
    high: float = Field(description="The highest.")
    deviation: float = Field(description="Standard deviation of the scores.")
    agreement: float | None = Field(description="100: all say the same; null for fewer than two.")


class Voice(Told):
    participant: int = Field(description="Its place among the submissions, from 1.")
    score: float = Field(description="0 to 100.")
    band: Band = Field(description="How far that is.")
    weakest: Dimension = Field(description="The dimension with the lowest score.")


class GroupReadiness(Told):
    summary: GroupSummary = Field(description="The figures that decide.")
    dimensions: list[GroupDimension] = Field(description="Each dimension.")
    gaps: list[Gap] = Field(description="What to close first.")
    participants: list[Voice] = Field(description="Each submission, in the order given.")


@exactly
def aggregate(outputs: list[Any]) -> dict[str, Any]:
    """Means of scores, weights and targets, and how far people agree; whoever came first makes no odds."""
    found = readable(outputs, Readiness)
    if not found:
        summary = GroupSummary(
            **dict.fromkeys(("score", "band", "agreement", "deviation", "weakest", "strongest", "disputed")),
            participants=0,
            verdict="Nobody has answered yet.",
        )
        return GroupReadiness(summary=summary, dimensions=[], gaps=[], participants=[]).to_dict()
    names: tuple[Dimension, ...] = get_args(Dimension)
    spreads = {name: _spread(found, name) for name in names}
    weights = normalised({name: mean(_of(found, name, "weight")) for name in names})
    target = mean([exact(one.target) for output in found for one in output.dimensions])
    whole = spread_of([exact(one.summary.score) for one in found], ZERO, HUNDRED)
    scores = {name: spread.mean for name, spread in spreads.items()}
    together = told(scores, weights, target)
    disputed = max(names, key=lambda name: spreads[name].deviation)
    band = formulas.held_band(whole.mean, scores[together.summary.weakest])
    summary = GroupSummary(
        participants=len(found),
        score=rounded(whole.mean, 1),
        band=band,
        agreement=rounded_or_none(whole.agreement, 1),
        deviation=rounded(whole.deviation, 1),
        weakest=together.summary.weakest,
        strongest=together.summary.strongest,
        disputed=disputed if spreads[disputed].deviation > 0 else None,
        verdict=_verdict(band, whole),
    )
    return GroupReadiness(
        summary=summary,
        dimensions=[_dimension(one, spreads[one.dimension]) for one in together.dimensions],
        gaps=together.gaps,
        participants=[
            Voice(
                participant=place,
                score=one.summary.score,
                band=one.summary.band,
                weakest=one.summary.weakest,
            )
            for place, one in enumerate(found, 1)
        ],
    ).to_dict()


def _of(found: list[Readiness], name: Dimension, what: str) -> list[Decimal]:
    return [
        exact(getattr(one, what)) for output in found for one in output.dimensions if one.dimension == name
    ]


def _spread(found: list[Readiness], name: Dimension) -> Spread:
    return spread_of(_of(found, name, "score"), ZERO, HUNDRED)


def _dimension(one: DimensionScore, spread: Spread) -> GroupDimension:
    return GroupDimension(
        **one.model_dump(),
        low=rounded(spread.low, 1),
        high=rounded(spread.high, 1),
        deviation=rounded(spread.deviation, 1),
        agreement=rounded_or_none(spread.agreement, 1),
    )


def _verdict(band: Band, whole: Spread) -> str:
    said = f"{band}: {spoken(rounded(whole.mean, 1), 1)} of 100"
    if whole.agreement is None:
        return f"{said}, by one person."
    return f"{said}, by {whole.count} people with {in_words(whole.agreement)} agreement."
