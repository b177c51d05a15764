"""Several people's scores, taken together; their criteria and weights may differ."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from pydantic import Field

from handrail.toolsets.calculators.agreement import in_words, readable, spread_of, usual
from handrail.toolsets.calculators.figures import (
    HUNDRED,
    ZERO,
    exact,
    exactly,
    mean,
    rounded,
    rounded_or_none,
    spoken,
)
from handrail.toolsets.calculators.quick_score import formulas
from handrail.toolsets.calculators.quick_score.calculate import levers
from handrail.toolsets.calculators.quick_score.models import Band, CriterionScore, Lever, Score
from handrail.toolsets.calculators.shapes import Told, name_key


class GroupCriterion(CriterionScore):
    raters: int = Field(description="How many people rated by it.")
    low: float = Field(description="The lowest score anybody gave.")
    high: float = Field(description="The highest.")
    deviation: float = Field(description="Standard deviation of the scores.")
    agreement: float | None = Field(description="100: all say the same; null for fewer than two.")


class Voice(Told):
    participant: int = Field(description="Its place among the submissions, from 1.")
    subject: str = Field(description="What this person rated.")
    score: float = Field(description="0 to 100.")
    band: Band = Field(description="How good that is.")


class GroupSummary(Told):
    participants: int = Field(description="How many people rated.")
    subject: str | None = Field(description="What was rated, as most people call it.")
    score: float | None = Field(description="Mean of the scores, 0 to 100.")
    band: Band | None = Field(description="How good that is.")
    low: float | None = Field(description="The lowest score.")
    high: float | None = Field(description="The highest.")
    deviation: float | None = Field(description="Standard deviation of the scores.")
    agreement: float | None = Field(description="100: all say the same; null for fewer than two.")
    verdict: str = Field(description="What that means, in a sentence.")


class GroupScore(Told):
    summary: GroupSummary = Field(description="The figures that decide.")
    criteria: list[GroupCriterion] = Field(description="Each criterion, the one that counts most first.")
    levers: list[Lever] = Field(description="Where most is still to be won, the most first.")
    participants: list[Voice] = Field(description="Each submission, in the order given.")


_NOTHING = dict.fromkeys(("subject", "score", "band", "low", "high", "deviation", "agreement"))


@exactly
def aggregate(outputs: list[Any]) -> dict[str, Any]:
    """The mean of what each person came to; and of each criterion, by those who rated by it."""
    found = readable(outputs, Score)
    if not found:
        summary = GroupSummary(participants=0, verdict="Nobody has rated yet.", **_NOTHING)
        return GroupScore(summary=summary, criteria=[], levers=[], participants=[]).to_dict()
    by_name: dict[str, list[CriterionScore]] = {}
    for output in found:
        for one in output.criteria:
            by_name.setdefault(name_key(one.name), []).append(one)
    criteria = [_grouped(ratings, len(found)) for ratings in by_name.values()]
    criteria.sort(key=lambda one: (-one.weight, name_key(one.name)))
    whole = spread_of([exact(one.summary.score) for one in found], ZERO, HUNDRED)
    subject, band = usual(one.summary.subject for one in found), formulas.band_of(whole.mean)
    said = f"{subject} scores {spoken(rounded(whole.mean, 1), 1)} of 100: {band.lower()}"
    by = "by one person" if whole.agreement is None else f"with {in_words(whole.agreement)} agreement"
    return GroupScore(
        summary=GroupSummary(
            participants=len(found),
            subject=subject,
            score=rounded(whole.mean, 1),
            band=band,
            low=rounded(whole.low, 1),
            high=rounded(whole.high, 1),
            deviation=rounded(whole.deviation, 1),
            agreement=rounded_or_none(whole.agreement, 1),
            verdict=f"{said}, {by}.",
        ),
        criteria=criteria,
        levers=levers({one.name: _lever(one) for one in criteria}),
        participants=[
            Voice(
                participant=place,
                subject=one.summary.subject,
                score=one.summary.score,
                band=one.summary.band,
            )
            for place, one in enumerate(found, 1)
        ],
    ).to_dict()


def _grouped(ratings: list[CriterionScore], people: int) -> GroupCriterion:
    """Whoever did not rate by a criterion gave it no weight."""
    spread = spread_of([exact(one.score) for one in ratings], ZERO, formulas.MOST)
    weight = sum((exact(one.weight) for one in ratings), ZERO) / people
    return GroupCriterion(
        name=usual(one.name for one in ratings),
        score=rounded(spread.mean),
        weight=rounded(weight),
        contribution=rounded(mean([exact(one.contribution) for one in ratings]) * len(ratings) / people, 1),
        raters=len(ratings),
        low=rounded(spread.low),
        high=rounded(spread.high),
        deviation=rounded(spread.deviation),
        agreement=rounded_or_none(spread.agreement, 1),
    )


def _lever(one: GroupCriterion) -> Decimal:
    return formulas.lever(exact(one.weight) / HUNDRED, exact(one.score))
