"""The same call among many tools and rules: neither may be walked through on every call."""

from __future__ import annotations

from benchmarks.environments import Peers
from benchmarks.measured_processes import own_source, time_together
from benchmarks.row import Budget, Ratio, Row, at_most
from benchmarks.timing import Effort

TITLE = "The same call among many tools and rules"

_BASE = "10 tools"


def measure(peers: Peers, effort: Effort) -> list[Row]:
    own = own_source("benchmarks.subjects.scale")
    times = time_together([own], effort)
    base = times.of(own, _BASE)

    def beside(subject: str, budget: Budget | None = None) -> Row:
        measured = times.of(own, subject)
        return Row(subject, measured, Ratio(measured, base, "{:.2f} times the cost with 10"), budget)

    return [
        Row(_BASE, base),
        beside("10,000 tools, 100 rules", at_most(1.1)),
        beside("10 tools, 100 rules"),
        beside("10,000 tools"),
        beside("10,000 tools, 100 rules, one more on this tool's arguments"),
        beside("10,000 tools, 100 rules, each call another tool"),
    ]
