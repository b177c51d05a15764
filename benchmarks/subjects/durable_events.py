"""Calls whose events are kept in a SQLite file, beside the bare inserts of the same rows."""

import asyncio
import atexit
import shutil
import sqlite3
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from benchmarks.subject_process import main
from benchmarks.timing import Subject
from handrail import Handrail, Policy, Principal, tool
from handrail.store.events.log import StoreLog
from handrail.store.migrate import upgrade

SOMEBODY = Principal(tenant="acme", user="u1")
AT_ONCE = 500
"""Calls on their way at a time, timed as one; bare inserts have as many rows in a group as these events."""
ENOUGH = 60_000
"""Calls whose finished rows are at hand for the bare inserts."""


@tool("numbers.add", level="write")
async def add(a: int, b: int) -> int:
    """Add two numbers, and say that this changes something."""
    return a + b


@tool("numbers.sum", level="read")
async def add_up(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def subjects() -> Sequence[Subject]:
    folder = Path(tempfile.mkdtemp(prefix="handrail-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    policy = Policy(approval_mode="policy")
    hr = Handrail([add, add_up], database=f"sqlite:///{folder / 'calls.db'}", policy=policy)
    await hr.__aenter__()
    log = hr.log
    assert isinstance(log, StoreLog)

    async def call(name: str) -> object:
        outcome = await hr.call(name, {"a": 1, "b": 2}, principal=SOMEBODY, session="s")
        return outcome.result.data

    async def writes(number: int) -> object:
        for _ in range(number):
            sums = await asyncio.gather(*(call("numbers.add") for _ in range(AT_ONCE)))
        await asyncio.to_thread(log.settle)
        return sums[-1]

    async def reads(number: int) -> object:
        for _ in range(number * AT_ONCE):
            total = await call("numbers.sum")
        await asyncio.to_thread(log.settle)
        return total

    await writes(20)
    return (
        Subject("bare inserts", _bare(folder), lambda rows: rows == 2),
        Subject("calls of a write", writes, lambda total: total == 3),
        Subject("calls of a read", reads, lambda total: total == 3),
    )


def _bare(folder: Path) -> Callable[[int], Awaitable[object]]:
    """Inserts of finished rows into a table like ours, with the same indexes and guards, and nothing else."""
    upgrade(f"sqlite:///{folder / 'bare.db'}")
    with sqlite3.connect(folder / "calls.db") as calls:
        stored = calls.execute("SELECT * FROM session_events ORDER BY position").fetchall()
    bare = sqlite3.connect(folder / "bare.db", isolation_level=None)
    bare.execute("PRAGMA journal_mode=WAL")
    bare.execute("PRAGMA synchronous=NORMAL")
    insert = f"INSERT INTO session_events VALUES ({', '.join('?' * len(stored[0]))})"
    rows = []
    for number in range(1, 2 * ENOUGH + 1):
        tenant, session, _, _, kind, at, begun, call, run, *rest = stored[number % 2]
        call_number = number // 2
        key = (tenant, session, number, number, kind, at + call_number, begun + call_number)
        rows.append((*key, f"{call}-{call_number}", f"{run}-{call_number}", *rest))
    bare.executemany(insert, rows[: len(stored)])
    taken = len(stored)

    async def insert_rows(number: int) -> object:
        nonlocal taken
        end = taken + 2 * AT_ONCE * number
        assert end <= len(rows), "more rows are needed than were made"
        while taken < end:
            group = rows[taken : taken + 2 * AT_ONCE]
            bare.execute("BEGIN IMMEDIATE")
            bare.executemany(insert, group)
            bare.execute("COMMIT")
            taken += len(group)
        return 2

    return insert_rows


if __name__ == "__main__":
    main(subjects)
