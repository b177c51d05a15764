"""Counts: what can be told in numbers about calls. Whole numbers under names, so that they add up exactly."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from handrail.core.define.result import Result
from handrail.core.tell.events import Event, Settled, ToolCancelled, ToolCompleted, ToolFailed

BOUNDS_MS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000)
"""Where one class of durations ends and the next begins, in milliseconds."""
LONGEST_US = "us_longest"
"""The one measure that does not add up: of two, the greater counts."""
TOKENS = ("input_tokens", "output_tokens", "cached_tokens")
"""Metadata of a result that count as tokens."""

_NANO = 1_000_000_000
_MOST = 1_000_000
"""A result that says it cost more is mistaken, and so is one with a million times as many tokens."""
_MEASURES = {"needs_approval": "asked", "approved": "approved", "retrying": "retries"}
"""By kind of event."""
_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,63}\Z")


def measure(event: Event) -> dict[str, int]:
    """What one event adds to the counts; nothing for most."""
    if isinstance(event, (ToolCompleted, ToolFailed, ToolCancelled)):
        return _ended(event)
    if isinstance(event, Settled):
        return {"calls": 1, "planned" if event.outcome.status == "queued" else "duplicates": 1}
    measure = _MEASURES.get(event.kind)
    return {} if measure is None else {measure: 1}


def _ended(event: ToolCompleted | ToolFailed | ToolCancelled) -> dict[str, int]:
    result, amounts = event.result, {"calls": 1}
    code = code_of(result)
    if event.run_id is not None:
        amounts |= _took(event.duration_ms)
    if isinstance(event, ToolCompleted):
        amounts["completed" if event.run_id is not None else "answered"] = 1
        if result.metadata.get("cached") is True:
            amounts["cached"] = 1
    elif isinstance(event, ToolCancelled):
        amounts["rejected" if code == "REJECTED" else "cancelled"] = 1
    elif event.run_id is None:
        amounts["refused"] = amounts[f"refused {code}"] = 1
        if code == "APPROVAL_EXPIRED":
            amounts["expired"] = 1
    else:
        amounts["unclear" if code == "UNKNOWN_OUTCOME" else "failed"] = amounts[f"failed {code}"] = 1
    return amounts | cost_and_tokens(result)


def code_of(result: Result) -> str:
    """The code of a result, if it is one: what a body makes up must not become a measure of its own."""
    return result.code if result.code is not None and _CODE.match(result.code) else "other"


def _took(duration_ms: float) -> dict[str, int]:
    duration = max(duration_ms, 0.0) if math.isfinite(duration_ms) else 0.0
    micro = round(duration * 1000)
    return {"runs": 1, "us": micro, LONGEST_US: micro, f"ms {bisect_left(BOUNDS_MS, duration)}": 1}


def cost_and_tokens(result: Result) -> dict[str, int]:
    """Cost, in billionths, and tokens that the metadata of a result tell."""
    amounts: dict[str, int] = {}
    metadata = result.metadata
    if (cost := _number(metadata.get("cost"), _MOST)) is not None:
        amounts["cost"] = round(cost * _NANO)
    for name in TOKENS:
        if (tokens := _number(metadata.get(name), _MOST * _MOST)) is not None:
            amounts[name] = round(tokens)
    return {name: amount for name, amount in amounts.items() if amount}


def _number(value: Any, most: float) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if 0 <= value <= most else None


class Counts:
    """Amounts by measure, and what can be read out of them."""

    __slots__ = ("amounts",)

    def __init__(self, amounts: Mapping[str, int] | None = None) -> None:
        self.amounts: dict[str, int] = dict(amounts or {})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counts) and self.amounts == other.amounts

    def __repr__(self) -> str:
        return f"Counts({self.amounts!r})"

    def take(self, more: Mapping[str, int]) -> None:
        """Add amounts to these."""
        amounts = self.amounts
        for name, amount in more.items():
            before = amounts.get(name, 0)
            amounts[name] = max(before, amount) if name == LONGEST_US else before + amount

    def __getitem__(self, measure: str) -> int:
        return self.amounts.get(measure, 0)

    @property
    def success_rate(self) -> float | None:
        """Which part of the runs that came to an end of their own succeeded; None while there are none."""
        ended = self["completed"] + self["failed"] + self["unclear"]
        return self["completed"] / ended if ended else None

    @property
    def cost(self) -> float:
        return self["cost"] / _NANO

    @property
    def refusals(self) -> dict[str, int]:
        """How often calls were refused, by code."""
        return self._named("refused ")

    @property
    def failures(self) -> dict[str, int]:
        """How often bodies failed, by code."""
        return self._named("failed ")

    def _named(self, prefix: str) -> dict[str, int]:
        return {
            name.removeprefix(prefix): amount
            for name, amount in sorted(self.amounts.items())
            if name.startswith(prefix)
        }

    @property
    def mean_ms(self) -> float | None:
        return self["us"] / self["runs"] / 1000 if self["runs"] else None

    @property
    def longest_ms(self) -> float | None:
        return self[LONGEST_US] / 1000 if self["runs"] else None

    def quantile_ms(self, share: float) -> float | None:
        """A duration that this share of the runs did not exceed: the end of its class, or the longest."""
        runs, longest = self["runs"], self.longest_ms
        if longest is None:
            return None
        rank, counted = max(math.ceil(share * runs), 1), 0
        for number, bound in enumerate(BOUNDS_MS):
            counted += self[f"ms {number}"]
            if counted >= rank:
                return min(float(bound), longest)
        return longest

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON data."""
        return {
            **{name: self[name] for name in (*_REPORTED, *TOKENS)},
            "cost": self.cost,
            "success_rate": self.success_rate,
            "refusals": self.refusals,
            "failures": self.failures,
            "mean_ms": self.mean_ms,
            "p50_ms": self.quantile_ms(0.5),
            "p95_ms": self.quantile_ms(0.95),
            "longest_ms": self.longest_ms,
        }


_REPORTED = (
    *("calls", "runs", "completed", "failed", "refused", "cancelled", "unclear"),
    *("duplicates", "planned", "cached", "retries"),
    *("asked", "approved", "rejected", "expired", "answered"),
)
