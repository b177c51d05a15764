"""Tools of many tenants: what a page costs must not grow with the tools and tenants that are not on it."""

from __future__ import annotations

from benchmarks.environments import Peers
from benchmarks.measured_processes import own_source, time_together
from benchmarks.row import Ratio, Row, at_most
from benchmarks.timing import Effort

TITLE = "A page of 50 tools, resolved for a tenant from rows on SQLite"

_READS = "{:.2f} times the cost with 50 tools and one tenant"


def measure(peers: Peers, effort: Effort) -> list[Row]:
    own = own_source("benchmarks.subjects.tenants")
    times = time_together([own], effort)
    rows: list[Row] = []
    for few, many in (
        ("resolved anew, 50 tools, 1 tenant", "all resolved anew, 5,000 tools, 1,000 tenants in turn"),
        ("resolved anew, 50 tools, 1 tenant", "first page anew, 5,000 tools, 1,000 tenants in turn"),
        ("remembered, 50 tools, 1 tenant", "remembered, 5,000 tools, 1,000 tenants in turn"),
    ):
        base, measured = times.of(own, few), times.of(own, many)
        if not any(row.subject == few for row in rows):
            rows.append(Row(few, base))
        rows.append(Row(many, measured, Ratio(measured, base, _READS), at_most(2)))
    return rows
