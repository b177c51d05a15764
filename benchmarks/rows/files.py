"""Files through the whole pipeline: numbered reads, and edits with a journal and an atomic write."""

from __future__ import annotations

from benchmarks.environments import Peers
from benchmarks.measured_processes import own_source, time_together
from benchmarks.row import Ratio, Row, at_most
from benchmarks.timing import Effort

TITLE = "A file of 1,000 lines"

_PAIRS = (
    ("plain read", "read_file"),
    ("plain read", "read_file, seen before"),
    ("plain edit", "edit_file"),
    ("plain edit of Python, compiled", "edit_file of Python, syntax checked"),
)


def measure(peers: Peers, effort: Effort) -> list[Row]:
    own = own_source("benchmarks.subjects.files")
    times = time_together([own], effort)
    rows: list[Row] = []
    for plain, tool in _PAIRS:
        base, measured = times.of(own, plain), times.of(own, tool)
        if all(row.subject != plain for row in rows):
            rows.append(Row(plain, base))
        reads = f"{{:.2f}} times {plain}"
        rows.append(Row(tool, measured, Ratio(measured, base, reads), at_most(3)))
    rows.append(Row("plain edit in a thread", times.of(own, "plain edit in a thread")))
    careful, edited = times.of(own, "careful edit"), times.of(own, "edit_file")
    reads = "edit_file takes {:.2f} times this"
    rows.append(Row("plain edit, mode and owner kept", careful, Ratio(edited, careful, reads)))
    return rows
