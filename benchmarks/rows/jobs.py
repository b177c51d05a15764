"""A durable job against a bare workflow of the durable engine, on SQLite."""

from __future__ import annotations

from benchmarks.measured_processes import own_source, time_together
from benchmarks.row import Ratio, Row
from benchmarks.timing import Effort

TITLE = "A durable job on SQLite"

_JOBS = "100 jobs"
_RAW = "100 bare workflows"


def measure(peers: str | None, effort: Effort) -> list[Row]:
    here, raw = own_source("benchmarks.subjects.jobs"), own_source("benchmarks.subjects.bare_jobs")
    times = time_together([here, raw], Effort(rounds=max(5, effort.rounds // 3), seconds=effort.seconds))
    jobs, bare = times.of(here, _JOBS), times.of(raw, _RAW)
    return [
        Row(_RAW, bare),
        Row(_JOBS, jobs, Ratio(bare, jobs, "{:.0%} of the rate of the bare engine, at which 80 % is aimed")),
    ]
