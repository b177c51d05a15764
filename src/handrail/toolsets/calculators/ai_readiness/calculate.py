"""All figures of the AI Readiness Assessment."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import get_args

from handrail.toolsets.calculators.ai_readiness import formulas
from handrail.toolsets.calculators.ai_readiness.advice import ADVICE
from handrail.toolsets.calculators.ai_readiness.models import (
    Assessment,
    Dimension,
    DimensionScore,
    Gap,
    Readiness,
    ReadinessSummary,
)
from handrail.toolsets.calculators.figures import HUNDRED, exact, exactly, normalised, rounded, spoken


@exactly
def calculate(given: Assessment) -> Readiness:
    """All figures, rounded."""
    names: tuple[Dimension, ...] = get_args(Dimension)
    scores = {name: formulas.dimension_score(_ratings(given, name)) for name in names}
    weights = normalised({name: exact(getattr(given.weights, name.lower())) for name in names})
    return told(scores, weights, exact(given.target))


def _ratings(given: Assessment, name: Dimension) -> list[Decimal]:
    return [Decimal(rating) for rating in getattr(given, name.lower()).model_dump().values()]


def told(
    scores: Mapping[Dimension, Decimal], weights: Mapping[Dimension, Decimal], target: Decimal
) -> Readiness:
    """What scores and weights, which add up to 1, mean."""
    counting = [name for name in scores if weights[name] > 0]
    weakest = min(counting, key=lambda name: scores[name])
    strongest = max(counting, key=lambda name: scores[name])
    whole = formulas.overall(scores, weights)
    band = formulas.held_band(whole, scores[weakest])
    gains = {name: weights[name] * formulas.gap(scores[name], target) for name in counting}
    first = sorted((name for name in counting if gains[name] > 0), key=lambda name: -gains[name])
    held = "" if band == formulas.band_of(whole) else f", held back by {weakest.lower()}"
    return Readiness(
        summary=ReadinessSummary(
            score=rounded(whole, 1),
            band=band,
            weakest=weakest,
            strongest=strongest,
            verdict=f"{band}: {spoken(rounded(whole, 1), 1)} of 100{held}.",
        ),
        dimensions=[
            DimensionScore(
                dimension=name,
                score=rounded(score, 1),
                target=rounded(target, 1),
                gap=rounded(formulas.gap(score, target), 1),
                weight=rounded(HUNDRED * weights[name], 1),
                band=formulas.band_of(score),
            )
            for name, score in scores.items()
        ],
        gaps=[Gap(name=name, score=rounded(gains[name], 1), advice=ADVICE[name]) for name in first],
    )
