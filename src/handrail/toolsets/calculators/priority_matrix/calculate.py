"""All figures of the Priority Matrix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import get_args

from handrail.toolsets.calculators.figures import HUNDRED, exact, exactly, rounded
from handrail.toolsets.calculators.priority_matrix import formulas
from handrail.toolsets.calculators.priority_matrix.models import (
    Candidates,
    Priorities,
    PrioritySummary,
    Quadrant,
    QuadrantCount,
    Ranked,
)
from handrail.toolsets.calculators.shapes import name_key


@dataclass(frozen=True, slots=True)
class Rated:
    """An item with its ratings; confidence in percent."""

    name: str
    impact: Decimal
    effort: Decimal
    confidence: Decimal
    reach: Decimal


@exactly
def calculate(given: Candidates) -> Priorities:
    """All figures, rounded."""
    rated = [
        Rated(one.name, exact(one.impact), exact(one.effort), exact(one.confidence), exact(one.reach))
        for one in given.items
    ]
    ranking = ranked(rated, exact(given.midpoint))
    wins = sum(one.quadrant == "Quick win" for one in ranking)
    return Priorities(
        summary=PrioritySummary(
            first=ranking[0].name,
            items=len(ranking),
            quick_wins=wins,
            midpoint=given.midpoint,
            verdict=verdict(ranking),
        ),
        ranking=ranking,
        quadrants=matrix(ranking),
    )


def ranked(rated: Iterable[Rated], midpoint: Decimal) -> list[Ranked]:
    """The highest score first; of equals the one with less effort, then by name."""
    scored = [
        (rounded(formulas.score(one.reach, one.impact, one.confidence / HUNDRED, one.effort)), one)
        for one in rated
    ]
    scored.sort(key=lambda pair: (-pair[0], pair[1].effort, name_key(pair[1].name)))
    places = formulas.ranks([score for score, _ in scored])
    return [
        Ranked(
            rank=place,
            name=one.name,
            score=score,
            quadrant=formulas.quadrant(one.impact, one.effort, midpoint),
            impact=rounded(one.impact),
            effort=rounded(one.effort),
            confidence=rounded(one.confidence),
            reach=rounded(one.reach),
        )
        for place, (score, one) in zip(places, scored, strict=True)
    ]


def matrix(ranking: Iterable[Ranked]) -> list[QuadrantCount]:
    """All four quadrants, also those with nothing in them."""
    names: dict[Quadrant, list[str]] = {quadrant: [] for quadrant in get_args(Quadrant)}
    for one in ranking:
        names[one.quadrant].append(one.name)
    return [
        QuadrantCount(
            quadrant=quadrant, count=len(found), items=", ".join(found), advice=formulas.ADVICE[quadrant]
        )
        for quadrant, found in names.items()
    ]


def verdict(ranking: list[Ranked]) -> str:
    first, wins = ranking[0], sum(one.quadrant == "Quick win" for one in ranking)
    said = f"Begin with {first.name}, a {first.quadrant.lower()}"
    if first.quadrant in ("Fill-in", "Rethink"):
        said = f"{first.name} scores highest, but is no more than a {first.quadrant.lower()}"
        said = said.replace("a rethink", "something to rethink")
    count = f"{wins} quick win{'' if wins == 1 else 's'}" if wins else "no quick win"
    return f"{said}; among {len(ranking)} there {'are' if wins > 1 else 'is'} {count}."
