"""How far several people agree: what the aggregates of the collaborative calculators are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from handrail.toolsets.calculators.decimals import HUNDRED, ONE, ZERO, mean, rounded, rounded_or_none
from handrail.toolsets.calculators.schemas import name_key

M = TypeVar("M", bound=BaseModel)


class Named(Protocol):
    """Something with a name that people typed."""

    name: str


N = TypeVar("N", bound=Named)


@dataclass(frozen=True, slots=True)
class Spread:
    """Several ratings of one thing."""

    count: int
    mean: Decimal
    low: Decimal
    high: Decimal
    deviation: Decimal
    """Standard deviation of all ratings there are, not of a sample."""
    agreement: Decimal | None
    """100 when all say the same, 0 when half say the least and half the most; None for a single rating."""

    def figures(self, places: int) -> dict[str, Any]:
        """As they are shown; the agreement always with one decimal."""
        return {
            "low": rounded(self.low, places),
            "high": rounded(self.high, places),
            "deviation": rounded(self.deviation, places),
            "agreement": rounded_or_none(self.agreement, 1),
        }


def spread_of(values: Sequence[Decimal], least: Decimal, most: Decimal) -> Spread:
    """The spread of at least one rating on a scale from least to most.

    No ratings on a scale deviate by more than half of its length, so that is what deviation is measured by.
    """
    ordered = sorted(values)
    middle = mean(ordered)
    deviation = mean([(value - middle) ** 2 for value in ordered]).sqrt()
    agreement = None
    if len(ordered) > 1:
        agreement = HUNDRED * max(ZERO, ONE - deviation / ((most - least) / 2))
    return Spread(len(ordered), middle, ordered[0], ordered[-1], deviation, agreement)


def parse_outputs(outputs: Iterable[Any], model: type[M]) -> list[M]:
    """Outputs as models. What is none of this tool, such as one of an earlier version, is left out."""
    parsed: list[M] = []
    for output in outputs:
        try:
            parsed.append(output if isinstance(output, model) else model.model_validate(output))
        except ValidationError:
            continue
    return parsed


def numbered_summaries(summaries: Iterable[BaseModel], model: type[M]) -> list[M]:
    """Each submission with its place, and those figures of its summary that the model has."""
    fields = model.model_fields.keys() - {"participant"}
    return [
        model(participant=place, **summary.model_dump(include=fields))
        for place, summary in enumerate(summaries, 1)
    ]


def by_name(items: Iterable[N]) -> dict[str, list[N]]:
    """What several people said of things of one name, however they spelled it."""
    groups: dict[str, list[N]] = {}
    for item in items:
        groups.setdefault(name_key(item.name), []).append(item)
    return groups


def most_common(spellings: Iterable[str]) -> str:
    """The spelling that most people used; among equals the first of the alphabet."""
    counts = Counter(spellings)
    return min(counts, key=lambda spelling: (-counts[spelling], spelling))


def agreement_label(agreement: Decimal | float | None) -> str:
    """What an agreement means."""
    if agreement is None:
        return "one voice"
    if agreement >= 80:
        return "strong"
    return "fair" if agreement >= 60 else "weak"
