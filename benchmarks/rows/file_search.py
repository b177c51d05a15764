"""grep and glob cost little more than ripgrep itself."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.environments import Peers
from benchmarks.measured_processes import own_source, time_together
from benchmarks.row import Ratio, Row, at_most
from benchmarks.timing import Effort

TITLE = "Search over 100,000 files"

_MOST_ROUNDS = 9
_READS = "{:.2f} times ripgrep itself"


def measure(peers: Peers, effort: Effort) -> list[Row]:
    own = own_source("benchmarks.subjects.file_search")
    times = time_together([own], replace(effort, rounds=min(effort.rounds, _MOST_ROUNDS)))
    rows = []
    for bare, tool in (("rg", "grep"), ("rg --files -g", "glob")):
        base, measured = times.of(own, bare), times.of(own, tool)
        rows.append(Row(bare, base))
        rows.append(Row(tool, measured, Ratio(measured, base, _READS), at_most(1.5)))
    lookahead, bare_grep = times.of(own, "grep with look-ahead"), times.of(own, "rg")
    rows.append(Row("grep with look-ahead, by Python", lookahead, Ratio(lookahead, bare_grep, _READS)))
    newest = times.of(own, "glob by time")
    rows.append(Row("glob, those changed last first", newest, Ratio(newest, base, _READS)))
    return rows
