"""Who looks before it writes holds the tasks meanwhile, whichever process it is."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from handrail.toolsets.tasks import SqliteTaskStore, TaskList, rules
from handrail.toolsets.tasks.store import TaskEntry, TaskListKey

HERE = TaskListKey("acme", "session:s1")


@pytest.mark.req("BT-01")
async def test_nobody_writes_between_what_another_reads_and_writes(tmp_path: Path) -> None:
    one, other = SqliteTaskStore(tmp_path), SqliteTaskStore(tmp_path)
    looked, go_on = threading.Event(), threading.Event()

    def create(name: str, tasks: TaskList) -> TaskEntry:
        return rules.create(tasks, name, "", (), "now")

    def slowly(tasks: TaskList) -> TaskEntry:
        assert tasks.last() == 0
        looked.set()
        assert go_on.wait(30)
        return create("first", tasks)

    for store in (one, other):
        assert await store.within(HERE, lambda tasks: tasks.last()) == 0
    first = asyncio.ensure_future(one.within(HERE, slowly))
    assert await asyncio.to_thread(looked.wait, 30)
    second = asyncio.ensure_future(other.within(HERE, lambda tasks: create("second", tasks)))
    await asyncio.wait({second}, timeout=0.3)  # time in which it would write if it could
    go_on.set()
    assert [(await created).number for created in (first, second)] == [1, 2]
    await one.close()
    await other.close()
