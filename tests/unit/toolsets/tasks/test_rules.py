"""Whatever is asked of a task book: no circles, and both twins say the same."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail import ToolError
from handrail.toolsets.tasks import MemoryTaskStore, SqliteTaskStore, TaskList, TaskStore, rules
from handrail.toolsets.tasks.rules import TaskPage, TaskPatch
from handrail.toolsets.tasks.store import (
    MAX_TASK_LISTS,
    STATUSES,
    MemoryTaskList,
    TaskEntry,
    TaskListKey,
    parse_task_id,
    task_id,
)

HERE = TaskListKey("acme", "session:s1")
IDS = st.integers(1, 8).map(task_id)
STEPS = st.one_of(
    st.tuples(st.just("create"), st.lists(IDS, max_size=3)),
    st.tuples(
        st.just("update"), IDS, st.none() | st.sampled_from(STATUSES), st.none() | st.lists(IDS, max_size=3)
    ),
    st.tuples(
        st.just("list"), st.lists(st.sampled_from(STATUSES), max_size=2), st.none() | IDS, st.integers(1, 4)
    ),
)


async def done(store: TaskStore, step: tuple[Any, ...]) -> TaskEntry | TaskPage | str:
    try:
        match step:
            case ("create", before):
                return await store.within(HERE, lambda tasks: rules.create(tasks, "Do", "", before, "now"))
            case ("update", expected, status, before):
                change = TaskPatch(status, None, None, before)
                return await store.within(HERE, lambda tasks: rules.update(tasks, expected, change, "later"))
            case _:
                _, statuses, after, limit = step
                return await store.within(HERE, lambda tasks: rules.list_page(tasks, statuses, after, limit))
    except ToolError as error:
        return f"{error.code}: {error}"


@given(st.lists(STEPS, max_size=25))
@settings(max_examples=40, deadline=None)
async def test_both_twins_answer_the_same_and_no_task_waits_for_itself(steps: list[tuple[Any, ...]]) -> None:
    with TemporaryDirectory() as folder:
        memory, file = MemoryTaskStore(), SqliteTaskStore(Path(folder))
        try:
            for step in steps:
                assert await done(memory, step) == await done(file, step)
            page = await file.within(HERE, lambda tasks: rules.list_page(tasks, (), None, 500))
        finally:
            await file.close()
    edges = {entry.number: entry.depends_on for entry in page.entries}
    gone: set[int] = set()
    while free := {number for number, before in edges.items() if gone.issuperset(before)} - gone:
        gone |= free
    assert gone == edges.keys(), "what is left waits for itself"


@given(
    st.integers(1, 999_999_999),
    st.sampled_from(["T{}", "t{}", "{}", "#{}", "task-{}", "Task {}", " T{} ", "T0{}"]),
)
def test_a_number_is_read_however_it_is_written(number: int, form: str) -> None:
    assert parse_task_id(form.format(number)) == number


@given(st.text("Tt0129#-_ task²٣é", max_size=12))
def test_what_is_no_number_is_none(text: str) -> None:
    found = parse_task_id(text)
    assert found is None or str(found) in text


@pytest.mark.parametrize("text", ["-1", "- 1", "_1", "T-1", "#-1", "task", "1.5", "1 2"])
def test_what_may_mean_something_else_is_none(text: str) -> None:
    assert parse_task_id(text) is None


def test_a_session_holds_so_many_tasks_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MOST_TASKS", 2)
    tasks = MemoryTaskList()
    for _ in range(2):
        rules.create(tasks, "Do", "", (), "now")
    with pytest.raises(ToolError, match="as many as it can hold") as refused:
        rules.create(tasks, "Do", "", (), "now")
    assert refused.value.code == "TOO_MANY_TASKS" and tasks.last() == 2


def test_a_change_is_told_with_its_time_and_what_is_none_is_not() -> None:
    tasks = MemoryTaskList()
    rules.create(tasks, "Do\nit", "", (), "now")
    same = rules.update(tasks, "T1", TaskPatch(status="pending"), "later")
    assert (same.subject, same.updated) == ("Do it", "now")
    changed = rules.update(tasks, "T1", TaskPatch(subject="Do\n[x] T2 that"), "later")
    assert (changed.subject, changed.created, changed.updated) == ("Do [x] T2 that", "now", "later")


async def test_the_memory_forgets_the_session_that_was_not_used_for_longest() -> None:
    store = MemoryTaskStore()
    quiet = TaskListKey("quiet", "session:0")
    await store.within(quiet, lambda tasks: rules.create(tasks, "Do", "", (), "now"))
    for number in range(MAX_TASK_LISTS + 1):
        await store.within(
            TaskListKey("acme", f"session:{number}"), lambda tasks: rules.create(tasks, "Do", "", (), "now")
        )
        await store.within(TaskListKey("acme", "session:0"), lambda tasks: tasks.last())
    stored = [
        await store.within(TaskListKey("acme", f"session:{n}"), lambda tasks: tasks.last()) for n in (0, 2)
    ]
    assert stored == [1, 1]
    assert await store.within(TaskListKey("acme", "session:1"), lambda tasks: tasks.last()) == 0
    assert await store.within(quiet, lambda tasks: tasks.last()) == 1, "what one tenant does costs no other"


async def test_a_change_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    store = SqliteTaskStore(tmp_path)

    def broken(tasks: TaskList) -> None:
        rules.create(tasks, "Do", "", (), "now")
        raise sqlite3.OperationalError("disk I/O error")

    with pytest.raises(ToolError) as refused:
        await store.within(HERE, broken)
    assert refused.value.code == "TASKS_UNAVAILABLE"
    assert await store.within(HERE, lambda tasks: tasks.last()) == 0
    await store.close()
