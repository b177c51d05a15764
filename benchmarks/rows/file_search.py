"""grep and glob cost little more than ripgrep itself."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.measured_processes import own_source, time_together
from benchmarks.row import Ratio, Row, at_most
from benchmarks.timing import Effort

TITLE = "Search over 100,000 files"

_MOST_ROUNDS = 9
_READS = "{:.2f} times ripgrep itself"


def measure(peers: str | None, effort: Effort) -> list[Row]:
    here = own_source("benchmarks.subjects.file_search")
    times = time_together([here], replace(effort, rounds=min(effort.rounds, _MOST_ROUNDS)))
    rows = []
    for bare, tool in (("rg", "grep"), ("rg --files -g", "glob")):
        base, measured, alone = (times.of(here, name) for name in (bare, tool, f"{tool} without rg"))
        rows.append(Row(bare, base))
        rows.append(Row(tool, measured, Ratio(measured, base, _READS), at_most(1.5)))
        rows.append(Row(f"{tool} where ripgrep is missing", alone, Ratio(alone, base, _READS)))
    newest = times.of(here, "glob by time")
    rows.append(Row("glob, those changed last first", newest, Ratio(newest, base, _READS)))
    return rows
