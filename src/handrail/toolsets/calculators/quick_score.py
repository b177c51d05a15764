"""Quick Score: one thing, rated by criteria of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from handrail.ext.forms import FormSpec
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
    radar_section,
    ranking_section,
    summary_section,
    table_section,
)
from handrail.toolsets.calculators.decimals import (
    HUNDRED,
    ZERO,
    format_number,
    mean,
    normalised,
    rounded,
    to_decimal,
    with_decimal_context,
)

Band = Literal["Weak", "Mixed", "Good", "Strong"]


class Criterion(schemas.CalculatorInput):
    """Something to rate by."""

    name: schemas.Name = Field(description="What is looked at, such as Price.")
    score: Annotated[float, Field(ge=0, le=10)] = Field(
        description="How good it is, from 0, not at all, to 10, as good as can be."
    )
    weight: schemas.Weight = Field(default=1, description="How much it counts, in relation to the others.")


class QuickScoreInput(schemas.CalculatorInput):
    """One thing, rated by criteria."""

    subject: schemas.Name = Field(description="What is rated, such as Offer of Alder Works.")
    criteria: Annotated[
        list[Criterion],
        schemas.at_least_one("add at least one criterion to rate by"),
        schemas.UNIQUE_NAMES,
        Field(min_length=1, max_length=50),
    ] = Field(description="What to rate by, 1 to 50 criteria.")

    @field_validator("criteria")
    @classmethod
    def _something_counts(cls, criteria: list[Criterion]) -> list[Criterion]:
        schemas.check_weights(criterion.weight for criterion in criteria)
        return criteria


class CriterionScore(schemas.CalculatorOutput):
    name: str = Field(description="What was looked at.")
    score: float = Field(description="0 to 10.")
    weight: float = Field(description="Percent that it counts.")
    contribution: float = Field(description="Points that it gives to the whole.")


class Lever(schemas.CalculatorOutput):
    name: str = Field(description="What was looked at.")
    score: float = Field(description="Points that the whole would gain if this were perfect.")


class ScoreSummary(schemas.CalculatorOutput):
    subject: str = Field(description="What was rated.")
    score: float = Field(description="0 to 100.")
    band: Band = Field(description="How good that is.")
    strongest: str = Field(description="The criterion that gives most.")
    weakest: str = Field(description="The criterion where most is still to be won.")
    verdict: schemas.Verdict = ""


class QuickScore(schemas.CalculatorOutput):
    summary: ScoreSummary = Field(description="The figures that decide.")
    criteria: list[CriterionScore] = Field(description="Each criterion.")
    levers: list[Lever] = Field(description="Where most is still to be won, the most first.")


MAX_SCORE = Decimal(10)
_BANDS: tuple[tuple[int, Band], ...] = ((80, "Strong"), (60, "Good"), (40, "Mixed"))


def contribution(weight: Decimal, score: Decimal) -> Decimal:
    """weight × score × 10: points of 100."""
    return weight * score * 10


def lever(weight: Decimal, score: Decimal) -> Decimal:
    """weight × (10 − score) × 10: points that are still to be won."""
    return contribution(weight, MAX_SCORE - score)


def overall(weights: Sequence[Decimal], scores: Sequence[Decimal]) -> Decimal:
    """The sum of all contributions."""
    return sum(map(contribution, weights, scores), ZERO)


def band_of(score: Decimal) -> Band:
    """From 80 on strong, from 60 good, from 40 mixed."""
    return next((band for least, band in _BANDS if score >= least), "Weak")


@with_decimal_context
def calculate(inputs: QuickScoreInput) -> QuickScore:
    """All figures, rounded."""
    names = [criterion.name for criterion in inputs.criteria]
    weights = normalised({criterion.name: to_decimal(criterion.weight) for criterion in inputs.criteria})
    scores = {criterion.name: to_decimal(criterion.score) for criterion in inputs.criteria}
    total = overall([weights[name] for name in names], [scores[name] for name in names])
    given_points = {name: contribution(weights[name], scores[name]) for name in names}
    open_points = {name: lever(weights[name], scores[name]) for name in names}
    band = band_of(total)
    shown = format_number(rounded(total, 1), 1)
    return QuickScore(
        summary=ScoreSummary(
            subject=inputs.subject,
            score=rounded(total, 1),
            band=band,
            strongest=max(names, key=lambda name: given_points[name]),
            weakest=max(names, key=lambda name: open_points[name]),
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


def levers(points: dict[str, Decimal]) -> list[Lever]:
    """Where something is still to be won, the most first."""
    ordered = sorted(points, key=lambda name: (-points[name], schemas.name_key(name)))
    return [Lever(name=name, score=rounded(points[name], 1)) for name in ordered if points[name] > 0]


class GroupCriterion(CriterionScore):
    raters: int = Field(description="How many people rated by it.")
    low: float = Field(description="The lowest score anybody gave.")
    high: float = Field(description="The highest.")
    deviation: float = Field(description="Standard deviation of the scores.")
    agreement: float | None = Field(description="100: all say the same; null for fewer than two.")


class ScoreSubmission(schemas.CalculatorOutput):
    participant: int = Field(description="Its place among the submissions, from 1.")
    subject: str = Field(description="What this person rated.")
    score: float = Field(description="0 to 100.")
    band: Band = Field(description="How good that is.")


class GroupScoreSummary(schemas.CalculatorOutput):
    participants: int = Field(description="How many people rated.")
    subject: str | None = Field(default=None, description="What was rated, as most people call it.")
    score: float | None = Field(default=None, description="Mean of the scores, 0 to 100.")
    band: Band | None = Field(default=None, description="How good that is.")
    low: float | None = Field(default=None, description="The lowest score.")
    high: float | None = Field(default=None, description="The highest.")
    deviation: float | None = Field(default=None, description="Standard deviation of the scores.")
    agreement: float | None = Field(
        default=None, description="100: all say the same; null for fewer than two."
    )
    verdict: str = Field(description="What that means, in a sentence.")


class GroupScore(schemas.CalculatorOutput):
    summary: GroupScoreSummary = Field(description="The figures that decide.")
    criteria: list[GroupCriterion] = Field(description="Each criterion, the one that counts most first.")
    levers: list[Lever] = Field(description="Where most is still to be won, the most first.")
    participants: list[ScoreSubmission] = Field(description="Each submission, in the order given.")


@with_decimal_context
def aggregate(outputs: list[Any]) -> dict[str, Any]:
    """The mean of what each person came to; and of each criterion, by those who rated by it."""
    submissions = parse_outputs(outputs, QuickScore)
    if not submissions:
        summary = GroupScoreSummary(participants=0, verdict="Nobody has rated yet.")
        return GroupScore(summary=summary, criteria=[], levers=[], participants=[]).to_dict()
    groups = by_name(row for output in submissions for row in output.criteria)
    criteria = [_group_criterion(ratings, len(submissions)) for ratings in groups.values()]
    criteria.sort(key=lambda row: (-row.weight, schemas.name_key(row.name)))
    total = spread_of([to_decimal(output.summary.score) for output in submissions], ZERO, HUNDRED)
    subject, band = most_common(output.summary.subject for output in submissions), band_of(total.mean)
    score = f"{subject} scores {format_number(rounded(total.mean, 1), 1)} of 100: {band.lower()}"
    by = "by one person" if total.agreement is None else f"with {agreement_label(total.agreement)} agreement"
    to_win = {row.name: lever(to_decimal(row.weight) / HUNDRED, to_decimal(row.score)) for row in criteria}
    return GroupScore(
        summary=GroupScoreSummary(
            participants=len(submissions),
            subject=subject,
            score=rounded(total.mean, 1),
            band=band,
            verdict=f"{score}, {by}.",
            **total.figures(1),
        ),
        criteria=criteria,
        levers=levers(to_win),
        participants=numbered_summaries((output.summary for output in submissions), ScoreSubmission),
    ).to_dict()


def _group_criterion(ratings: list[CriterionScore], people: int) -> GroupCriterion:
    """Whoever did not rate by a criterion gave it no weight."""
    spread = spread_of([to_decimal(rating.score) for rating in ratings], ZERO, MAX_SCORE)
    weight = sum((to_decimal(rating.weight) for rating in ratings), ZERO) / people
    return GroupCriterion(
        name=most_common(rating.name for rating in ratings),
        score=rounded(spread.mean),
        weight=rounded(weight),
        contribution=rounded(
            mean([to_decimal(rating.contribution) for rating in ratings]) * len(ratings) / people, 1
        ),
        raters=len(ratings),
        **spread.figures(2),
    )


FORM = FormSpec(
    {
        "subject": {"label": "What is rated", "placeholder": "Offer of Alder Works"},
        "criteria.*.name": {"label": "Criterion", "placeholder": "Price"},
        "criteria.*.score": {"help": "0 is not at all, 10 is as good as can be."},
    }
)

SECTIONS = (
    summary_section(
        {"key": "score", "unit": "of 100", "decimals": 1},
        {"key": "band"},
        {"key": "subject"},
        {"key": "strongest"},
        {"key": "weakest", "label": "Most to win in"},
        {"key": "agreement", "unit": "%", "decimals": 1},
        {"key": "verdict", "label": "In short"},
    ),
    radar_section("criteria", "Criteria", "name", "score", most=10),
    ranking_section("levers", "Where most is still to be won", unit="points", decimals=1),
    table_section(
        "criteria",
        "Criterion by criterion",
        {"key": "name"},
        {"key": "score", "decimals": 1},
        {"key": "weight", "unit": "%", "decimals": 1},
        {"key": "contribution", "unit": "points", "decimals": 1},
        {"key": "raters", "format": "integer"},
        {"key": "low", "decimals": 1},
        {"key": "high", "decimals": 1},
        {"key": "agreement", "unit": "%", "decimals": 1},
    ),
    PARTICIPANTS,
)


@calculator(
    "assessment.quickScore",
    slug="quick-score",
    name="Quick Score",
    icon="gauge",
    form=FORM,
    sections=SECTIONS,
    rows="criteria",
    aggregate=aggregate,
)
def score_quickly(args: QuickScoreInput) -> QuickScore:
    """Score one thing from 0 to 100 by freely named criteria that count as much as you say.

    Use it for an offer, an idea or a candidate system; with a group, in a session. To rank several things
    by impact and effort use planning.rankPriorities instead.
    """
    return calculate(args)
