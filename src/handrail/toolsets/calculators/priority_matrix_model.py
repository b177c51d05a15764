"""The Priority Matrix: its input, its output and its formulas."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from handrail.toolsets.calculators.schemas import (
    UNIQUE_NAMES,
    CalculatorInput,
    CalculatorOutput,
    Name,
    Percent,
    Verdict,
    at_least_one,
)

Rating = Annotated[float, Field(ge=1, le=10)]
Quadrant = Literal["Quick win", "Big bet", "Fill-in", "Rethink"]


class PriorityItem(CalculatorInput):
    """Something that could be done."""

    name: Name = Field(description="What could be done, such as Answer invoices by mail.")
    impact: Rating = Field(description="What it would bring, from 1, hardly anything, to 10, a great deal.")
    effort: Rating = Field(description="What it would take, from 1, an hour or so, to 10, a year or more.")
    confidence: Percent = Field(default=80, description="How sure you are of both, in percent.")
    reach: Annotated[float, Field(ge=0.01, le=1e9)] = Field(
        default=1,
        description="How many people or cases it concerns; 1 for all when that makes no difference.",
    )


class PriorityItems(CalculatorInput):
    """What could be done, rated."""

    items: Annotated[
        list[PriorityItem],
        at_least_one("add at least one item to rank"),
        UNIQUE_NAMES,
        Field(min_length=1, max_length=100),
    ] = Field(description="What to rank, 1 to 100.")
    midpoint: Rating = Field(
        default=5.5, description="Where high impact and high effort begin; the middle of the scale is 5.5."
    )


class RankedItem(CalculatorOutput):
    rank: int = Field(description="1 is first; equal scores have equal ranks.")
    name: str = Field(description="What could be done.")
    score: float = Field(description="Reach × impact × confidence / effort.")
    quadrant: Quadrant = Field(description="Where it stands in the matrix.")
    impact: float = Field(description="1 to 10.")
    effort: float = Field(description="1 to 10.")
    confidence: float = Field(description="Percent.")
    reach: float = Field(description="People or cases.")


class QuadrantCount(CalculatorOutput):
    quadrant: Quadrant = Field(description="Which one.")
    count: int = Field(description="How many items stand in it.")
    items: str = Field(description="Their names.")
    advice: str = Field(description="What to do with them.")


class PrioritySummary(CalculatorOutput):
    first: str = Field(description="What to do first.")
    items: int = Field(description="How many were ranked.")
    quick_wins: int = Field(description="How many bring much and take little.")
    midpoint: float = Field(description="Where high begins.")
    verdict: Verdict = ""


class Priorities(CalculatorOutput):
    summary: PrioritySummary = Field(description="The figures that decide.")
    ranking: list[RankedItem] = Field(description="All of them, the first before the others.")
    quadrants: list[QuadrantCount] = Field(description="The matrix.")


ADVICE: dict[Quadrant, str] = {
    "Quick win": "Do these first.",
    "Big bet": "Plan these, and make sure of them before you start.",
    "Fill-in": "Do these when there is time.",
    "Rethink": "Leave these, or find a smaller way.",
}


def score(reach: Decimal, impact: Decimal, confidence: Decimal, effort: Decimal) -> Decimal:
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
