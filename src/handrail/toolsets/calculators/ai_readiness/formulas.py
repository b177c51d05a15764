"""The formulas of the AI Readiness Assessment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeVar

from handrail.toolsets.calculators.ai_readiness.models import Band
from handrail.toolsets.calculators.figures import HUNDRED, ZERO, mean

K = TypeVar("K")

_LEAST, _MOST = Decimal(1), Decimal(5)
_BANDS: tuple[tuple[Band, int], ...] = (
    ("Starting", 0),
    ("Exploring", 25),
    ("Building", 45),
    ("Practising", 65),
    ("Leading", 85),
)
"""Each band and the score from which on it holds."""


def dimension_score(ratings: Sequence[Decimal]) -> Decimal:
    """Mean of the ratings, from the scale 1 to 5 to 0 to 100."""
    return HUNDRED * (mean(list(ratings)) - _LEAST) / (_MOST - _LEAST)


def overall(scores: Mapping[K, Decimal], weights: Mapping[K, Decimal]) -> Decimal:
    """Weighted mean: the sum of weight × score, for weights that add up to 1."""
    return sum((weights[name] * score for name, score in scores.items()), ZERO)


def _step(score: Decimal) -> int:
    return max(step for step, (_, least) in enumerate(_BANDS) if score >= least)


def band_of(score: Decimal) -> Band:
    """The band of one score."""
    return _BANDS[_step(score)][0]


def held_band(score: Decimal, weakest: Decimal) -> Band:
    """The band of the whole: at most one above the band of the weakest dimension that counts."""
    return _BANDS[min(_step(score), _step(weakest) + 1)][0]


def gap(score: Decimal, target: Decimal) -> Decimal:
    """What is missing to the target."""
    return max(ZERO, target - score)
