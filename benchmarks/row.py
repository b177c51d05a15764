"""A row of the table: a time, what it is compared with, and the budget for that ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchmarks.timing import Measured, NotMeasured, Timing

Verdict = Literal["reached", "missed", "not measured", "known miss", "reached unexpectedly"]

FAILURES: tuple[Verdict, ...] = ("missed", "not measured", "reached unexpectedly")
"""What makes the whole run fail. A known miss does not, until its row reaches the budget."""


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
    """With a placeholder for the number, such as `{:.2f} times the cost with 10 tools`."""

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

    @property
    def missing_because(self) -> str:
        """Why there is no value; empty where there is one."""
        return next((side.reason for side in (self.over, self.under) if isinstance(side, NotMeasured)), "")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report."""

    subject: str
    measured: Measured
    ratio: Ratio | None = None
    budget: Budget | None = None
    known_miss: str = ""
    """Why the budget is not reached yet. A row that reaches it all the same has to lose this mark."""

    def __post_init__(self) -> None:
        if self.budget is not None and self.ratio is None:
            raise ValueError(f"{self.subject}: a budget bounds a ratio, and there is none")
        if self.known_miss and self.budget is None:
            raise ValueError(f"{self.subject}: only a budget can be missed")

    @property
    def verdict(self) -> Verdict | None:
        """None for a row that was measured and has no budget: it only informs."""
        if self.missing_because:
            return "not measured"
        if self.budget is None or self.ratio is None or self.ratio.value is None:
            return None
        if self.budget.holds(self.ratio.value):
            return "reached unexpectedly" if self.known_miss else "reached"
        return "known miss" if self.known_miss else "missed"

    @property
    def missing_because(self) -> str:
        """Why the time or what it is compared with is missing; empty where both are present."""
        if isinstance(self.measured, NotMeasured):
            return self.measured.reason
        return self.ratio.missing_because if self.ratio else ""


def at_most(limit: float) -> Budget:
    return Budget("at most", limit)


def at_least(limit: float) -> Budget:
    return Budget("at least", limit)
