"""A page of runs among ten million events costs about what it costs among ten thousand."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from benchmarks.environments import Peers
from benchmarks.row import Ratio, Row, at_most
from benchmarks.timing import Effort, Timing

if TYPE_CHECKING:
    from handrail.core.tell.runs import RunFilter
    from handrail.store.database import Database

TITLE = "A page of 50 runs, p95, among 10 million events and among 10 thousand"

FEW, MANY = 10_000, 10_000_000
_QUICK = 1_000_000
_PAGE = 50
_TIMES = 200

Look = Callable[[], int]


def measure(peers: Peers, effort: Effort) -> list[Row]:
    from benchmarks.subjects.event_database import make
    from handrail.store.database import Database

    folder = Path(tempfile.mkdtemp(prefix="handrail-bench-"))
    try:
        databases = []
        for name, events in (("few", FEW), ("many", MANY if effort.rounds >= Effort().rounds else _QUICK)):
            make(folder / f"{name}.db", events)
            databases.append((Database(f"sqlite:///{folder / f'{name}.db'}"), events))
        rows = [_row(name, which, *databases) for name, which in _filters()]
        for db, _ in databases:
            db.close()
        return rows
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _filters() -> list[tuple[str, RunFilter]]:
    """One of each; of those that have common and rare values, both."""
    from handrail.core.tell.runs import RunFilter, RunStatus

    statuses: tuple[RunStatus, ...] = get_args(RunStatus)
    return [
        ("no filter", RunFilter()),
        ("session", RunFilter(session="session_000001")),
        ("tool", RunFilter(tool="area.tool8")),
        ("tool, rare", RunFilter(tool="rare.tool")),
        ("user", RunFilter(user="user8")),
        ("user, rare", RunFilter(user="rare")),
        ("agent", RunFilter(agent="agent8")),
        ("agent, rare", RunFilter(agent="rare")),
        ("source", RunFilter(source="agent")),
        ("source, rare", RunFilter(source="cli")),
        ("since and until", RunFilter(since=1.7e9 + 1_000, until=1.7e9 + 2_000)),
        *((f"status {status}", RunFilter(status=status)) for status in statuses),
    ]


def _row(name: str, which: RunFilter, few: tuple[Database, int], many: tuple[Database, int]) -> Row:
    limit = _count(few[0], which)  # the same number of runs from both
    looks = [_look(db, which, limit) for db, _ in (few, many)]
    for look in looks:
        assert look() >= 2 * limit - 1, f"too few runs fit {name}"
    seconds: list[list[float]] = [[], []]
    for _ in range(_TIMES):
        for took, look in zip(seconds, looks, strict=True):
            begun = time.perf_counter()
            look()
            took.append(time.perf_counter() - begun)
    small, large = (_p95(took) for took in seconds)
    return Row(name, large, Ratio(large, small, "{:.2f} times the p95 at 10 thousand"), at_most(3))


def _count(db: Database, which: RunFilter) -> int:
    from handrail.store.events.runs import list_runs

    with db.reading("acme") as conn:
        count = len(list_runs(conn, "acme", which, limit=_PAGE))
    assert count > 1, f"too few runs fit {which}"
    return count


def _look(db: Database, which: RunFilter, limit: int) -> Look:
    """A page, and the page that begins after the first run of it."""
    from handrail.store.events.runs import list_runs

    def look() -> int:
        with db.reading("acme") as conn:
            first = list_runs(conn, "acme", which, limit=limit)
            after = list_runs(conn, "acme", which, after=first[0].cursor, limit=limit)
        return len(first) + len(after)

    return look


def _p95(seconds: list[float]) -> Timing:
    ordered = sorted(seconds)
    return Timing(
        best=ordered[int(len(ordered) * 0.95)], median=ordered[len(ordered) // 2], rounds=len(ordered)
    )
