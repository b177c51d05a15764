"""Whatever is asked of a task book: no circles, and both twins say the same."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.ext import ToolError
from handrail.toolsets.tasks import FileTaskBook, MemoryTaskBook, Rows, TaskBook, keeping
from handrail.toolsets.tasks.book import MOST_SHELVES, MemoryRows
from handrail.toolsets.tasks.entry import STATUSES, Entry, Shelf, id_of, number_of
from handrail.toolsets.tasks.keeping import Page, Revision

HERE = Shelf("acme", "session:s1")
IDS = st.integers(1, 8).map(id_of)
STEPS = st.one_of(
    st.tuples(st.just("create"), st.lists(IDS, max_size=3)),
    st.tuples(
        st.just("update"), IDS, st.none() | st.sampled_from(STATUSES), st.none() | st.lists(IDS, max_size=3)
    ),
    st.tuples(
        st.just("list"), st.lists(st.sampled_from(STATUSES), max_size=2), st.none() | IDS, st.integers(1, 4)
    ),
)


async def done(book: TaskBook, step: tuple[Any, ...]) -> Entry | Page | str:
    try:
        match step:
            case ("create", before):
                return await book.within(HERE, lambda rows: keeping.create(rows, "Do", "", before, "now"))
            case ("update", wanted, status, before):
                change = Revision(status, None, None, before)
                return await book.within(HERE, lambda rows: keeping.update(rows, wanted, change, "later"))
            case _:
                _, statuses, after, limit = step
                return await book.within(HERE, lambda rows: keeping.listed(rows, statuses, after, limit))
    except ToolError as error:
        return f"{error.code}: {error}"


@given(st.lists(STEPS, max_size=25))
@settings(max_examples=40, deadline=None)
async def test_both_twins_answer_the_same_and_no_task_waits_for_itself(steps: list[tuple[Any, ...]]) -> None:
    with TemporaryDirectory() as folder:
        memory, file = MemoryTaskBook(), FileTaskBook(Path(folder))
        try:
            for step in steps:
                assert await done(memory, step) == await done(file, step)
            page = await file.within(HERE, lambda rows: keeping.listed(rows, (), None, 500))
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
    assert number_of(form.format(number)) == number


@given(st.text("Tt0129#-_ task²٣é", max_size=12))
def test_what_is_no_number_is_none(text: str) -> None:
    found = number_of(text)
    assert found is None or str(found) in text


@pytest.mark.parametrize("text", ["-1", "- 1", "_1", "T-1", "#-1", "task", "1.5", "1 2"])
def test_what_may_mean_something_else_is_none(text: str) -> None:
    assert number_of(text) is None


def test_a_session_holds_so_many_tasks_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "MOST_TASKS", 2)
    rows = MemoryRows()
    for _ in range(2):
        keeping.create(rows, "Do", "", (), "now")
    with pytest.raises(ToolError, match="as many as it can hold") as refused:
        keeping.create(rows, "Do", "", (), "now")
    assert refused.value.code == "TOO_MANY_TASKS" and rows.last() == 2


def test_a_change_is_told_with_its_time_and_what_is_none_is_not() -> None:
    rows = MemoryRows()
    keeping.create(rows, "Do\nit", "", (), "now")
    same = keeping.update(rows, "T1", Revision(status="pending"), "later")
    assert (same.subject, same.updated) == ("Do it", "now")
    changed = keeping.update(rows, "T1", Revision(subject="Do\n[x] T2 that"), "later")
    assert (changed.subject, changed.created, changed.updated) == ("Do [x] T2 that", "now", "later")


async def test_the_memory_forgets_the_session_that_was_not_used_for_longest() -> None:
    book = MemoryTaskBook()
    quiet = Shelf("quiet", "session:0")
    await book.within(quiet, lambda rows: keeping.create(rows, "Do", "", (), "now"))
    for number in range(MOST_SHELVES + 1):
        await book.within(
            Shelf("acme", f"session:{number}"), lambda rows: keeping.create(rows, "Do", "", (), "now")
        )
        await book.within(Shelf("acme", "session:0"), lambda rows: rows.last())
    kept = [await book.within(Shelf("acme", f"session:{n}"), lambda rows: rows.last()) for n in (0, 2)]
    assert kept == [1, 1]
    assert await book.within(Shelf("acme", "session:1"), lambda rows: rows.last()) == 0
    assert await book.within(quiet, lambda rows: rows.last()) == 1, "what one tenant does costs no other"


async def test_a_change_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    book = FileTaskBook(tmp_path)

    def broken(rows: Rows) -> None:
        keeping.create(rows, "Do", "", (), "now")
        raise sqlite3.OperationalError("disk I/O error")

    with pytest.raises(ToolError) as refused:
        await book.within(HERE, broken)
    assert refused.value.code == "TASKS_UNAVAILABLE"
    assert await book.within(HERE, lambda rows: rows.last()) == 0
    await book.close()
