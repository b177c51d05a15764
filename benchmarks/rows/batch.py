"""A batch of independent calls costs as long as the slowest of them."""

from __future__ import annotations

from benchmarks.environments import Peers
from benchmarks.measured_processes import own_source, time_together
from benchmarks.row import Ratio, Row, at_most
from benchmarks.timing import Effort

TITLE = "A batch of independent calls"

_ONE = "one read of 10 ms"
_BATCH = "a batch of 100 such reads"


def measure(peers: Peers, effort: Effort) -> list[Row]:
    own = own_source("benchmarks.subjects.batch")
    times = time_together([own], effort)
    one, batch = times.of(own, _ONE), times.of(own, _BATCH)
    return [Row(_ONE, one), Row(_BATCH, batch, Ratio(batch, one, "{:.2f} times one of them"), at_most(1.3))]
