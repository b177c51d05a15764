"""Who looks before it writes holds the tasks meanwhile, whichever process it is."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from handrail.toolsets.tasks import FileTaskBook, Rows, keeping
from handrail.toolsets.tasks.entry import Entry, Shelf

HERE = Shelf("acme", "session:s1")


@pytest.mark.req("BT-01")
async def test_nobody_writes_between_what_another_reads_and_writes(tmp_path: Path) -> None:
    one, other = FileTaskBook(tmp_path), FileTaskBook(tmp_path)
    looked, go_on = threading.Event(), threading.Event()

    def create(name: str, rows: Rows) -> Entry:
        return keeping.create(rows, name, "", (), "now")

    def slowly(rows: Rows) -> Entry:
        assert rows.last() == 0
        looked.set()
        assert go_on.wait(30)
        return create("first", rows)

    for book in (one, other):
        assert await book.within(HERE, lambda rows: rows.last()) == 0
    first = asyncio.ensure_future(one.within(HERE, slowly))
    assert await asyncio.to_thread(looked.wait, 30)
    second = asyncio.ensure_future(other.within(HERE, lambda rows: create("second", rows)))
    await asyncio.wait({second}, timeout=0.3)  # time in which it would write if it could
    go_on.set()
    assert [(await made).number for made in (first, second)] == [1, 2]
    await one.close()
    await other.close()
