"""AI Readiness Assessment: how far an organisation is, and what holds it back."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, get_args

from pydantic import BaseModel, Field
from pydantic.alias_generators import to_camel

from handrail import Result, tool
from handrail.ext import FormGroup, FormSpec, OutputSection, ViewSpec, build_markdown_table
from handrail.toolsets.calculators import ai_readiness_model
from handrail.toolsets.calculators.agreement import Spread, agreement_label, parse_outputs, spread_of
from handrail.toolsets.calculators.ai_readiness_model import (
    ADVICE,
    Assessment,
    Band,
    DataRatings,
    Dimension,
    DimensionScore,
    GovernanceRatings,
    PeopleRatings,
    ProcessRatings,
    Readiness,
    ReadinessGap,
    ReadinessSummary,
    StrategyRatings,
    TechnologyRatings,
)
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
from handrail.toolsets.calculators.schemas import CalculatorOutput

__all__ = ["assess_ai_readiness"]


@with_decimal_context
def calculate(inputs: Assessment) -> Readiness:
    """All figures, rounded."""
    names: tuple[Dimension, ...] = get_args(Dimension)
    scores = {name: ai_readiness_model.dimension_score(_ratings(inputs, name)) for name in names}
    weights = normalised({name: to_decimal(getattr(inputs.weights, name.lower())) for name in names})
    return readiness_of(scores, weights, to_decimal(inputs.target))


def _ratings(inputs: Assessment, name: Dimension) -> list[Decimal]:
    return [Decimal(rating) for rating in getattr(inputs, name.lower()).model_dump().values()]


def readiness_of(
    scores: Mapping[Dimension, Decimal], weights: Mapping[Dimension, Decimal], target: Decimal
) -> Readiness:
    """What scores and weights, which add up to 1, mean."""
    counting = [name for name in scores if weights[name] > 0]
    weakest = min(counting, key=lambda name: scores[name])
    strongest = max(counting, key=lambda name: scores[name])
    whole = ai_readiness_model.overall(scores, weights)
    band = ai_readiness_model.overall_band(whole, scores[weakest])
    gains = {name: weights[name] * ai_readiness_model.gap(scores[name], target) for name in counting}
    first = sorted((name for name in counting if gains[name] > 0), key=lambda name: -gains[name])
    held = "" if band == ai_readiness_model.band_of(whole) else f", held back by {weakest.lower()}"
    return Readiness(
        summary=ReadinessSummary(
            score=rounded(whole, 1),
            band=band,
            weakest=weakest,
            strongest=strongest,
            verdict=f"{band}: {format_number(rounded(whole, 1), 1)} of 100{held}.",
        ),
        dimensions=[
            DimensionScore(
                dimension=name,
                score=rounded(score, 1),
                target=rounded(target, 1),
                gap=rounded(ai_readiness_model.gap(score, target), 1),
                weight=rounded(HUNDRED * weights[name], 1),
                band=ai_readiness_model.band_of(score),
            )
            for name, score in scores.items()
        ],
        gaps=[ReadinessGap(name=name, score=rounded(gains[name], 1), advice=ADVICE[name]) for name in first],
    )


class GroupReadinessSummary(CalculatorOutput):
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


class ReadinessSubmission(CalculatorOutput):
    participant: int = Field(description="Its place among the submissions, from 1.")
    score: float = Field(description="0 to 100.")
    band: Band = Field(description="How far that is.")
    weakest: Dimension = Field(description="The dimension with the lowest score.")


class GroupReadiness(CalculatorOutput):
    summary: GroupReadinessSummary = Field(description="The figures that decide.")
    dimensions: list[GroupDimension] = Field(description="Each dimension.")
    gaps: list[ReadinessGap] = Field(description="What to close first.")
    participants: list[ReadinessSubmission] = Field(description="Each submission, in the order given.")


@with_decimal_context
def aggregate(outputs: list[Any]) -> dict[str, Any]:
    """Means of scores, weights and targets, and how far people agree; whoever came first makes no odds."""
    submissions = parse_outputs(outputs, Readiness)
    if not submissions:
        summary = GroupReadinessSummary(
            **dict.fromkeys(("score", "band", "agreement", "deviation", "weakest", "strongest", "disputed")),
            participants=0,
            verdict="Nobody has answered yet.",
        )
        return GroupReadiness(summary=summary, dimensions=[], gaps=[], participants=[]).to_dict()
    names: tuple[Dimension, ...] = get_args(Dimension)
    spreads = {name: _spread(submissions, name) for name in names}
    weights = normalised({name: mean(_values_of(submissions, name, "weight")) for name in names})
    target = mean([to_decimal(one.target) for output in submissions for one in output.dimensions])
    whole = spread_of([to_decimal(one.summary.score) for one in submissions], ZERO, HUNDRED)
    scores = {name: spread.mean for name, spread in spreads.items()}
    together = readiness_of(scores, weights, target)
    disputed = max(names, key=lambda name: spreads[name].deviation)
    band = ai_readiness_model.overall_band(whole.mean, scores[together.summary.weakest])
    summary = GroupReadinessSummary(
        participants=len(submissions),
        score=rounded(whole.mean, 1),
        band=band,
        agreement=rounded_or_none(whole.agreement, 1),
        deviation=rounded(whole.deviation, 1),
        weakest=together.summary.weakest,
        strongest=together.summary.strongest,
        disputed=disputed if spreads[disputed].deviation > 0 else None,
        verdict=_group_verdict(band, whole),
    )
    return GroupReadiness(
        summary=summary,
        dimensions=[_group_dimension(one, spreads[one.dimension]) for one in together.dimensions],
        gaps=together.gaps,
        participants=[
            ReadinessSubmission(
                participant=place,
                score=one.summary.score,
                band=one.summary.band,
                weakest=one.summary.weakest,
            )
            for place, one in enumerate(submissions, 1)
        ],
    ).to_dict()


def _values_of(submissions: list[Readiness], name: Dimension, what: str) -> list[Decimal]:
    return [
        to_decimal(getattr(one, what))
        for output in submissions
        for one in output.dimensions
        if one.dimension == name
    ]


def _spread(submissions: list[Readiness], name: Dimension) -> Spread:
    return spread_of(_values_of(submissions, name, "score"), ZERO, HUNDRED)


def _group_dimension(one: DimensionScore, spread: Spread) -> GroupDimension:
    return GroupDimension(
        **one.model_dump(),
        low=rounded(spread.low, 1),
        high=rounded(spread.high, 1),
        deviation=rounded(spread.deviation, 1),
        agreement=rounded_or_none(spread.agreement, 1),
    )


def _group_verdict(band: Band, whole: Spread) -> str:
    said = f"{band}: {format_number(rounded(whole.mean, 1), 1)} of 100"
    if whole.agreement is None:
        return f"{said}, by one person."
    return f"{said}, by {whole.count} people with {agreement_label(whole.agreement)} agreement."


_DIMENSIONS = {
    "strategy": ("Strategy", "What it is for."),
    "data": ("Data", "What it would work with."),
    "technology": ("Technology", "What it would run on."),
    "people": ("People", "Who would work with it."),
    "processes": ("Processes", "Where it would be used."),
    "governance": ("Governance", "What keeps it in bounds."),
}

_RATINGS: dict[str, type[BaseModel]] = {
    "strategy": StrategyRatings,
    "data": DataRatings,
    "technology": TechnologyRatings,
    "people": PeopleRatings,
    "processes": ProcessRatings,
    "governance": GovernanceRatings,
}
_SCALE = "1 is not at all, 5 is entirely."

FORM = FormSpec(
    {
        **{
            name: {"label": label, "help": f"{words} {_SCALE}"}
            for name, (label, words) in _DIMENSIONS.items()
        },
        **{
            f"{name}.{to_camel(field)}": {"widget": "radio", "class": "form-scale"}
            for name, model in _RATINGS.items()
            for field in model.model_fields
        },
        "weights": {"label": "What counts how much"},
        "target": {"label": "Score to reach", "widget": "slider"},
    },
    groups=(FormGroup("Fine tuning", ("weights", "target"), closed=True),),
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
                    {"key": "weakest"},
                    {"key": "strongest"},
                    {"key": "agreement", "unit": "%", "decimals": 1},
                    {"key": "verdict", "label": "In short"},
                ]
            },
        ),
        OutputSection(
            "dimensions",
            "Dimensions",
            "radar",
            {
                "axis": "dimension",
                "value": [{"key": "score", "label": "Today"}, {"key": "target"}],
                "min": 0,
                "max": 100,
            },
        ),
        OutputSection(
            "gaps",
            "What to close first",
            "ranking",
            {"label": "name", "value": "score", "note": "advice", "unit": "points", "decimals": 1},
        ),
        OutputSection(
            "dimensions",
            "Dimension by dimension",
            "table",
            {
                "columns": [
                    {"key": "dimension"},
                    {"key": "score", "decimals": 1},
                    {"key": "band"},
                    {"key": "gap", "decimals": 1},
                    {"key": "weight", "unit": "%", "decimals": 1},
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
    "assessment.assessAiReadiness",
    input=Assessment,
    slug="ai-readiness-assessment",
    name="AI Readiness Assessment",
    category="assessment",
    icon="brain-circuit",
    level="read",
    danger="safe",
    idempotent=True,
    collaborative=True,
    aggregate=aggregate,
    sections=VIEW.sections,
    form=FORM,
    view=VIEW,
)
async def assess_ai_readiness(args: Assessment) -> Readiness | Result:
    """Assess how ready an organisation is for AI in six dimensions, with its band of maturity, the weakest
    dimension and what to close first.

    Use it with ratings that people gave; best several of them, in a session. Not to judge a single process:
    use planning.scopeAutomation instead.
    """
    result = calculate(args)
    rows = [one.to_dict() for one in result.dimensions]
    return Result(
        data=result,
        summary=result.summary.verdict,
        markdown=build_markdown_table(rows, heading=result.summary.verdict),
    )
