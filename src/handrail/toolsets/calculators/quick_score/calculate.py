"""All figures of Quick Score."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from handrail.toolsets.calculators.figures import HUNDRED, exact, exactly, normalised, rounded, spoken
from handrail.toolsets.calculators.quick_score import formulas
from handrail.toolsets.calculators.quick_score.models import (
    CriterionScore,
    Lever,
    Rated,
    Score,
    ScoreSummary,
)
from handrail.toolsets.calculators.shapes import name_key


@exactly
def calculate(given: Rated) -> Score:
    """All figures, rounded."""
    names = [one.name for one in given.criteria]
    weights = normalised({one.name: exact(one.weight) for one in given.criteria})
    scores = {one.name: exact(one.score) for one in given.criteria}
    whole = formulas.overall([weights[name] for name in names], [scores[name] for name in names])
    given_points = {name: formulas.contribution(weights[name], scores[name]) for name in names}
    open_points = {name: formulas.lever(weights[name], scores[name]) for name in names}
    band = formulas.band_of(whole)
    shown = spoken(rounded(whole, 1), 1)
    return Score(
        summary=ScoreSummary(
            subject=given.subject,
            score=rounded(whole, 1),
            band=band,
            strongest=_first(names, given_points),
            weakest=_first(names, open_points),
            verdict=f"{given.subject} scores {shown} of 100: {band.lower()}.",
        ),
        criteria=[
            CriterionScore(
                name=name,
                score=rounded(scores[name]),
                weight=rounded(HUNDRED * weights[name]),
                contribution=rounded(given_points[name], 1),
            )
            for name in names
        ],
        levers=levers(open_points),
    )


def _first(names: Sequence[str], points: dict[str, Decimal]) -> str:
    return max(names, key=lambda name: points[name])


def levers(points: dict[str, Decimal]) -> list[Lever]:
    """Where something is still to be won, the most first."""
    ordered = sorted(points, key=lambda name: (-points[name], name_key(name)))
    return [Lever(name=name, score=rounded(points[name], 1)) for name in ordered if points[name] > 0]
