"""Finding tools among many: neither a search nor a page of a listing may walk through all of them."""

from __future__ import annotations

from benchmarks.environments import Peers
from benchmarks.measured_processes import own_source, time_together
from benchmarks.row import Ratio, Row, at_most
from benchmarks.timing import Effort

TITLE = "Search and listing among many tools and rules"

_READS = "{:.2f} times the cost with 100"


def measure(peers: Peers, effort: Effort) -> list[Row]:
    own = own_source("benchmarks.subjects.tool_search")
    times = time_together([own], effort)
    rows: list[Row] = []
    for few, many in (
        ("search, 100 tools", "search, 10,000 tools, 100 rules"),
        ("page of 50, 100 tools", "page of 50, 10,000 tools, 100 rules"),
    ):
        base, measured = times.of(own, few), times.of(own, many)
        rows += [Row(few, base), Row(many, measured, Ratio(measured, base, _READS), at_most(10))]
    return rows
