"""What the sandbox adds to the start of a command."""

from __future__ import annotations

from benchmarks.environments import Peers
from benchmarks.measured_processes import own_source, time_together
from benchmarks.row import Ratio, Row
from benchmarks.timing import Effort

TITLE = "A shell command, `echo hi`"

_BARE = "a bare subprocess"
_WAYS = ("in the sandbox", "without a sandbox, below the keeper", "by the tool")
_JUDGED = "the judgement of a line with six commands"


def measure(peers: Peers, effort: Effort) -> list[Row]:
    own = own_source("benchmarks.subjects.shell")
    times = time_together([own], effort)
    bare = times.of(own, _BARE)
    ways = [(name, times.of(own, name)) for name in _WAYS]
    return [
        Row(_BARE, bare),
        *(Row(name, time, Ratio(time, bare, "{:.2f} times a bare subprocess")) for name, time in ways),
        Row(_JUDGED, times.of(own, _JUDGED)),
    ]
