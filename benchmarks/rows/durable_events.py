"""A call whose events are on disk costs little more than writing them there."""

from __future__ import annotations

from benchmarks.environments import Peers
from benchmarks.measured_processes import own_source, time_together
from benchmarks.row import Ratio, Row, at_least
from benchmarks.timing import Effort

TITLE = "A call with durable events on SQLite"

_BARE = "bare inserts"


def measure(peers: Peers, effort: Effort) -> list[Row]:
    own = own_source("benchmarks.subjects.durable_events")
    times = time_together([own], effort)
    bare = times.of(own, _BARE)
    rows = [Row("bare inserts of the two rows of 500 calls, as one group", bare)]
    for name, what in (("calls of a write", "at once"), ("calls of a read", "one after the other")):
        measured = times.of(own, name)
        # a rate is the inverse of a cost
        ratio = Ratio(bare, measured, "{:.2f} of the rate of bare inserts")
        rows.append(Row(f"500 {name}, {what}", measured, ratio, at_least(0.5)))
    return rows
