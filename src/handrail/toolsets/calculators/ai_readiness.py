"""AI Readiness Assessment: how far an organisation is, and what holds it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, TypeVar, get_args

from pydantic import BaseModel, Field, field_validator
from pydantic.alias_generators import to_camel

from handrail.ext.forms import FormGroup, FormSpec
from handrail.toolsets.calculators import schemas
from handrail.toolsets.calculators.agreement import (
    Spread,
    agreement_label,
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
    rounded_or_none,
    to_decimal,
    with_decimal_context,
)

Rating = schemas.Rating
Dimension = Literal["Strategy", "Data", "Technology", "People", "Processes", "Governance"]
Band = Literal["Starting", "Exploring", "Building", "Practising", "Leading"]


class StrategyRatings(schemas.CalculatorInput):
    """What it is for. From 1, not at all, to 5, entirely."""

    goals: Rating = Field(description="We know which results we want from AI and how we will measure them.")
    sponsorship: Rating = Field(description="Somebody who decides on money and priorities stands behind it.")
    use_cases: Rating = Field(description="We have a list of uses, compared by worth and effort.")


class DataRatings(schemas.CalculatorInput):
    """What it would work with. From 1, not at all, to 5, entirely."""

    quality: Rating = Field(description="Our data is complete and right enough to decide by.")
    access: Rating = Field(description="Those who need data get it within days, in a form programs can read.")
    ownership: Rating = Field(description="For each important set of data somebody is responsible.")


class TechnologyRatings(schemas.CalculatorInput):
    """What it would run on. From 1, not at all, to 5, entirely."""

    infrastructure: Rating = Field(description="We can run or rent what AI needs, and watch its cost.")
    integration: Rating = Field(description="Our systems have interfaces through which tools can act.")
    security: Rating = Field(description="Who may do what is managed in one place, and recorded.")


class PeopleRatings(schemas.CalculatorInput):
    """Who would work with it. From 1, not at all, to 5, entirely."""

    skills: Rating = Field(description="We have people who can build, buy and judge AI systems.")
    literacy: Rating = Field(description="Those who will use it know what it can and cannot do.")
    openness: Rating = Field(description="People want to try it and may say what goes wrong.")


class ProcessRatings(schemas.CalculatorInput):
    """Where it would be used. From 1, not at all, to 5, entirely."""

    documented: Rating = Field(description="The work that it would take over is written down as it is done.")
    measured: Rating = Field(description="We know how long that work takes and how often it goes wrong.")
    changeable: Rating = Field(description="We can change how we work within a quarter.")


class GovernanceRatings(schemas.CalculatorInput):
    """What keeps it in bounds. From 1, not at all, to 5, entirely."""

    policy: Rating = Field(description="It is written down what AI may be used for and what not.")
    oversight: Rating = Field(description="A person decides before anything grave happens.")
    compliance: Rating = Field(
        description="We know which laws and contracts apply and can show we keep them."
    )


class DimensionWeights(schemas.CalculatorInput):
    """How much each dimension counts, in relation to the others."""

    strategy: schemas.Weight = Field(default=1, description="Weight of strategy; 0 leaves it out.")
    data: schemas.Weight = Field(default=1, description="Weight of data; 0 leaves it out.")
    technology: schemas.Weight = Field(default=1, description="Weight of technology; 0 leaves it out.")
    people: schemas.Weight = Field(default=1, description="Weight of people; 0 leaves it out.")
    processes: schemas.Weight = Field(default=1, description="Weight of processes; 0 leaves it out.")
    governance: schemas.Weight = Field(default=1, description="Weight of governance; 0 leaves it out.")


class Assessment(schemas.CalculatorInput):
    """Ratings of an organisation, dimension by dimension."""

    strategy: StrategyRatings = Field(description="What it is for: three ratings from 1 to 5.")
    data: DataRatings = Field(description="What it would work with: three ratings from 1 to 5.")
    technology: TechnologyRatings = Field(description="What it would run on: three ratings from 1 to 5.")
    people: PeopleRatings = Field(description="Who would work with it: three ratings from 1 to 5.")
    processes: ProcessRatings = Field(description="Where it would be used: three ratings from 1 to 5.")
    governance: GovernanceRatings = Field(description="What keeps it in bounds: three ratings from 1 to 5.")
    weights: DimensionWeights = Field(
        default_factory=DimensionWeights, description="How much each dimension counts; all alike unless said."
    )
    target: schemas.Percent = Field(
        default=75, description="The score that each dimension should reach, 0 to 100."
    )

    @field_validator("weights")
    @classmethod
    def _something_counts(cls, weights: DimensionWeights) -> DimensionWeights:
        schemas.check_weights(weights.model_dump().values())
        return weights


class DimensionScore(schemas.CalculatorOutput):
    dimension: Dimension = Field(description="Which one.")
    score: float = Field(description="0 to 100.")
    target: float = Field(description="What it should be.")
    gap: float = Field(description="What is missing to the target; 0 when nothing is.")
    weight: float = Field(description="Percent that it counts.")
    band: Band = Field(description="The band of this dimension alone.")


class ReadinessGap(schemas.CalculatorOutput):
    name: Dimension = Field(description="Which dimension.")
    score: float = Field(description="Points that closing the gap would add to the whole.")
    advice: str = Field(description="What to do first.")


class ReadinessSummary(schemas.CalculatorOutput):
    score: float = Field(description="Weighted mean of the dimensions, 0 to 100.")
    band: Band = Field(description="How far that is; held back by the weakest dimension.")
    weakest: Dimension = Field(description="The dimension with the lowest score among those that count.")
    strongest: Dimension = Field(description="The one with the highest.")
    verdict: schemas.Verdict = ""


class Readiness(schemas.CalculatorOutput):
    summary: ReadinessSummary = Field(description="The figures that decide.")
    dimensions: list[DimensionScore] = Field(description="Each dimension.")
    gaps: list[ReadinessGap] = Field(description="What to close first: the largest gain before the others.")


K = TypeVar("K")
_MIN_RATING, _MAX_RATING = Decimal(1), Decimal(5)

_BANDS: tuple[tuple[Band, int], ...] = (
    ("Starting", 0),
    ("Exploring", 25),
    ("Building", 45),
    ("Practising", 65),
    ("Leading", 85),
)
"""Each band and the score from which on it holds."""


def dimension_score(ratings: Sequence[Decimal]) -> Decimal:
    """Mean of the ratings, from the scale 1 to 5 to 0 to 100."""
    return HUNDRED * (mean(list(ratings)) - _MIN_RATING) / (_MAX_RATING - _MIN_RATING)


def overall(scores: Mapping[K, Decimal], weights: Mapping[K, Decimal]) -> Decimal:
    """Weighted mean: the sum of weight × score, for weights that add up to 1."""
    return sum((weights[name] * score for name, score in scores.items()), ZERO)


def _band_index(score: Decimal) -> int:
    return max(step for step, (_, least) in enumerate(_BANDS) if score >= least)


def band_of(score: Decimal) -> Band:
    """The band of one score."""
    return _BANDS[_band_index(score)][0]


def overall_band(score: Decimal, weakest: Decimal) -> Band:
    """The band of the whole: at most one above the band of the weakest dimension that counts."""
    return _BANDS[min(_band_index(score), _band_index(weakest) + 1)][0]


def gap(score: Decimal, target: Decimal) -> Decimal:
    """What is missing to the target."""
    return max(ZERO, target - score)


ADVICE: dict[Dimension, str] = {
    "Strategy": "Name one result, who wants it, and how you will measure it.",
    "Data": "Take the data of one use, give it an owner, and measure how complete it is.",
    "Technology": "Open one system through an interface with rights and a record of each call.",
    "People": "Train those who will use it first, and give them time to try it.",
    "Processes": "Write down one process as it is done, and count its time and its mistakes.",
    "Governance": "Write down what AI may do by itself and where a person decides.",
}


@with_decimal_context
def calculate(inputs: Assessment) -> Readiness:
    """All figures, rounded."""
    names: tuple[Dimension, ...] = get_args(Dimension)
    ratings = {name: getattr(inputs, name.lower()).model_dump().values() for name in names}
    scores = {name: dimension_score([Decimal(rating) for rating in ratings[name]]) for name in names}
    weights = normalised({name: to_decimal(getattr(inputs.weights, name.lower())) for name in names})
    return readiness_of(scores, weights, to_decimal(inputs.target))


def readiness_of(
    scores: Mapping[Dimension, Decimal], weights: Mapping[Dimension, Decimal], target: Decimal
) -> Readiness:
    """What scores and weights, which add up to 1, mean."""
    counting = [name for name in scores if weights[name] > 0]
    weakest = min(counting, key=lambda name: scores[name])
    strongest = max(counting, key=lambda name: scores[name])
    total = overall(scores, weights)
    band = overall_band(total, scores[weakest])
    gains = {name: weights[name] * gap(scores[name], target) for name in counting}
    first = sorted((name for name in counting if gains[name] > 0), key=lambda name: -gains[name])
    held = "" if band == band_of(total) else f", held back by {weakest.lower()}"
    return Readiness(
        summary=ReadinessSummary(
            score=rounded(total, 1),
            band=band,
            weakest=weakest,
            strongest=strongest,
            verdict=f"{band}: {format_number(rounded(total, 1), 1)} of 100{held}.",
        ),
        dimensions=[
            DimensionScore(
                dimension=name,
                score=rounded(score, 1),
                target=rounded(target, 1),
                gap=rounded(gap(score, target), 1),
                weight=rounded(HUNDRED * weights[name], 1),
                band=band_of(score),
            )
            for name, score in scores.items()
        ],
        gaps=[ReadinessGap(name=name, score=rounded(gains[name], 1), advice=ADVICE[name]) for name in first],
    )


class GroupReadinessSummary(schemas.CalculatorOutput):
    participants: int = Field(description="How many assessments there are.")
    score: float | None = Field(default=None, description="Mean of the scores, 0 to 100.")
    band: Band | None = Field(default=None, description="How far that is.")
    agreement: float | None = Field(
        default=None, description="100: all say the same; null for fewer than two."
    )
    deviation: float | None = Field(default=None, description="Standard deviation of the scores.")
    weakest: Dimension | None = Field(default=None, description="The dimension with the lowest mean.")
    strongest: Dimension | None = Field(default=None, description="The one with the highest.")
    disputed: Dimension | None = Field(default=None, description="The dimension people agree on least.")
    verdict: str = Field(description="What that means, in a sentence.")


class GroupDimension(DimensionScore):
    low: float = Field(description="The lowest score anybody gave.")
    high: float = Field(description="The highest.")
    deviation: float = Field(description="Standard deviation of the scores.")
    agreement: float | None = Field(description="100: all say the same; null for fewer than two.")


class ReadinessSubmission(schemas.CalculatorOutput):
    participant: int = Field(description="Its place among the submissions, from 1.")
    score: float = Field(description="0 to 100.")
    band: Band = Field(description="How far that is.")
    weakest: Dimension = Field(description="The dimension with the lowest score.")


class GroupReadiness(schemas.CalculatorOutput):
    summary: GroupReadinessSummary = Field(description="The figures that decide.")
    dimensions: list[GroupDimension] = Field(description="Each dimension.")
    gaps: list[ReadinessGap] = Field(description="What to close first.")
    participants: list[ReadinessSubmission] = Field(description="Each submission, in the order given.")


@with_decimal_context
def aggregate(outputs: list[Any]) -> dict[str, Any]:
    """Means of scores, weights and targets, and how far people agree; whoever came first makes no odds."""
    submissions = parse_outputs(outputs, Readiness)
    if not submissions:
        summary = GroupReadinessSummary(participants=0, verdict="Nobody has answered yet.")
        return GroupReadiness(summary=summary, dimensions=[], gaps=[], participants=[]).to_dict()
    names: tuple[Dimension, ...] = get_args(Dimension)
    spreads = {name: spread_of(_values_of(submissions, name, "score"), ZERO, HUNDRED) for name in names}
    weights = normalised({name: mean(_values_of(submissions, name, "weight")) for name in names})
    target = mean([to_decimal(row.target) for output in submissions for row in output.dimensions])
    total = spread_of([to_decimal(output.summary.score) for output in submissions], ZERO, HUNDRED)
    scores = {name: spread.mean for name, spread in spreads.items()}
    together = readiness_of(scores, weights, target)
    disputed = max(names, key=lambda name: spreads[name].deviation)
    band = overall_band(total.mean, scores[together.summary.weakest])
    summary = GroupReadinessSummary(
        participants=len(submissions),
        score=rounded(total.mean, 1),
        band=band,
        agreement=rounded_or_none(total.agreement, 1),
        deviation=rounded(total.deviation, 1),
        weakest=together.summary.weakest,
        strongest=together.summary.strongest,
        disputed=disputed if spreads[disputed].deviation > 0 else None,
        verdict=_group_verdict(band, total),
    )
    return GroupReadiness(
        summary=summary,
        dimensions=[
            GroupDimension(**row.model_dump(), **spreads[row.dimension].figures(1))
            for row in together.dimensions
        ],
        gaps=together.gaps,
        participants=numbered_summaries((output.summary for output in submissions), ReadinessSubmission),
    ).to_dict()


def _values_of(submissions: list[Readiness], name: Dimension, figure: str) -> list[Decimal]:
    return [
        to_decimal(getattr(row, figure))
        for output in submissions
        for row in output.dimensions
        if row.dimension == name
    ]


def _group_verdict(band: Band, total: Spread) -> str:
    score = f"{band}: {format_number(rounded(total.mean, 1), 1)} of 100"
    if total.agreement is None:
        return f"{score}, by one person."
    return f"{score}, by {total.count} people with {agreement_label(total.agreement)} agreement."


_DIMENSIONS: dict[str, tuple[type[BaseModel], str]] = {
    "strategy": (StrategyRatings, "What it is for."),
    "data": (DataRatings, "What it would work with."),
    "technology": (TechnologyRatings, "What it would run on."),
    "people": (PeopleRatings, "Who would work with it."),
    "processes": (ProcessRatings, "Where it would be used."),
    "governance": (GovernanceRatings, "What keeps it in bounds."),
}
_SCALE = "1 is not at all, 5 is entirely."

FORM = FormSpec(
    {
        **{
            name: {"label": name.capitalize(), "help": f"{words} {_SCALE}"}
            for name, (_, words) in _DIMENSIONS.items()
        },
        **{
            f"{name}.{to_camel(field)}": {"widget": "radio", "class": "form-scale"}
            for name, (model, _) in _DIMENSIONS.items()
            for field in model.model_fields
        },
        "weights": {"label": "What counts how much"},
        "target": {"label": "Score to reach", "widget": "slider"},
    },
    groups=(FormGroup("Fine tuning", ("weights", "target"), closed=True),),
)

SECTIONS = (
    summary_section(
        {"key": "score", "unit": "of 100", "decimals": 1},
        {"key": "band"},
        {"key": "weakest"},
        {"key": "strongest"},
        {"key": "agreement", "unit": "%", "decimals": 1},
        {"key": "verdict", "label": "In short"},
    ),
    radar_section(
        "dimensions", "Dimensions", "dimension", [{"key": "score", "label": "Today"}, {"key": "target"}]
    ),
    ranking_section("gaps", "What to close first", note="advice", unit="points", decimals=1),
    table_section(
        "dimensions",
        "Dimension by dimension",
        {"key": "dimension"},
        {"key": "score", "decimals": 1},
        {"key": "band"},
        {"key": "gap", "decimals": 1},
        {"key": "weight", "unit": "%", "decimals": 1},
        {"key": "low", "decimals": 1},
        {"key": "high", "decimals": 1},
        {"key": "agreement", "unit": "%", "decimals": 1},
    ),
    PARTICIPANTS,
)


@calculator(
    "assessment.assessAiReadiness",
    slug="ai-readiness-assessment",
    name="AI Readiness Assessment",
    icon="brain-circuit",
    form=FORM,
    sections=SECTIONS,
    rows="dimensions",
    aggregate=aggregate,
)
def assess_ai_readiness(args: Assessment) -> Readiness:
    """Assess how ready an organisation is for AI in six dimensions, with its band of maturity, the weakest
    dimension and what to close first.

    Use it with ratings that people gave; best several of them, in a session. Not to judge a single process:
    use planning.scopeAutomation instead.
    """
    return calculate(args)
