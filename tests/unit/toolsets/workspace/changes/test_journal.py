"""The journal: what is kept of a change, what a killed process leaves, and how much is kept."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
from pathlib import Path

import pytest

from handrail.ext import ToolError
from handrail.toolsets.workspace.changes.forgetting import Bounds
from tests.unit.toolsets.workspace.changes.desks import Desk
from tests.unit.toolsets.workspace.changes.lives import WHEN, played


@pytest.mark.req("FC-01")
def test_everything_about_a_change_is_kept(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.put("a.txt", b"one", call_id="call-1", turn=7, agent="helper")
    desk.put("a.txt", b"\xff\0\r\n", call_id="call-2", turn=8)
    first, second = desk.changes.history("acme", "a.txt")
    assert (first.path, first.operation, first.turn, first.call_id) == ("a.txt", "create", 7, "call-1")
    assert (first.tenant, first.session, first.agent, first.before) == ("acme", "s", "helper", None)
    assert first.at > 0 and second.operation == "write" and second.mode is not None
    assert desk.changes.told(second) == {
        "filePath": "a.txt",
        "operation": "write",
        "contentBefore": b"one",
        "contentAfter": b"\xff\0\r\n",
        "turnNumber": 8,
        "toolCallId": "call-2",
    }


@pytest.mark.req("FC-01", "FC-03")
async def test_what_the_tools_do_is_kept_whoever_writes_at_the_same_time(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    names = [f"{n}.txt" for n in range(20)]
    async with desk.handrail:
        written = (desk.call("write_file", {"path": name, "content": name}) for name in names)
        assert all(out.ok for out in await asyncio.gather(*written))
        edit = {"path": "0.txt", "search": "0", "replace": "zero"}
        assert (await desk.call("edit_file", edit, turn=2)).ok
        assert (await desk.call("file_delete", {"path": "1.txt"}, turn=3)).ok
        kept = [(one.path, one.operation, one.turn) for one in desk.changes.history("acme")]
        assert sorted(kept[:20]) == sorted((name, "create", 1) for name in names)
        assert kept[20:] == [("0.txt", "edit", 2), ("1.txt", "delete", 3)]
        for turn in (3, 2, 1):
            assert (await desk.call("undo_turn", {"turn": turn}, turn=4)).ok
    assert [desk.read(name) for name in names] == [None] * 20


@pytest.mark.req("FC-03")
async def test_history_survives_a_restart(tmp_path: Path) -> None:
    first = Desk(tmp_path)
    first.put("a.txt", b"1")
    first.put("a.txt", b"2")
    first.close()
    again = Desk(tmp_path)
    await again.undo("a.txt")
    assert again.read("a.txt") == b"1"


@pytest.mark.req("FC-03")
async def test_killed_changes_are_settled_by_their_files_and_processes_share_one_history(
    tmp_path: Path,
) -> None:
    for name in (*WHEN, "beside"):
        (tmp_path / name).mkdir()
        Desk(tmp_path / name).put("a.txt", b"before")
    assert played("short", tmp_path) == [-signal.SIGKILL] * 3 + [0] * 3
    for when, left, steps in zip(WHEN, (b"before", b"after", b"after"), (1, 2, 2), strict=True):
        again = Desk(tmp_path / when)
        assert again.read("a.txt") == left
        assert len(again.changes.history("acme")) == steps
        for _ in range(steps):
            assert (await again.undo("a.txt")).status == "completed"
        assert again.read("a.txt") is None
    beside = Desk(tmp_path / "beside")
    assert len(beside.changes.history("acme")) == 61
    for name, steps in (("a", 21), ("b", 20), ("c", 20)):
        assert (await beside.undo(f"{name}.txt", steps=steps)).status == "completed"
        assert beside.read(f"{name}.txt") is None


@pytest.mark.req("FC-03")
async def test_an_undo_of_several_steps_that_was_killed_is_settled_as_one(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for state in (b"1", b"2", b"3"):
        desk.put("a.txt", state)
    marked = desk.changes.done
    desk.changes.done = lambda *given: None  # type: ignore[method-assign]  # as if it were killed before
    await desk.undo("a.txt", steps=2)
    desk.changes.done = marked  # type: ignore[method-assign]  # a new life
    again = Desk(tmp_path)
    assert again.read("a.txt") == b"1"
    await again.undo("a.txt", redo=True)
    assert again.read("a.txt") == b"2"


@pytest.mark.req("FC-03")
async def test_what_failed_is_no_step_back_unless_the_file_says_so(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.put("a.txt", b"1")
    desk.changes.dropped(desk.changes.record(desk.change("a.txt", b"2")))
    assert len(desk.changes.history("acme")) == 1
    change = desk.change("a.txt", b"3")
    number = desk.changes.record(change)
    desk.apply(change)
    desk.changes.dropped(number)
    await desk.undo("a.txt")
    assert desk.read("a.txt") == b"1"


@pytest.mark.req("FC-03")
async def test_the_oldest_history_goes_first_and_the_newest_stays(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Bounds(changes=10, bytes=10_000, every=5))
    for n in range(30):
        desk.put("a.txt", b"%d" % n)
    kept = len(desk.changes.history("acme"))
    assert 10 <= kept <= 15
    await desk.undo("a.txt", steps=kept)
    assert desk.read("a.txt") == b"%d" % (29 - kept)
    assert (await desk.undo("a.txt")).result.code == "NOTHING_TO_UNDO"


@pytest.mark.req("FC-03")
async def test_the_bytes_that_are_kept_are_bounded(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Bounds(bytes=100_000))
    for n in range(40):
        desk.put("a.txt", b"%d" % n * 5_000)
    with sqlite3.connect(tmp_path / ".handrail/history/changes.db") as db:
        (size,) = db.execute("SELECT sum(length(data)) FROM contents").fetchone()
    db.close()
    assert size <= 130_000
    assert (await desk.undo("a.txt")).status == "completed"
    assert desk.read("a.txt") == b"38" * 5_000


@pytest.mark.req("FC-03")
async def test_a_file_too_large_to_keep_is_said_when_it_is_to_come_back(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Bounds(one=10))
    desk.put("a.txt", b"x" * 11)
    desk.put("a.txt", b"small")
    out = await desk.undo("a.txt")
    assert out.result.code == "NOT_KEPT" and desk.read("a.txt") == b"small"


@pytest.mark.req("FC-03")
def test_a_history_that_cannot_be_read_stops_the_change(tmp_path: Path) -> None:
    (tmp_path / ".handrail/history").mkdir(parents=True)
    (tmp_path / ".handrail/history/changes.db").write_bytes(b"no database at all" * 100)
    desk = Desk(tmp_path)
    with pytest.raises(ToolError, match=r"changes\.db") as caught:
        desk.put("a.txt", b"1")
    assert caught.value.code == "HISTORY_UNAVAILABLE" and desk.read("a.txt") is None
