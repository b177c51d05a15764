"""The formulas of the Priority Matrix."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from handrail.toolsets.calculators.priority_matrix.models import Quadrant

ADVICE: dict[Quadrant, str] = {
    "Quick win": "Do these first.",
    "Big bet": "Plan these, and make sure of them before you start.",
    "Fill-in": "Do these when there is time.",
    "Rethink": "Leave these, or find a smaller way.",
}


def score(reach: Decimal, impact: Decimal, confidence: Decimal, effort: Decimal) -> Decimal:
    """reach × impact × confidence / effort, with confidence as a factor. Effort is never 0."""
    return reach * impact * confidence / effort


def quadrant(impact: Decimal, effort: Decimal, midpoint: Decimal) -> Quadrant:
    """By impact and effort alone; what stands exactly in the middle counts as high."""
    if impact >= midpoint:
        return "Quick win" if effort < midpoint else "Big bet"
    return "Fill-in" if effort < midpoint else "Rethink"


def ranks(scores: Sequence[float]) -> list[int]:
    """Places of scores that are sorted already, the highest first: 1, 2, 2, 4."""
    places: list[int] = []
    for place, value in enumerate(scores):
        places.append(places[-1] if place and value == scores[place - 1] else place + 1)
    return places
