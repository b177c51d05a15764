"""What the Priority Matrix asks for and tells."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from handrail.toolsets.calculators.shapes import (
    NAMED_APART,
    Given,
    Name,
    Percent,
    Told,
    Verdict,
    at_least_one,
)

Rating = Annotated[float, Field(ge=1, le=10)]
Quadrant = Literal["Quick win", "Big bet", "Fill-in", "Rethink"]


class Candidate(Given):
    """Something that could be done."""

    name: Name = Field(description="What could be done, such as Answer invoices by mail.")
    impact: Rating = Field(description="What it would bring, from 1, hardly anything, to 10, a great deal.")
    effort: Rating = Field(description="What it would take, from 1, an hour or so, to 10, a year or more.")
    confidence: Percent = Field(default=80, description="How sure you are of both, in percent.")
    reach: Annotated[float, Field(ge=0.01, le=1e9)] = Field(
        default=1,
        description="How many people or cases it concerns; 1 for all when that makes no difference.",
    )


class Candidates(Given):
    """What could be done, rated."""

    items: Annotated[
        list[Candidate],
        at_least_one("add at least one item to rank"),
        NAMED_APART,
        Field(min_length=1, max_length=100),
    ] = Field(description="What to rank, 1 to 100.")
    midpoint: Rating = Field(
        default=5.5, description="Where high impact and high effort begin; the middle of the scale is 5.5."
    )


class Ranked(Told):
    rank: int = Field(description="1 is first; equal scores have equal ranks.")
    name: str = Field(description="What could be done.")
    score: float = Field(description="Reach × impact × confidence / effort.")
    quadrant: Quadrant = Field(description="Where it stands in the matrix.")
    impact: float = Field(description="1 to 10.")
    effort: float = Field(description="1 to 10.")
    confidence: float = Field(description="Percent.")
    reach: float = Field(description="People or cases.")


class QuadrantCount(Told):
    quadrant: Quadrant = Field(description="Which one.")
    count: int = Field(description="How many items stand in it.")
    items: str = Field(description="Their names.")
    advice: str = Field(description="What to do with them.")


class PrioritySummary(Told):
    first: str = Field(description="What to do first.")
    items: int = Field(description="How many were ranked.")
    quick_wins: int = Field(description="How many bring much and take little.")
    midpoint: float = Field(description="Where high begins.")
    verdict: Verdict = ""


class Priorities(Told):
    summary: PrioritySummary = Field(description="The figures that decide.")
    ranking: list[Ranked] = Field(description="All of them, the first before the others.")
    quadrants: list[QuadrantCount] = Field(description="The matrix.")
