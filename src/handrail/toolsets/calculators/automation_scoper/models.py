"""What the Process Automation Scoper asks for and tells."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from handrail.toolsets.calculators.shapes import Given, Money, Name, Never, Percent, Told, Verdict

Rating = Literal[1, 2, 3, 4, 5]
Decision = Literal["Go", "Prepare first", "No go"]


class Process(Given):
    """A process as it is done today."""

    process: Name = Field(description="What it is called, such as Checking of invoices.")
    runs_per_month: Annotated[float, Field(ge=0.01, le=1e7)] = Field(
        description="How often it is done in a month, by all together."
    )
    minutes_per_run: Annotated[float, Field(ge=0.01, le=10_080)] = Field(
        description="Minutes of work that it takes once."
    )
    steps: Annotated[int, Field(ge=1, le=200)] = Field(description="How many steps it has, such as 8.")
    systems: Annotated[int, Field(ge=1, le=50)] = Field(
        description="How many systems it reads from or writes to."
    )
    exception_rate: Percent = Field(description="Percent of the runs that do not go the usual way.")
    rule_clarity: Rating = Field(
        description="How far rules decide it, from 1, mostly judgement, to 5, rules alone."
    )
    structured_input: Rating = Field(
        description="How readable its input is to programs, from 1, free text on paper, to 5, records."
    )
    stability: Rating = Field(
        description="How seldom it changes, from 1, every month, to 5, hardly ever in years."
    )
    hourly_cost: Annotated[Money, Field(le=100_000)] = Field(
        default=50, description="What an hour of the work costs."
    )
    day_rate: Annotated[Money, Field(le=1_000_000)] = Field(
        default=800, description="What a day of building costs."
    )
    upkeep: Percent = Field(default=15, description="Yearly cost of running it, in percent of building it.")
    years: Annotated[int, Field(ge=1, le=10)] = Field(
        default=3, description="In how many years it must have paid back, 1 to 10."
    )


class ScopeSummary(Told):
    decision: Decision = Field(description="What to do.")
    suitability: float = Field(description="How well it can be automated, 0 to 100.")
    coverage: float = Field(description="Percent of the work that software would do by itself.")
    hours_saved: float = Field(description="Hours set free in a month.")
    effort_days: float = Field(description="Days to build it.")
    build_cost: float = Field(description="What building it costs.")
    yearly_saving: float = Field(description="What it saves in a year, less upkeep.")
    payback: float | Never = Field(description="After how many months it has paid back, or Never.")
    net_gain: float = Field(description="Savings less all costs over the years looked at.")
    verdict: Verdict = ""


class Factor(Told):
    factor: str = Field(description="What is looked at.")
    score: float = Field(description="0 to 100.")
    weight: float = Field(description="Percent that it counts.")


class Check(Told):
    check: str = Field(description="What must hold.")
    holds: bool = Field(description="Whether it does.")
    reason: str = Field(description="The figure behind it, and what to do about it.")


class ScopeYear(Told):
    year: int = Field(description="0 is when it is built.")
    cumulative: float = Field(description="Savings less costs up to then.")


class Scope(Told):
    summary: ScopeSummary = Field(description="The figures that decide.")
    factors: list[Factor] = Field(description="What the suitability is made of.")
    checks: list[Check] = Field(description="Why: each condition and whether it holds.")
    years: list[ScopeYear] = Field(description="What it brings, year by year.")
