"""The journal: what is kept of a change, what a killed process leaves, and how much is kept."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from handrail.ext import ToolError
from handrail.toolsets.workspace.changes.forgetting import Bounds
from handrail.toolsets.workspace.locking import Busy
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
        edited = await desk.call("edit_file", edit, turn=2)
        assert (await desk.call("file_delete", {"path": "1.txt"}, turn=3)).ok
        kept = [(one.path, one.operation, one.turn) for one in desk.changes.history("acme")]
        assert sorted(kept[:20]) == sorted((name, "create", 1) for name in names)
        assert kept[20:] == [("0.txt", "edit", 2), ("1.txt", "delete", 3)]
        assert desk.changes.told(desk.changes.history("acme", "0.txt")[1]) == {
            "filePath": "0.txt",
            "operation": "edit",
            "contentBefore": b"0.txt",
            "contentAfter": b"zero.txt",
            "turnNumber": 2,
            "toolCallId": edited.call_id,
        }
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
@pytest.mark.fault("F20", "F21")
@pytest.mark.parametrize("put", [True, False])
async def test_an_undo_of_several_steps_that_was_killed_is_settled_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put: bool
) -> None:
    desk = Desk(tmp_path)
    for state in (b"1", b"2", b"3"):
        desk.put("a.txt", state)
    for told in ("all_done", "dropped"):  # as if it were killed before
        monkeypatch.setattr(desk.changes, told, lambda *given: None)
    if not put:
        monkeypatch.setattr(desk.workspace, "write", _killed)
    await desk.undo("a.txt", steps=2)
    desk.close()
    again = Desk(tmp_path)
    assert again.read("a.txt") == (b"1" if put else b"3")
    assert (await again.undo("a.txt", redo=put)).ok
    assert again.read("a.txt") == b"2"


def _killed(*given: object, **more: object) -> None:
    raise ToolError("Killed.", code="KILLED")


@pytest.mark.req("FC-03")
@pytest.mark.parametrize("theirs", [b"1", b"2", b"3"])
async def test_what_failed_is_no_step_back_whatever_the_file_holds(tmp_path: Path, theirs: bytes) -> None:
    desk = Desk(tmp_path)
    desk.put("a.txt", b"1")
    number = desk.changes.record(desk.change("a.txt", b"2"))
    (tmp_path / "a.txt").write_bytes(theirs)
    desk.changes.dropped(number)
    assert len(desk.changes.history("acme")) == 1
    desk.put("a.txt", b"4", turn=2)
    assert (await desk.undo_turn(2)).ok
    assert desk.read("a.txt") == theirs


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
async def test_what_another_process_forgot_is_kept_again(tmp_path: Path) -> None:
    ours, theirs = Desk(tmp_path), Desk(tmp_path, Bounds(changes=1, every=1))
    ours.put("a.txt", b"remembered")
    for number in range(3):
        theirs.put("b.txt", b"%d" % number)
    ours.put("a.txt", b"new")
    assert (await ours.call("undo_file", {"path": "a.txt"})).ok
    assert ours.read("a.txt") == b"remembered"


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


def test_where_the_history_lies_on_the_machine_is_not_told(tmp_path: Path) -> None:
    (tmp_path / ".handrail").write_bytes(b"a file")
    with pytest.raises(ToolError, match="Not a directory") as caught:
        Desk(tmp_path).put("a.txt", b"1")
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.req("FC-03")
def test_every_change_of_many_threads_is_marked(tmp_path: Path) -> None:
    desk, often = Desk(tmp_path), 400

    def change(n: int) -> None:
        desk.changes.done(desk.changes.record(desk.change(f"{n}.txt", b"")))

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(change, range(often)))
    finally:
        sys.setswitchinterval(usual)
    desk.close()
    with closing(sqlite3.connect(tmp_path / ".handrail/history/changes.db")) as db:
        assert db.execute("SELECT state, count(*) FROM changes GROUP BY state").fetchall() == [(1, often)]


@pytest.mark.req("FC-03")
@pytest.mark.fault("F20", "F21")
async def test_a_new_file_whose_process_was_killed_before_its_draft_was_gone_can_be_read_and_undone(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path)
    desk.changes.record(desk.change("new.txt", b"new"))
    draft = desk.workspace.own("drafts") / f".handrail-{_dead()}-0"
    draft.write_bytes(b"new")
    (tmp_path / "new.txt").hardlink_to(draft)
    desk.close()
    again = Desk(tmp_path)
    again.changes.settle()
    assert again.workspace.read("new.txt") == b"new"
    assert (await again.undo("new.txt")).ok
    assert again.read("new.txt") is None


def _dead() -> int:
    """The number of a process that is no more."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    return ended.pid


@pytest.mark.req("FC-01")
def test_who_cannot_wait_is_refused_while_somebody_writes_and_keeps_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    change = desk.change("a.txt", b"1")
    with pytest.raises(Busy):  # nobody opened it yet
        desk.changes.record(change, wait=False)
    history = tmp_path / ".handrail/history/changes.db"
    assert not history.exists()
    desk.put("b.txt", b"1")
    with closing(sqlite3.connect(history, isolation_level=None)) as other:
        other.execute("begin immediate")
        with pytest.raises(Busy):
            desk.changes.record(change, wait=False)
        other.execute("rollback")
    assert _patience(desk) == 0
    with desk.changes._tables.reading(), ThreadPoolExecutor(1) as beside, pytest.raises(Busy):
        beside.submit(desk.changes.record, change, wait=False).result()
    assert [one.path for one in desk.changes.history("acme")] == ["b.txt"]
    assert _patience(desk) == 20_000
    number = desk.changes.record(change, wait=False)
    desk.apply(change)
    desk.changes.done(number)
    assert [one.path for one in desk.changes.history("acme")] == ["b.txt", "a.txt"]


def _patience(desk: Desk) -> int:
    """Milliseconds that the history waits for another process."""
    connection = desk.changes._tables._connection
    assert connection is not None
    return int(connection.execute("PRAGMA busy_timeout").fetchone()[0])


@pytest.mark.req("FC-01")
def test_who_cannot_wait_leaves_the_forgetting_to_the_next_who_can(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Bounds(changes=4, every=4))

    def put(name: str, wait: bool) -> None:
        change = desk.change(name, b"1")
        number = desk.changes.record(change, wait=wait)
        desk.apply(change)
        desk.changes.done(number)

    for name in "abc":
        put(name, wait=True)
    put("d", wait=False)
    with pytest.raises(Busy):
        put("e", wait=False)
    for name in "efg":
        put(name, wait=True)
    for name in "hi":
        put(name, wait=name == "i")
    assert "".join(one.path for one in desk.changes.history("acme")) == "fghi"
    put("j", wait=False)


@pytest.mark.req("FC-01")
async def test_what_was_dropped_is_no_part_of_the_history_here_or_elsewhere(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.put("a.txt", b"1")
    desk.changes.dropped(desk.changes.record(desk.change("a.txt", b"2")))
    assert [one.operation for one in desk.changes.history("acme")] == ["create"]
    desk.changes.dropped(desk.changes.record(desk.change("a.txt", b"3")))
    desk.close()
    again = Desk(tmp_path)
    assert [one.operation for one in again.changes.history("acme")] == ["create"]
    assert (await again.undo("a.txt")).ok
    assert again.read("a.txt") is None
    again.close()
