"""Complexity Estimator: how long a piece of work will take, as a range."""

from __future__ import annotations

from handrail import Result, tool
from handrail.ext import FormGroup, FormSpec, OutputSection, ViewSpec, build_markdown_table
from handrail.toolsets.calculators import complexity_model
from handrail.toolsets.calculators.complexity_model import (
    ComplexityEstimate,
    ComplexitySummary,
    ItemEstimate,
    RiskShare,
    WorkPackage,
)
from handrail.toolsets.calculators.decimals import (
    HUNDRED,
    ZERO,
    format_number,
    from_percent,
    rounded,
    to_decimal,
    with_decimal_context,
)

__all__ = ["estimate_complexity"]


_DAYS_PER_WEEK = 5


@with_decimal_context
def calculate(inputs: WorkPackage) -> ComplexityEstimate:
    """All figures, rounded."""
    harder = complexity_model.drivers_factor(
        (inputs.novelty, inputs.integration, inputs.compliance, inputs.coordination)
    )
    points = [
        (to_decimal(one.optimistic), to_decimal(one.likely), to_decimal(one.pessimistic))
        for one in inputs.items
    ]
    means = [harder * complexity_model.expected(*three) for three in points]
    deviations = [harder * complexity_model.deviation(best, worst) for best, _, worst in points]
    correlation = from_percent(inputs.correlation)
    days = sum(means, ZERO)
    spread = complexity_model.total_deviation(deviations, correlation)
    low, high = complexity_model.range_around(days, spread, inputs.certainty)
    half = complexity_model.QUANTILES[inputs.certainty] * spread
    names = [item.name for item in inputs.items]
    ranges = [
        complexity_model.range_around(middle, sigma, inputs.certainty)
        for middle, sigma in zip(means, deviations, strict=True)
    ]
    shares = zip(names, complexity_model.shares_of_risk(deviations, correlation), strict=True)
    size = complexity_model.size_of(days)
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
            for name, share in sorted(shares, key=lambda one: (-one[1], one[0]))
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

VIEW = ViewSpec(
    (
        OutputSection(
            "summary",
            "Summary",
            "summary",
            {
                "figures": [
                    {"key": "expectedDays", "label": "To expect", "unit": "days", "decimals": 1},
                    {"key": "lowDays", "label": "From", "unit": "days", "decimals": 1},
                    {"key": "highDays", "label": "To", "unit": "days", "decimals": 1},
                    {"key": "calendarWeeks", "label": "For the team", "unit": "weeks", "decimals": 1},
                    {"key": "size"},
                    {"key": "uncertainty", "unit": "%", "decimals": 1},
                    {"key": "factor", "label": "Drivers multiply by"},
                ]
            },
        ),
        OutputSection(
            "risks",
            "Where the uncertainty comes from",
            "ranking",
            {"label": "name", "value": "score", "unit": "%", "decimals": 1, "max": 100},
        ),
        OutputSection(
            "items",
            "Part by part",
            "table",
            {
                "columns": [
                    {"key": "name"},
                    {"key": "expected", "unit": "days", "decimals": 1},
                    {"key": "low", "label": "From", "decimals": 1},
                    {"key": "high", "label": "To", "decimals": 1},
                    {"key": "deviation", "decimals": 2},
                ]
            },
        ),
    )
)


@tool(
    "planning.estimateComplexity",
    input=WorkPackage,
    slug="complexity-estimator",
    name="Complexity Estimator",
    category="planning",
    icon="puzzle",
    level="read",
    danger="safe",
    idempotent=True,
    sections=VIEW.sections,
    form=FORM,
    view=VIEW,
)
async def estimate_complexity(args: WorkPackage) -> ComplexityEstimate | Result:
    """Estimate how many days a piece of work takes, as a range, from three estimates for each of its parts
    and from what makes it harder.

    Use it before work begins, with parts that somebody can picture. Not to choose what to do first: use
    planning.rankPriorities instead.
    """
    result = calculate(args)
    return Result(
        data=result,
        summary=result.summary.verdict,
        markdown=build_markdown_table(
            [item.to_dict() for item in result.items], heading=result.summary.verdict
        ),
    )
