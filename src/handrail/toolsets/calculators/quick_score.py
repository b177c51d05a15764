"""Quick Score: one thing, rated by criteria of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from pydantic import Field

from handrail import Result, tool
from handrail.ext import FormSpec, OutputSection, ViewSpec, build_markdown_table
from handrail.toolsets.calculators import quick_score_model
from handrail.toolsets.calculators.agreement import agreement_label, most_common, parse_outputs, spread_of
from handrail.toolsets.calculators.decimals import (
    HUNDRED,
    ZERO,
    format_number,
    mean,
    normalised,
    rounded,
    rounded_or_none,
    to_decimal,
    with_decimal_context,
)
from handrail.toolsets.calculators.quick_score_model import (
    Band,
    CriterionScore,
    Lever,
    QuickScore,
    QuickScoreInput,
    ScoreSummary,
)
from handrail.toolsets.calculators.schemas import CalculatorOutput, name_key

__all__ = ["score_quickly"]


@with_decimal_context
def calculate(inputs: QuickScoreInput) -> QuickScore:
    """All figures, rounded."""
    names = [one.name for one in inputs.criteria]
    weights = normalised({one.name: to_decimal(one.weight) for one in inputs.criteria})
    scores = {one.name: to_decimal(one.score) for one in inputs.criteria}
    whole = quick_score_model.overall([weights[name] for name in names], [scores[name] for name in names])
    given_points = {name: quick_score_model.contribution(weights[name], scores[name]) for name in names}
    open_points = {name: quick_score_model.lever(weights[name], scores[name]) for name in names}
    band = quick_score_model.band_of(whole)
    shown = format_number(rounded(whole, 1), 1)
    return QuickScore(
        summary=ScoreSummary(
            subject=inputs.subject,
            score=rounded(whole, 1),
            band=band,
            strongest=_highest(names, given_points),
            weakest=_highest(names, open_points),
            verdict=f"{inputs.subject} scores {shown} of 100: {band.lower()}.",
        ),
        criteria=[
            CriterionScore(
                name=name,
                score=rounded(scores[name]),
                weight=rounded(HUNDRED * weights[name]),
                contribution=rounded(given_points[name], 1),
            )
            for name in names
        ],
        levers=levers(open_points),
    )


def _highest(names: Sequence[str], points: dict[str, Decimal]) -> str:
    return max(names, key=lambda name: points[name])


def levers(points: dict[str, Decimal]) -> list[Lever]:
    """Where something is still to be won, the most first."""
    ordered = sorted(points, key=lambda name: (-points[name], name_key(name)))
    return [Lever(name=name, score=rounded(points[name], 1)) for name in ordered if points[name] > 0]


class GroupCriterion(CriterionScore):
    raters: int = Field(description="How many people rated by it.")
    low: float = Field(description="The lowest score anybody gave.")
    high: float = Field(description="The highest.")
    deviation: float = Field(description="Standard deviation of the scores.")
    agreement: float | None = Field(description="100: all say the same; null for fewer than two.")


class ScoreSubmission(CalculatorOutput):
    participant: int = Field(description="Its place among the submissions, from 1.")
    subject: str = Field(description="What this person rated.")
    score: float = Field(description="0 to 100.")
    band: Band = Field(description="How good that is.")


class GroupScoreSummary(CalculatorOutput):
    participants: int = Field(description="How many people rated.")
    subject: str | None = Field(description="What was rated, as most people call it.")
    score: float | None = Field(description="Mean of the scores, 0 to 100.")
    band: Band | None = Field(description="How good that is.")
    low: float | None = Field(description="The lowest score.")
    high: float | None = Field(description="The highest.")
    deviation: float | None = Field(description="Standard deviation of the scores.")
    agreement: float | None = Field(description="100: all say the same; null for fewer than two.")
    verdict: str = Field(description="What that means, in a sentence.")


class GroupScore(CalculatorOutput):
    summary: GroupScoreSummary = Field(description="The figures that decide.")
    criteria: list[GroupCriterion] = Field(description="Each criterion, the one that counts most first.")
    levers: list[Lever] = Field(description="Where most is still to be won, the most first.")
    participants: list[ScoreSubmission] = Field(description="Each submission, in the order given.")


_NO_FIGURES = dict.fromkeys(("subject", "score", "band", "low", "high", "deviation", "agreement"))


@with_decimal_context
def aggregate(outputs: list[Any]) -> dict[str, Any]:
    """The mean of what each person came to; and of each criterion, by those who rated by it."""
    submissions = parse_outputs(outputs, QuickScore)
    if not submissions:
        summary = GroupScoreSummary(participants=0, verdict="Nobody has rated yet.", **_NO_FIGURES)
        return GroupScore(summary=summary, criteria=[], levers=[], participants=[]).to_dict()
    by_name: dict[str, list[CriterionScore]] = {}
    for output in submissions:
        for one in output.criteria:
            by_name.setdefault(name_key(one.name), []).append(one)
    criteria = [_group_criterion(ratings, len(submissions)) for ratings in by_name.values()]
    criteria.sort(key=lambda one: (-one.weight, name_key(one.name)))
    whole = spread_of([to_decimal(one.summary.score) for one in submissions], ZERO, HUNDRED)
    subject, band = (
        most_common(one.summary.subject for one in submissions),
        quick_score_model.band_of(whole.mean),
    )
    said = f"{subject} scores {format_number(rounded(whole.mean, 1), 1)} of 100: {band.lower()}"
    by = "by one person" if whole.agreement is None else f"with {agreement_label(whole.agreement)} agreement"
    return GroupScore(
        summary=GroupScoreSummary(
            participants=len(submissions),
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
        levers=levers({one.name: _points_to_win(one) for one in criteria}),
        participants=[
            ScoreSubmission(
                participant=place,
                subject=one.summary.subject,
                score=one.summary.score,
                band=one.summary.band,
            )
            for place, one in enumerate(submissions, 1)
        ],
    ).to_dict()


def _group_criterion(ratings: list[CriterionScore], people: int) -> GroupCriterion:
    """Whoever did not rate by a criterion gave it no weight."""
    spread = spread_of([to_decimal(one.score) for one in ratings], ZERO, quick_score_model.MAX_SCORE)
    weight = sum((to_decimal(one.weight) for one in ratings), ZERO) / people
    return GroupCriterion(
        name=most_common(one.name for one in ratings),
        score=rounded(spread.mean),
        weight=rounded(weight),
        contribution=rounded(
            mean([to_decimal(one.contribution) for one in ratings]) * len(ratings) / people, 1
        ),
        raters=len(ratings),
        low=rounded(spread.low),
        high=rounded(spread.high),
        deviation=rounded(spread.deviation),
        agreement=rounded_or_none(spread.agreement, 1),
    )


def _points_to_win(one: GroupCriterion) -> Decimal:
    return quick_score_model.lever(to_decimal(one.weight) / HUNDRED, to_decimal(one.score))


FORM = FormSpec(
    {
        "subject": {"label": "What is rated", "placeholder": "Offer of Alder Works"},
        "criteria.*.name": {"label": "Criterion", "placeholder": "Price"},
        "criteria.*.score": {"help": "0 is not at all, 10 is as good as can be."},
    }
)

VIEW = ViewSpec(
    (
        OutputSection(
            "summary",
            "Summary",
            "summary",
            {
                "figures": [
                    {"key": "score", "unit": "of 100", "decimals": 1},
                    {"key": "band"},
                    {"key": "subject"},
                    {"key": "strongest"},
                    {"key": "weakest", "label": "Most to win in"},
                    {"key": "agreement", "unit": "%", "decimals": 1},
                    {"key": "verdict", "label": "In short"},
                ]
            },
        ),
        OutputSection(
            "criteria",
            "Criteria",
            "radar",
            {"axis": "name", "value": "score", "min": 0, "max": 10},
        ),
        OutputSection(
            "levers",
            "Where most is still to be won",
            "ranking",
            {"label": "name", "value": "score", "unit": "points", "decimals": 1},
        ),
        OutputSection(
            "criteria",
            "Criterion by criterion",
            "table",
            {
                "columns": [
                    {"key": "name"},
                    {"key": "score", "decimals": 1},
                    {"key": "weight", "unit": "%", "decimals": 1},
                    {"key": "contribution", "unit": "points", "decimals": 1},
                    {"key": "raters", "format": "integer"},
                    {"key": "low", "decimals": 1},
                    {"key": "high", "decimals": 1},
                    {"key": "agreement", "unit": "%", "decimals": 1},
                ]
            },
        ),
        OutputSection("participants", "Who said what", "table"),
    )
)


@tool(
    "assessment.quickScore",
    input=QuickScoreInput,
    slug="quick-score",
    name="Quick Score",
    category="assessment",
    icon="gauge",
    level="read",
    danger="safe",
    idempotent=True,
    collaborative=True,
    aggregate=aggregate,
    sections=VIEW.sections,
    form=FORM,
    view=VIEW,
)
async def score_quickly(args: QuickScoreInput) -> QuickScore | Result:
    """Score one thing from 0 to 100 by freely named criteria that count as much as you say.

    Use it for an offer, an idea or a candidate system; with a group, in a session. To rank several things
    by impact and effort use planning.rankPriorities instead.
    """
    result = calculate(args)
    return Result(
        data=result,
        summary=result.summary.verdict,
        markdown=build_markdown_table(
            [one.to_dict() for one in result.criteria], heading=result.summary.verdict
        ),
    )
