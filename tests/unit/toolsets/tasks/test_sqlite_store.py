"""Tasks in a file: they outlive the process, several may write, and what is wrong is said."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from handrail import ToolError
from handrail.toolsets.tasks import SqliteTaskStore, TaskList, rules
from handrail.toolsets.tasks.store import TaskListKey, TodoItem
from tests.harness.poll import poll_until
from tests.unit.toolsets.tasks.task_stores import caller

HERE = TaskListKey("acme", "session:s1")
WRITER = """
import asyncio, pathlib, sys
from handrail.toolsets.tasks import SqliteTaskStore, rules
from handrail.toolsets.tasks.store import TaskListKey

async def main() -> None:
    store = SqliteTaskStore(pathlib.Path(sys.argv[1]))
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(25):
        name = f"{sys.argv[2]} {number}"
        key = TaskListKey("acme", "session:s1")
        await store.within(key, lambda tasks: rules.create(tasks, name, "", (), "now"))
    print("done", flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.req("BT-01", "BT-07")
async def test_what_was_written_is_there_after_a_restart(tmp_path: Path) -> None:
    async with caller(SqliteTaskStore(tmp_path / "state")) as call:
        await call("task_create", subject="Read")
        await call("todowrite", todos=[{"content": "Look", "status": "in_progress"}])
    async with caller(SqliteTaskStore(lambda: tmp_path / "state")) as call:
        assert await call.says("task_list") == "1 task: 1 pending\n[ ] T1 Read"
        assert await call.says("todoread") == "[~] Look"


@pytest.mark.req("BT-01")
async def test_several_processes_write_at_once_and_lose_nothing_when_killed(tmp_path: Path) -> None:
    writers = [
        await asyncio.create_subprocess_exec(
            sys.executable,
            *("-c", WRITER, str(tmp_path), name),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        for name in ("left", "right")
    ]
    try:
        for writer in writers:
            assert writer.stdout is not None and await writer.stdout.readline() == b"ready\n"
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write(b"go\n")
        for writer in writers:
            assert writer.stdout is not None and await writer.stdout.readline() == b"done\n"
    finally:
        for writer in writers:
            writer.kill()
            await writer.wait()
    store = SqliteTaskStore(tmp_path)
    entries = await store.within(HERE, lambda tasks: tasks.newest(100))
    await store.close()
    assert [entry.number for entry in entries] == list(range(50, 0, -1))
    for name in ("left", "right"):
        mine = [entry.subject for entry in reversed(entries) if entry.subject.startswith(name)]
        assert mine == [f"{name} {number}" for number in range(25)]


async def test_a_file_that_is_none_of_ours_is_said_without_its_place(tmp_path: Path) -> None:
    (tmp_path / "tasks.db").write_bytes(b"something else" * 1000)
    async with caller(SqliteTaskStore(tmp_path)) as call:
        refused = await call("task_list")
    assert refused.code == "TASKS_UNAVAILABLE"
    assert "file is not a database" in refused.to_model() and str(tmp_path) not in refused.to_model()


async def test_a_folder_that_cannot_be_made_is_said_and_comes_right_later(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    async with caller(SqliteTaskStore(tmp_path / "state")) as call:
        refused = await call("task_create", subject="Read")
        assert refused.code == "TASKS_UNAVAILABLE" and str(tmp_path) not in refused.to_model()
        (tmp_path / "state").unlink()
        assert (await call("task_create", subject="Read")).ok


async def test_tasks_of_a_newer_version_are_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "tasks.db") as other:
        other.execute("pragma user_version = 99")
    other.close()
    store = SqliteTaskStore(tmp_path)
    with pytest.raises(ToolError, match="a newer Handrail wrote them"):
        await store.within(HERE, lambda tasks: tasks.last())
    await store.close()


async def test_the_loop_goes_on_while_another_process_writes(tmp_path: Path) -> None:
    store = SqliteTaskStore(tmp_path)
    await store.within(HERE, lambda tasks: tasks.put_items([TodoItem("Look")]))
    other = sqlite3.connect(tmp_path / "tasks.db", isolation_level=None)
    other.execute("begin immediate")
    waiting = asyncio.ensure_future(
        store.within(HERE, lambda tasks: rules.create(tasks, "Read", "", (), "now").id)
    )
    await asyncio.sleep(0)
    assert not waiting.done()
    other.rollback()
    other.close()
    assert await waiting == "T1"
    await store.close()


async def test_a_closed_book_leaves_no_thread_and_opens_again(tmp_path: Path) -> None:
    store = SqliteTaskStore(tmp_path)
    for number in (1, 2):
        created = await store.within(HERE, lambda tasks: rules.create(tasks, "Read", "", (), "now"))
        assert created.number == number
        await store.close()
        poll_until(lambda: not any(one.name.startswith("handrail-tasks") for one in threading.enumerate()))


async def test_a_file_that_failed_is_opened_anew(tmp_path: Path) -> None:
    store = SqliteTaskStore(tmp_path)

    def failing(tasks: TaskList) -> None:
        for file in tmp_path.iterdir():
            file.unlink()
        raise sqlite3.OperationalError("disk I/O error")

    await store.within(HERE, lambda tasks: rules.create(tasks, "Read", "", (), "now"))
    with pytest.raises(ToolError, match="disk I/O error"):
        await store.within(HERE, failing)
    assert (await store.within(HERE, lambda tasks: rules.create(tasks, "Read", "", (), "now"))).id == "T1"
    await store.close()
    assert (tmp_path / "tasks.db").stat().st_size > 0, "what was written stands where others find it"


async def test_a_book_that_is_closed_while_others_write_loses_nothing(tmp_path: Path) -> None:
    """A connection that one thread closes while another uses it takes the whole process down."""
    store = SqliteTaskStore(tmp_path)

    async def write() -> None:
        for _ in range(20):
            await store.within(HERE, lambda tasks: rules.create(tasks, "Read", "", (), "now"))

    async def close() -> None:
        for _ in range(40):
            await store.close()
            await asyncio.sleep(0)

    await asyncio.gather(write(), close(), write(), write())
    assert await store.within(HERE, lambda tasks: tasks.last()) == 60
    await store.close()


async def test_nobody_else_writes_between_what_is_read_and_what_is_written(tmp_path: Path) -> None:
    store = SqliteTaskStore(tmp_path)

    def work(tasks: TaskList) -> int:
        before = tasks.last()
        other = sqlite3.connect(tmp_path / "tasks.db", timeout=0, isolation_level=None)
        with closing(other), pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("begin immediate")
        return before

    assert await store.within(HERE, work) == 0
    await store.close()
