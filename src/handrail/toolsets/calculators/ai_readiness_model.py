"""The AI Readiness Assessment: its input, its output and its formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Literal, TypeVar

from pydantic import Field, field_validator

from handrail.toolsets.calculators.decimals import HUNDRED, ZERO, mean
from handrail.toolsets.calculators.schemas import (
    CalculatorInput,
    CalculatorOutput,
    Percent,
    Verdict,
    Weight,
    check_weights,
)

Rating = Literal[1, 2, 3, 4, 5]
Dimension = Literal["Strategy", "Data", "Technology", "People", "Processes", "Governance"]
Band = Literal["Starting", "Exploring", "Building", "Practising", "Leading"]


class StrategyRatings(CalculatorInput):
    """What it is for. From 1, not at all, to 5, entirely."""

    goals: Rating = Field(description="We know which results we want from AI and how we will measure them.")
    sponsorship: Rating = Field(description="Somebody who decides on money and priorities stands behind it.")
    use_cases: Rating = Field(description="We have a list of uses, compared by worth and effort.")


class DataRatings(CalculatorInput):
    """What it would work with. From 1, not at all, to 5, entirely."""

    quality: Rating = Field(description="Our data is complete and right enough to decide by.")
    access: Rating = Field(description="Those who need data get it within days, in a form programs can read.")
    ownership: Rating = Field(description="For each important set of data somebody is responsible.")


class TechnologyRatings(CalculatorInput):
    """What it would run on. From 1, not at all, to 5, entirely."""

    infrastructure: Rating = Field(description="We can run or rent what AI needs, and watch its cost.")
    integration: Rating = Field(description="Our systems have interfaces through which tools can act.")
    security: Rating = Field(description="Who may do what is managed in one place, and recorded.")


class PeopleRatings(CalculatorInput):
    """Who would work with it. From 1, not at all, to 5, entirely."""

    skills: Rating = Field(description="We have people who can build, buy and judge AI systems.")
    literacy: Rating = Field(description="Those who will use it know what it can and cannot do.")
    openness: Rating = Field(description="People want to try it and may say what goes wrong.")


class ProcessRatings(CalculatorInput):
    """Where it would be used. From 1, not at all, to 5, entirely."""

    documented: Rating = Field(description="The work that it would take over is written down as it is done.")
    measured: Rating = Field(description="We know how long that work takes and how often it goes wrong.")
    changeable: Rating = Field(description="We can change how we work within a quarter.")


class GovernanceRatings(CalculatorInput):
    """What keeps it in bounds. From 1, not at all, to 5, entirely."""

    policy: Rating = Field(description="It is written down what AI may be used for and what not.")
    oversight: Rating = Field(description="A person decides before anything grave happens.")
    compliance: Rating = Field(
        description="We know which laws and contracts apply and can show we keep them."
    )


class DimensionWeights(CalculatorInput):
    """How much each dimension counts, in relation to the others."""

    strategy: Weight = Field(default=1, description="Weight of strategy; 0 leaves it out.")
    data: Weight = Field(default=1, description="Weight of data; 0 leaves it out.")
    technology: Weight = Field(default=1, description="Weight of technology; 0 leaves it out.")
    people: Weight = Field(default=1, description="Weight of people; 0 leaves it out.")
    processes: Weight = Field(default=1, description="Weight of processes; 0 leaves it out.")
    governance: Weight = Field(default=1, description="Weight of governance; 0 leaves it out.")


class Assessment(CalculatorInput):
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
    target: Percent = Field(default=75, description="The score that each dimension should reach, 0 to 100.")

    @field_validator("weights")
    @classmethod
    def _something_counts(cls, weights: DimensionWeights) -> DimensionWeights:
        check_weights(weights.model_dump().values())
        return weights


class DimensionScore(CalculatorOutput):
    dimension: Dimension = Field(description="Which one.")
    score: float = Field(description="0 to 100.")
    target: float = Field(description="What it should be.")
    gap: float = Field(description="What is missing to the target; 0 when nothing is.")
    weight: float = Field(description="Percent that it counts.")
    band: Band = Field(description="The band of this dimension alone.")


class ReadinessGap(CalculatorOutput):
    name: Dimension = Field(description="Which dimension.")
    score: float = Field(description="Points that closing the gap would add to the whole.")
    advice: str = Field(description="What to do first.")


class ReadinessSummary(CalculatorOutput):
    score: float = Field(description="Weighted mean of the dimensions, 0 to 100.")
    band: Band = Field(description="How far that is; held back by the weakest dimension.")
    weakest: Dimension = Field(description="The dimension with the lowest score among those that count.")
    strongest: Dimension = Field(description="The one with the highest.")
    verdict: Verdict = ""


class Readiness(CalculatorOutput):
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
