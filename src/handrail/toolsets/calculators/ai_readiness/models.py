"""What the AI Readiness Assessment asks for and tells."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from handrail.toolsets.calculators.shapes import Given, Percent, Told, Verdict, Weight, check_weights

Rating = Literal[1, 2, 3, 4, 5]
Dimension = Literal["Strategy", "Data", "Technology", "People", "Processes", "Governance"]
Band = Literal["Starting", "Exploring", "Building", "Practising", "Leading"]


class Strategy(Given):
    """What it is for. From 1, not at all, to 5, entirely."""

    goals: Rating = Field(description="We know which results we want from AI and how we will measure them.")
    sponsorship: Rating = Field(description="Somebody who decides on money and priorities stands behind it.")
    use_cases: Rating = Field(description="We have a list of uses, compared by worth and effort.")


class Data(Given):
    """What it would work with. From 1, not at all, to 5, entirely."""

    quality: Rating = Field(description="Our data is complete and right enough to decide by.")
    access: Rating = Field(description="Those who need data get it within days, in a form programs can read.")
    ownership: Rating = Field(description="For each important set of data somebody is responsible.")


class Technology(Given):
    """What it would run on. From 1, not at all, to 5, entirely."""

    infrastructure: Rating = Field(description="We can run or rent what AI needs, and watch its cost.")
    integration: Rating = Field(description="Our systems have interfaces through which tools can act.")
    security: Rating = Field(description="Who may do what is managed in one place, and recorded.")


class People(Given):
    """Who would work with it. From 1, not at all, to 5, entirely."""

    skills: Rating = Field(description="We have people who can build, buy and judge AI systems.")
    literacy: Rating = Field(description="Those who will use it know what it can and cannot do.")
    openness: Rating = Field(description="People want to try it and may say what goes wrong.")


class Processes(Given):
    """Where it would be used. From 1, not at all, to 5, entirely."""

    documented: Rating = Field(description="The work that it would take over is written down as it is done.")
    measured: Rating = Field(description="We know how long that work takes and how often it goes wrong.")
    changeable: Rating = Field(description="We can change how we work within a quarter.")


class Governance(Given):
    """What keeps it in bounds. From 1, not at all, to 5, entirely."""

    policy: Rating = Field(description="It is written down what AI may be used for and what not.")
    oversight: Rating = Field(description="A person decides before anything grave happens.")
    compliance: Rating = Field(
        description="We know which laws and contracts apply and can show we keep them."
    )


class Weights(Given):
    """How much each dimension counts, in relation to the others."""

    strategy: Weight = Field(default=1, description="Weight of strategy; 0 leaves it out.")
    data: Weight = Field(default=1, description="Weight of data; 0 leaves it out.")
    technology: Weight = Field(default=1, description="Weight of technology; 0 leaves it out.")
    people: Weight = Field(default=1, description="Weight of people; 0 leaves it out.")
    processes: Weight = Field(default=1, description="Weight of processes; 0 leaves it out.")
    governance: Weight = Field(default=1, description="Weight of governance; 0 leaves it out.")


class Assessment(Given):
    """Ratings of an organisation, dimension by dimension."""

    strategy: Strategy = Field(description="What it is for: three ratings from 1 to 5.")
    data: Data = Field(description="What it would work with: three ratings from 1 to 5.")
    technology: Technology = Field(description="What it would run on: three ratings from 1 to 5.")
    people: People = Field(description="Who would work with it: three ratings from 1 to 5.")
    processes: Processes = Field(description="Where it would be used: three ratings from 1 to 5.")
    governance: Governance = Field(description="What keeps it in bounds: three ratings from 1 to 5.")
    weights: Weights = Field(
        default_factory=Weights, description="How much each dimension counts; all alike unless said."
    )
    target: Percent = Field(default=75, description="The score that each dimension should reach, 0 to 100.")

    @field_validator("weights")
    @classmethod
    def _something_counts(cls, weights: Weights) -> Weights:
        check_weights(weights.model_dump().values())
        return weights


class DimensionScore(Told):
    dimension: Dimension = Field(description="Which one.")
    score: float = Field(description="0 to 100.")
    target: float = Field(description="What it should be.")
    gap: float = Field(description="What is missing to the target; 0 when nothing is.")
    weight: float = Field(description="Percent that it counts.")
    band: Band = Field(description="The band of this dimension alone.")


class Gap(Told):
    name: Dimension = Field(description="Which dimension.")
    score: float = Field(description="Points that closing the gap would add to the whole.")
    advice: str = Field(description="What to do first.")


class ReadinessSummary(Told):
    score: float = Field(description="Weighted mean of the dimensions, 0 to 100.")
    band: Band = Field(description="How far that is; held back by the weakest dimension.")
    weakest: Dimension = Field(description="The dimension with the lowest score among those that count.")
    strongest: Dimension = Field(description="The one with the highest.")
    verdict: Verdict = ""


class Readiness(Told):
    summary: ReadinessSummary = Field(description="The figures that decide.")
    dimensions: list[DimensionScore] = Field(description="Each dimension.")
    gaps: list[Gap] = Field(description="What to close first: the largest gain before the others.")
