"""Complexity Estimator: how long a piece of work will take, as a range."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import prod
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from handrail.ext.forms import FormGroup, FormSpec
from handrail.toolsets.calculators import schemas
from handrail.toolsets.calculators.calculator import (
    calculator,
    ranking_section,
    summary_section,
    table_section,
)
from handrail.toolsets.calculators.decimals import (
    HUNDRED,
    ONE,
    ZERO,
    format_number,
    from_percent,
    rounded,
    to_decimal,
    with_decimal_context,
)

Days = Annotated[float, Field(ge=0, le=10_000)]
Degree = Literal["low", "normal", "high", "very high"]
Certainty = Literal["50", "80", "90", "95"]
Size = Literal["Small", "Medium", "Large", "Very large"]


class WorkItem(schemas.CalculatorInput):
    """A part of the work with three estimates in days."""

    name: schemas.Name = Field(description="What is to be done, such as Import of old data.")
    optimistic: Days = Field(description="Days if everything goes well.")
    likely: Days = Field(description="Days that are most likely; not less than the optimistic ones.")
    pessimistic: Days = Field(
        description="Days if nearly everything goes wrong; not less than the likely ones."
    )

    @field_validator("likely", "pessimistic")
    @classmethod
    def _not_below_the_better_one(cls, days: float, info: ValidationInfo) -> float:
        better = "optimistic" if info.field_name == "likely" else "likely"
        least = info.data.get(better)
        if least is not None and days < least:
            raise ValueError(f"must be at least the {better} {least:g} days")
        return days


class WorkPackage(schemas.CalculatorInput):
    """A piece of work, part by part, and what makes it harder."""

    items: Annotated[
        list[WorkItem],
        schemas.at_least_one("add at least one part of the work"),
        schemas.UNIQUE_NAMES,
        Field(min_length=1, max_length=200),
    ] = Field(description="The parts of the work, 1 to 200.")
    novelty: Degree = Field(default="normal", description="How new this kind of work is to the team.")
    integration: Degree = Field(
        default="normal", description="How much it hangs together with other systems."
    )
    compliance: Degree = Field(default="normal", description="How much must be proved to others.")
    coordination: Degree = Field(default="normal", description="How many people must agree on it.")
    correlation: schemas.Percent = Field(
        default=20,
        description="Percent to which parts go wrong together; 0 when they have nothing in common.",
    )
    certainty: Certainty = Field(
        default="80", description="In how many of 100 such cases the range should hold."
    )
    team_size: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=1, description="How many people work on it at the same time."
    )


class ComplexitySummary(schemas.CalculatorOutput):
    expected_days: float = Field(description="Days of work to expect.")
    low_days: float = Field(description="Where the range begins.")
    high_days: float = Field(description="Where it ends.")
    calendar_weeks: float = Field(description="Weeks of five days for the team, if the work can be divided.")
    factor: float = Field(description="By how much the drivers multiply the estimates.")
    size: Size = Field(description="How large that is.")
    uncertainty: float = Field(description="Half of the range in percent of the expected days.")
    verdict: schemas.Verdict = ""


class ItemEstimate(schemas.CalculatorOutput):
    name: str = Field(description="What is to be done.")
    expected: float = Field(description="Days to expect, drivers included.")
    low: float = Field(description="Where its own range begins.")
    high: float = Field(description="Where it ends.")
    deviation: float = Field(description="Standard deviation in days.")


class RiskShare(schemas.CalculatorOutput):
    name: str = Field(description="What is to be done.")
    score: float = Field(description="Percent of the uncertainty that comes from it.")


class ComplexityEstimate(schemas.CalculatorOutput):
    summary: ComplexitySummary = Field(description="The figures that decide.")
    items: list[ItemEstimate] = Field(description="Each part.")
    risks: list[RiskShare] = Field(description="Where the uncertainty comes from, the most first.")


DRIVERS: dict[Degree, Decimal] = {
    "low": Decimal("0.90"),
    "normal": Decimal("1.00"),
    "high": Decimal("1.15"),
    "very high": Decimal("1.35"),
}

QUANTILES: dict[Certainty, Decimal] = {
    "50": Decimal("0.674490"),
    "80": Decimal("1.281552"),
    "90": Decimal("1.644854"),
    "95": Decimal("1.959964"),
}
"""How many standard deviations on both sides of the mean hold that share of a normal distribution."""
_SIZES: tuple[tuple[int, Size], ...] = ((10, "Small"), (40, "Medium"), (120, "Large"))


def expected(optimistic: Decimal, likely: Decimal, pessimistic: Decimal) -> Decimal:
    """(o + 4 m + p) / 6."""
    return (optimistic + 4 * likely + pessimistic) / 6


def deviation(optimistic: Decimal, pessimistic: Decimal) -> Decimal:
    """(p − o) / 6."""
    return (pessimistic - optimistic) / 6


def total_deviation(deviations: Sequence[Decimal], correlation: Decimal) -> Decimal:
    """√((1 − ρ) Σσ² + ρ (Σσ)²): for ρ = 0 the root of the squares, for ρ = 1 the plain sum."""
    squares = sum((sigma * sigma for sigma in deviations), ZERO)
    plain = sum(deviations, ZERO)
    return ((ONE - correlation) * squares + correlation * plain * plain).sqrt()


def range_around(middle: Decimal, spread: Decimal, certainty: Certainty) -> tuple[Decimal, Decimal]:
    """The range that holds with this certainty; nothing takes less than no time."""
    half = QUANTILES[certainty] * spread
    return max(ZERO, middle - half), middle + half


def shares_of_risk(deviations: Sequence[Decimal], correlation: Decimal) -> list[Decimal]:
    """What each part adds to the variance, in percent: its square and its half of what it has in common."""
    plain = sum(deviations, ZERO)
    parts = [sigma * ((ONE - correlation) * sigma + correlation * plain) for sigma in deviations]
    total = sum(parts, ZERO)
    return [HUNDRED * part / total if total else ZERO for part in parts]


def size_of(days: Decimal) -> Size:
    """Up to 10 days small, up to 40 medium, up to 120 large."""
    return next((size for most, size in _SIZES if days <= most), "Very large")


_DAYS_PER_WEEK = 5


@with_decimal_context
def calculate(inputs: WorkPackage) -> ComplexityEstimate:
    """All figures, rounded."""
    drivers = (inputs.novelty, inputs.integration, inputs.compliance, inputs.coordination)
    harder = prod((DRIVERS[degree] for degree in drivers), start=ONE)
    points = [
        (to_decimal(item.optimistic), to_decimal(item.likely), to_decimal(item.pessimistic))
        for item in inputs.items
    ]
    means = [harder * expected(*three) for three in points]
    deviations = [harder * deviation(best, worst) for best, _, worst in points]
    correlation = from_percent(inputs.correlation)
    days = sum(means, ZERO)
    spread = total_deviation(deviations, correlation)
    low, high = range_around(days, spread, inputs.certainty)
    half = QUANTILES[inputs.certainty] * spread
    names = [item.name for item in inputs.items]
    ranges = [
        range_around(middle, sigma, inputs.certainty) for middle, sigma in zip(means, deviations, strict=True)
    ]
    shares = zip(names, shares_of_risk(deviations, correlation), strict=True)
    size = size_of(days)
    return ComplexityEstimate(
        summary=ComplexitySummary(
            expected_days=rounded(days, 1),
            low_days=rounded(low, 1),
            high_days=rounded(high, 1),
            calendar_weeks=rounded(days / (inputs.team_size * _DAYS_PER_WEEK), 1),
            factor=rounded(harder, 3),
            size=size,
            uncertainty=rounded(HUNDRED * half / days if days else ZERO, 1),
            verdict=(
                f"{size}: {format_number(rounded(days, 1), 1)} days, and in {inputs.certainty} of 100 cases "
                f"between {format_number(rounded(low, 1), 1)} and {format_number(rounded(high, 1), 1)}."
            ),
        ),
        items=[
            ItemEstimate(
                name=name,
                expected=rounded(middle, 1),
                low=rounded(least, 1),
                high=rounded(most, 1),
                deviation=rounded(sigma),
            )
            for name, middle, sigma, (least, most) in zip(names, means, deviations, ranges, strict=True)
        ],
        risks=[
            RiskShare(name=name, score=rounded(share, 1))
            for name, share in sorted(shares, key=lambda risk: (-risk[1], risk[0]))
        ],
    )


_DRIVER = {"widget": "radio", "class": "form-scale"}

FORM = FormSpec(
    {
        "items": {"label": "Parts of the work"},
        "items.*.name": {"placeholder": "Import of old data"},
        "items.*.optimistic": {"label": "At best", "unit": "days"},
        "items.*.likely": {"label": "Most likely", "unit": "days"},
        "items.*.pessimistic": {"label": "At worst", "unit": "days"},
        "novelty": {**_DRIVER, "label": "New to the team"},
        "integration": {**_DRIVER, "label": "Tied to other systems"},
        "compliance": {**_DRIVER, "label": "To be proved to others"},
        "coordination": {**_DRIVER, "label": "People who must agree"},
        "correlation": {"label": "Goes wrong together", "unit": "%", "widget": "slider"},
        "certainty": {"label": "Holds in", "unit": "of 100 cases", "widget": "radio", "class": "form-scale"},
        "teamSize": {"unit": "people"},
    },
    groups=(
        FormGroup(
            "What makes it harder", ("novelty", "integration", "compliance", "coordination"), closed=False
        ),
        FormGroup("Range", ("correlation", "certainty", "teamSize"), closed=True),
    ),
)

SECTIONS = (
    summary_section(
        {"key": "expectedDays", "label": "To expect", "unit": "days", "decimals": 1},
        {"key": "lowDays", "label": "From", "unit": "days", "decimals": 1},
        {"key": "highDays", "label": "To", "unit": "days", "decimals": 1},
        {"key": "calendarWeeks", "label": "For the team", "unit": "weeks", "decimals": 1},
        {"key": "size"},
        {"key": "uncertainty", "unit": "%", "decimals": 1},
        {"key": "factor", "label": "Drivers multiply by"},
    ),
    ranking_section("risks", "Where the uncertainty comes from", unit="%", decimals=1, max=100),
    table_section(
        "items",
        "Part by part",
        {"key": "name"},
        {"key": "expected", "unit": "days", "decimals": 1},
        {"key": "low", "label": "From", "decimals": 1},
        {"key": "high", "label": "To", "decimals": 1},
        {"key": "deviation", "decimals": 2},
    ),
)


@calculator(
    "planning.estimateComplexity",
    slug="complexity-estimator",
    name="Complexity Estimator",
    icon="puzzle",
    form=FORM,
    sections=SECTIONS,
    rows="items",
)
def estimate_complexity(args: WorkPackage) -> ComplexityEstimate:
    """Estimate how many days a piece of work takes, as a range, from three estimates for each of its parts
    and from what makes it harder.

    Use it before work begins, with parts that somebody can picture. Not to choose what to do first: use
    planning.rankPriorities instead.
    """
    return calculate(args)
