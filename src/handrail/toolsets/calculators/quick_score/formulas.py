"""The formulas of Quick Score. Weights add up to 1, scores go from 0 to 10."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from handrail.toolsets.calculators.figures import ZERO
from handrail.toolsets.calculators.quick_score.models import Band

MOST = Decimal(10)
_BANDS: tuple[tuple[int, Band], ...] = ((80, "Strong"), (60, "Good"), (40, "Mixed"))


def contribution(weight: Decimal, score: Decimal) -> Decimal:
    """weight × score × 10: points of 100."""
    return weight * score * 10


def lever(weight: Decimal, score: Decimal) -> Decimal:
    """weight × (10 − score) × 10: points that are still to be won."""
    return contribution(weight, MOST - score)


def overall(weights: Sequence[Decimal], scores: Sequence[Decimal]) -> Decimal:
    """The sum of all contributions."""
    return sum(map(contribution, weights, scores), ZERO)


def band_of(score: Decimal) -> Band:
    """From 80 on strong, from 60 good, from 40 mixed."""
    return next((band for least, band in _BANDS if score >= least), "Weak")
