"""A durable job on SQLite: one by itself, and many of one tenant, beside the bare durable engine."""

from __future__ import annotations

from benchmarks.environments import Peers
from benchmarks.measured_processes import own_source, time_together
from benchmarks.row import Ratio, Row, at_least, at_most
from benchmarks.timing import Effort, Timing, by_median

TITLE = "A durable job on SQLite"

_ONE = "one job, from submit to its end"
_JOBS = "100 jobs"
_RAW = "100 bare workflows"
_SECONDS_FOR_ONE = 0.008
_SECONDS_FOR_100 = 0.1
_POLLED = (
    "the engine's queue has no wake-up, only a poll every 0.2 s, which starts four jobs of a tenant;"
    " dispatching jobs from our own rows is planned"
)


def measure(peers: Peers, effort: Effort) -> list[Row]:
    own, raw = own_source("benchmarks.subjects.jobs"), own_source("benchmarks.subjects.bare_jobs")
    times = time_together([own, raw], Effort(rounds=max(5, effort.rounds // 3), seconds=effort.seconds))
    one, jobs, bare = by_median(times.of(own, _ONE)), times.of(own, _JOBS), times.of(raw, _RAW)
    return [
        Row(
            f"{_ONE}, by its median",
            one,
            Ratio(one, Timing.fixed(_SECONDS_FOR_ONE), "{:.1f} times 8 ms"),
            at_most(1.0),
            known_miss=_POLLED,
        ),
        Row(
            _JOBS,
            jobs,
            # a rate is the inverse of a cost
            Ratio(Timing.fixed(_SECONDS_FOR_100), jobs, "{:.3f} of 1,000 jobs a second"),
            at_least(1.0),
            known_miss=_POLLED,
        ),
        Row(_RAW, bare, Ratio(bare, jobs, "jobs run at {:.0%} of its rate")),
    ]
