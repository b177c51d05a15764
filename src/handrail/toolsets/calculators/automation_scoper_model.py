"""The Process Automation Scoper: its input, its output and its formulas."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from handrail.toolsets.calculators.decimals import HUNDRED, ONE, clamp
from handrail.toolsets.calculators.schemas import (
    CalculatorInput,
    CalculatorOutput,
    Money,
    Name,
    Never,
    Percent,
    Verdict,
)

Rating = Literal[1, 2, 3, 4, 5]
ScopeDecision = Literal["Go", "Prepare first", "No go"]


class BusinessProcess(CalculatorInput):
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


class ScopeSummary(CalculatorOutput):
    decision: ScopeDecision = Field(description="What to do.")
    suitability: float = Field(description="How well it can be automated, 0 to 100.")
    coverage: float = Field(description="Percent of the work that software would do by itself.")
    hours_saved: float = Field(description="Hours set free in a month.")
    effort_days: float = Field(description="Days to build it.")
    build_cost: float = Field(description="What building it costs.")
    yearly_saving: float = Field(description="What it saves in a year, less upkeep.")
    payback: float | Never = Field(description="After how many months it has paid back, or Never.")
    net_gain: float = Field(description="Savings less all costs over the years looked at.")
    verdict: Verdict = ""


class SuitabilityFactor(CalculatorOutput):
    factor: str = Field(description="What is looked at.")
    score: float = Field(description="0 to 100.")
    weight: float = Field(description="Percent that it counts.")


class ScopeCheck(CalculatorOutput):
    check: str = Field(description="What must hold.")
    holds: bool = Field(description="Whether it does.")
    reason: str = Field(description="The figure behind it, and what to do about it.")


class ScopeYear(CalculatorOutput):
    year: int = Field(description="0 is when it is built.")
    cumulative: float = Field(description="Savings less costs up to then.")


class AutomationScope(CalculatorOutput):
    summary: ScopeSummary = Field(description="The figures that decide.")
    factors: list[SuitabilityFactor] = Field(description="What the suitability is made of.")
    checks: list[ScopeCheck] = Field(description="Why: each condition and whether it holds.")
    years: list[ScopeYear] = Field(description="What it brings, year by year.")


WEIGHTS: dict[str, Decimal] = {
    "Clear rules": Decimal("0.30"),
    "Readable input": Decimal("0.25"),
    "Few exceptions": Decimal("0.20"),
    "Stability": Decimal("0.15"),
    "Volume": Decimal("0.10"),
}

_FULL_VOLUME = Decimal(80)
"""Hours of work in a month from which on more volume makes a process no more suitable."""
_HALF = Decimal("0.5")

_MAX_YEARS = 1000
"""Years."""


def monthly_hours(runs: Decimal, minutes: Decimal) -> Decimal:
    """runs × minutes / 60."""
    return runs * minutes / 60


def rating_score(rating: int) -> Decimal:
    """A rating from 1 to 5 as a score: 1 is 0, 5 is 100."""
    return HUNDRED * (rating - 1) / 4


def exceptions_score(rate: Decimal) -> Decimal:
    """100 without exceptions, 0 when every second run is one."""
    return clamp(HUNDRED - 2 * HUNDRED * rate)


def volume_score(hours: Decimal) -> Decimal:
    """100 from 80 hours a month on, less in proportion."""
    return clamp(HUNDRED * hours / _FULL_VOLUME)


def suitability(scores: dict[str, Decimal]) -> Decimal:
    """The weighted mean of the five factors."""
    return sum((WEIGHTS[name] * score for name, score in scores.items()), Decimal(0))


def coverage(exceptions: Decimal, rules: int, readable: int) -> Decimal:
    """(1 − exceptions) × mean of both ratings / 5: the share of the work that software does by itself."""
    return (ONE - exceptions) * Decimal(rules + readable) / 10


def effort(steps: int, systems: int, exceptions: Decimal, readable: int, stability: int) -> Decimal:
    """(2 + ½ steps + 3 systems) days, more for exceptions, for input that is hard to read, and for change."""
    plain = 2 + _HALF * steps + 3 * systems
    harder = (ONE + Decimal("0.15") * (5 - readable)) * (ONE + Decimal("0.10") * (5 - stability))
    return plain * (ONE + exceptions) * harder


def payback_months(cost: Decimal, yearly: Decimal) -> Decimal | None:
    """cost / (yearly saving / 12); None when nothing is saved, or so little that it takes 1000 years."""
    if cost == 0 and yearly >= 0:
        return Decimal(0)
    return cost * 12 / yearly if yearly * _MAX_YEARS >= cost else None
