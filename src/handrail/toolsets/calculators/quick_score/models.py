"""What Quick Score asks for and tells."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from handrail.toolsets.calculators.shapes import (
    Given,
    Name,
    Told,
    Verdict,
    Weight,
    at_least_one,
    check_names,
    check_weights,
)

Band = Literal["Weak", "Mixed", "Good", "Strong"]


class Criterion(Given):
    """Something to rate by."""

    name: Name = Field(description="What is looked at, such as Price.")
    score: Annotated[float, Field(ge=0, le=10)] = Field(
        description="How good it is, from 0, not at all, to 10, as good as can be."
    )
    weight: Weight = Field(default=1, description="How much it counts, in relation to the others.")


class Rated(Given):
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
        check_names(one.name for one in criteria)
        check_weights(one.weight for one in criteria)
        return criteria


class CriterionScore(Told):
    name: str = Field(description="What was looked at.")
    score: float = Field(description="0 to 10.")
    weight: float = Field(description="Percent that it counts.")
    contribution: float = Field(description="Points that it gives to the whole.")


class Lever(Told):
    name: str = Field(description="What was looked at.")
    score: float = Field(description="Points that the whole would gain if this were perfect.")


class ScoreSummary(Told):
    subject: str = Field(description="What was rated.")
    score: float = Field(description="0 to 100.")
    band: Band = Field(description="How good that is.")
    strongest: str = Field(description="The criterion that gives most.")
    weakest: str = Field(description="The criterion where most is still to be won.")
    verdict: Verdict = ""


class Score(Told):
    summary: ScoreSummary = Field(description="The figures that decide.")
    criteria: list[CriterionScore] = Field(description="Each criterion.")
    levers: list[Lever] = Field(description="Where most is still to be won, the most first.")
