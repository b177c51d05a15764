"""What the Complexity Estimator asks for and tells."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from handrail.toolsets.calculators.shapes import (
    NAMED_APART,
    Given,
    Name,
    Percent,
    Told,
    Verdict,
    at_least_one,
)

Days = Annotated[float, Field(ge=0, le=10_000)]
Degree = Literal["low", "normal", "high", "very high"]
Certainty = Literal["50", "80", "90", "95"]
Size = Literal["Small", "Medium", "Large", "Very large"]


class WorkItem(Given):
    """A part of the work with three estimates in days."""

    name: Name = Field(description="What is to be done, such as Import of old data.")
    optimistic: Days = Field(description="Days if everything goes well.")
    likely: Days = Field(description="Days that are most likely; not less than the optimistic ones.")
    pessimistic: Days = Field(
        description="Days if nearly everything goes wrong; not less than the likely ones."
    )

    @field_validator("likely")
    @classmethod
    def _not_below_best(cls, likely: float, info: ValidationInfo) -> float:
        best = info.data.get("optimistic")
        if best is not None and likely < best:
            raise ValueError(f"must be at least the optimistic {best:g} days")
        return likely

    @field_validator("pessimistic")
    @classmethod
    def _not_below_likely(cls, pessimistic: float, info: ValidationInfo) -> float:
        likely = info.data.get("likely")
        if likely is not None and pessimistic < likely:
            raise ValueError(f"must be at least the likely {likely:g} days")
        return pessimistic


class Work(Given):
    """A piece of work, part by part, and what makes it harder."""

    items: Annotated[
        list[WorkItem],
        at_least_one("add at least one part of the work"),
        NAMED_APART,
        Field(min_length=1, max_length=200),
    ] = Field(description="The parts of the work, 1 to 200.")
    novelty: Degree = Field(default="normal", description="How new this kind of work is to the team.")
    integration: Degree = Field(
        default="normal", description="How much it hangs together with other systems."
    )
    compliance: Degree = Field(default="normal", description="How much must be proved to others.")
    coordination: Degree = Field(default="normal", description="How many people must agree on it.")
    correlation: Percent = Field(
        default=20,
        description="Percent to which parts go wrong together; 0 when they have nothing in common.",
    )
    certainty: Certainty = Field(
        default="80", description="In how many of 100 such cases the range should hold."
    )
    team_size: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=1, description="How many people work on it at the same time."
    )


class ComplexitySummary(Told):
    expected_days: float = Field(description="Days of work to expect.")
    low_days: float = Field(description="Where the range begins.")
    high_days: float = Field(description="Where it ends.")
    calendar_weeks: float = Field(description="Weeks of five days for the team, if the work can be divided.")
    factor: float = Field(description="By how much the drivers multiply the estimates.")
    size: Size = Field(description="How large that is.")
    uncertainty: float = Field(description="Half of the range in percent of the expected days.")
    verdict: Verdict = ""


class ItemEstimate(Told):
    name: str = Field(description="What is to be done.")
    expected: float = Field(description="Days to expect, drivers included.")
    low: float = Field(description="Where its own range begins.")
    high: float = Field(description="Where it ends.")
    deviation: float = Field(description="Standard deviation in days.")


class Risk(Told):
    name: str = Field(description="What is to be done.")
    score: float = Field(description="Percent of the uncertainty that comes from it.")


class Estimate(Told):
    summary: ComplexitySummary = Field(description="The figures that decide.")
    items: list[ItemEstimate] = Field(description="Each part.")
    risks: list[Risk] = Field(description="Where the uncertainty comes from, the most first.")
