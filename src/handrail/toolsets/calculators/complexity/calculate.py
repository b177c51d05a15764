"""All figures of the Complexity Estimator."""

from __future__ import annotations

from handrail.toolsets.calculators.complexity import formulas
from handrail.toolsets.calculators.complexity.models import (
    ComplexitySummary,
    Estimate,
    ItemEstimate,
    Risk,
    Work,
)
from handrail.toolsets.calculators.figures import HUNDRED, ZERO, exact, exactly, part, rounded, spoken

_WEEK = 5


@exactly
def calculate(given: Work) -> Estimate:
    """All figures, rounded."""
    harder = formulas.factor((given.novelty, given.integration, given.compliance, given.coordination))
    points = [(exact(one.optimistic), exact(one.likely), exact(one.pessimistic)) for one in given.items]
    means = [harder * formulas.expected(*three) for three in points]
    deviations = [harder * formulas.deviation(best, worst) for best, _, worst in points]
    correlation = part(given.correlation)
    days = sum(means, ZERO)
    spread = formulas.total_deviation(deviations, correlation)
    low, high = formulas.around(days, spread, given.certainty)
    half = formulas.QUANTILES[given.certainty] * spread
    names = [item.name for item in given.items]
    ranges = [
        formulas.around(middle, sigma, given.certainty)
        for middle, sigma in zip(means, deviations, strict=True)
    ]
    shares = zip(names, formulas.shares_of_risk(deviations, correlation), strict=True)
    size = formulas.size_of(days)
    return Estimate(
        summary=ComplexitySummary(
            expected_days=rounded(days, 1),
            low_days=rounded(low, 1),
            high_days=rounded(high, 1),
            calendar_weeks=rounded(days / (given.team_size * _WEEK), 1),
            factor=rounded(harder, 3),
            size=size,
            uncertainty=rounded(HUNDRED * half / days if days else ZERO, 1),
            verdict=(
                f"{size}: {spoken(rounded(days, 1), 1)} days, and in {given.certainty} of 100 cases "
                f"between {spoken(rounded(low, 1), 1)} and {spoken(rounded(high, 1), 1)}."
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
            Risk(name=name, score=rounded(share, 1))
            for name, share in sorted(shares, key=lambda one: (-one[1], one[0]))
        ],
    )
