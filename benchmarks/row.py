"""A row of the table: a time, what it is compared with, and the budget for that ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchmarks.timing import Measured, Timing

Verdict = Literal["reached", "missed", "not measured"]


@dataclass(frozen=True, slots=True)
class Budget:
    """The bound of a ratio."""

    bound: Literal["at most", "at least"]
    limit: float

    def holds(self, ratio: float) -> bool:
        return ratio <= self.limit if self.bound == "at most" else ratio >= self.limit


@dataclass(frozen=True, slots=True)
class Ratio:
    """One cost over another, and the sentence that says it."""

    over: Measured
    under: Measured
    reads: str
    """With a place for the number, such as `{:.2f} times the cost with 10 tools`."""

    @property
    def value(self) -> float | None:
        if isinstance(self.over, Timing) and isinstance(self.under, Timing):
            return self.over.best / self.under.best
        return None

    @property
    def by_median(self) -> float | None:
        if isinstance(self.over, Timing) and isinstance(self.under, Timing):
            return self.over.median / self.under.median
        return None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report."""

    subject: str
    measured: Measured
    ratio: Ratio | None = None
    budget: Budget | None = None

    @property
    def verdict(self) -> Verdict | None:
        """None for a row without a budget, which only informs."""
        if self.budget is None:
            return None
        value = self.ratio.value if self.ratio else None
        if value is None:
            return "not measured"
        return "reached" if self.budget.holds(value) else "missed"


def at_most(limit: float) -> Budget:
    return Budget("at most", limit)


def at_least(limit: float) -> Budget:
    return Budget("at least", limit)
