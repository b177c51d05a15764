"""Quick Score: its input, its output and its formulas."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, field_validator

from handrail.toolsets.calculators.decimals import ZERO
from handrail.toolsets.calculators.schemas import (
    CalculatorInput,
    CalculatorOutput,
    Name,
    Verdict,
    Weight,
    at_least_one,
    check_unique_names,
    check_weights,
)

Band = Literal["Weak", "Mixed", "Good", "Strong"]


class Criterion(CalculatorInput):
    """Something to rate by."""

    name: Name = Field(description="What is looked at, such as Price.")
    score: Annotated[float, Field(ge=0, le=10)] = Field(
        description="How good it is, from 0, not at all, to 10, as good as can be."
    )
    weight: Weight = Field(default=1, description="How much it counts, in relation to the others.")


class QuickScoreInput(CalculatorInput):
    """One thing, rated by criteria."""

    subject: Name = Field(description="What is rated, such as Offer of Alder Works.")
    criteria: Annotated[
        list[Criterion],
        at_least_one("add at least one criterion to rate by"),
        Field(min_length=1, max_length=50),
    ] = Field(description="What to rate by, 1 to 50 criteria.")

    @field_validator("criteria")
    @classmethod
    def _usable(cls, criteria: list[Criterion]) -> list[Criterion]:
        check_unique_names(one.name for one in criteria)
        check_weights(one.weight for one in criteria)
        return criteria


class CriterionScore(CalculatorOutput):
    name: str = Field(description="What was looked at.")
    score: float = Field(description="0 to 10.")
    weight: float = Field(description="Percent that it counts.")
    contribution: float = Field(description="Points that it gives to the whole.")


class Lever(CalculatorOutput):
    name: str = Field(description="What was looked at.")
    score: float = Field(description="Points that the whole would gain if this were perfect.")


class ScoreSummary(CalculatorOutput):
    subject: str = Field(description="What was rated.")
    score: float = Field(description="0 to 100.")
    band: Band = Field(description="How good that is.")
    strongest: str = Field(description="The criterion that gives most.")
    weakest: str = Field(description="The criterion where most is still to be won.")
    verdict: Verdict = ""


class QuickScore(CalculatorOutput):
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
