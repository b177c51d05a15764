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

from handrail import ToolError
from handrail.toolsets.workspace.changes.database import RetentionLimits
from handrail.toolsets.workspace.locks import WouldBlock
from tests.unit.toolsets.workspace.changes.open_workspace import OpenWorkspace
from tests.unit.toolsets.workspace.changes.processes import KILL_POINTS, run_processes


@pytest.mark.req("FC-01")
def test_everything_about_a_change_is_kept(tmp_path: Path) -> None:
    opened = OpenWorkspace(tmp_path)
    opened.put("a.txt", b"one", call_id="call-1", turn=7, agent="helper")
    opened.put("a.txt", b"\xff\0\r\n", call_id="call-2", turn=8)
    first, second = opened.changes.history("acme", "a.txt")
    assert (first.path, first.operation, first.turn, first.call_id) == ("a.txt", "create", 7, "call-1")
    assert (first.tenant, first.session, first.agent, first.before) == ("acme", "s", "helper", None)
    assert first.at > 0 and second.operation == "write" and second.mode is not None
    assert opened.changes.as_tracker_record(second) == {
        "filePath": "a.txt",
        "operation": "write",
        "contentBefore": b"one",
        "contentAfter": b"\xff\0\r\n",
        "turnNumber": 8,
        "toolCallId": "call-2",
    }


@pytest.mark.req("FC-01", "FC-03")
async def test_what_the_tools_do_is_kept_whoever_writes_at_the_same_time(tmp_path: Path) -> None:
    opened = OpenWorkspace(tmp_path)
    names = [f"{n}.txt" for n in range(20)]
    async with opened.handrail:
        written = (opened.call("write_file", {"path": name, "content": name}) for name in names)
        assert all(out.ok for out in await asyncio.gather(*written))
        edit = {"path": "0.txt", "search": "0", "replace": "zero"}
        edited = await opened.call("edit_file", edit, turn=2)
        assert (await opened.call("file_delete", {"path": "1.txt"}, turn=3)).ok
        stored = [(one.path, one.operation, one.turn) for one in opened.changes.history("acme")]
        assert sorted(stored[:20]) == sorted((name, "create", 1) for name in names)
        assert stored[20:] == [("0.txt", "edit", 2), ("1.txt", "delete", 3)]
        assert opened.changes.as_tracker_record(opened.changes.history("acme", "0.txt")[1]) == {
            "filePath": "0.txt",
            "operation": "edit",
            "contentBefore": b"0.txt",
            "contentAfter": b"zero.txt",
            "turnNumber": 2,
            "toolCallId": edited.call_id,
        }
        for turn in (3, 2, 1):
            assert (await opened.call("undo_turn", {"turn": turn}, turn=4)).ok
    assert [opened.read(name) for name in names] == [None] * 20


@pytest.mark.req("FC-03")
async def test_history_survives_a_restart(tmp_path: Path) -> None:
    first = OpenWorkspace(tmp_path)
    first.put("a.txt", b"1")
    first.put("a.txt", b"2")
    first.close()
    again = OpenWorkspace(tmp_path)
    await again.undo("a.txt")
    assert again.read("a.txt") == b"1"


@pytest.mark.req("FC-03")
async def test_killed_changes_are_settled_by_their_files_and_processes_share_one_history(
    tmp_path: Path,
) -> None:
    for name in (*KILL_POINTS, "beside"):
        (tmp_path / name).mkdir()
        OpenWorkspace(tmp_path / name).put("a.txt", b"before")
    assert run_processes("short", tmp_path) == [-signal.SIGKILL] * 3 + [0] * 3
    for when, left, steps in zip(KILL_POINTS, (b"before", b"after", b"after"), (1, 2, 2), strict=True):
        again = OpenWorkspace(tmp_path / when)
        assert again.read("a.txt") == left
        assert len(again.changes.history("acme")) == steps
        for _ in range(steps):
            assert (await again.undo("a.txt")).status == "completed"
        assert again.read("a.txt") is None
    beside = OpenWorkspace(tmp_path / "beside")
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
    opened = OpenWorkspace(tmp_path)
    for state in (b"1", b"2", b"3"):
        opened.put("a.txt", state)
    for message in ("all_done", "dropped"):  # as if it were killed before
        monkeypatch.setattr(opened.changes, message, lambda *given: None)
    if not put:
        monkeypatch.setattr(opened.workspace, "write", _killed)
    await opened.undo("a.txt", steps=2)
    opened.close()
    again = OpenWorkspace(tmp_path)
    assert again.read("a.txt") == (b"1" if put else b"3")
    assert (await again.undo("a.txt", redo=put)).ok
    assert again.read("a.txt") == b"2"


def _killed(*given: object, **more: object) -> None:
    raise ToolError("Killed.", code="KILLED")


@pytest.mark.req("FC-03")
@pytest.mark.parametrize("theirs", [b"1", b"2", b"3"])
async def test_what_failed_is_no_step_back_whatever_the_file_holds(tmp_path: Path, theirs: bytes) -> None:
    opened = OpenWorkspace(tmp_path)
    opened.put("a.txt", b"1")
    number = opened.changes.record(opened.change("a.txt", b"2"))
    (tmp_path / "a.txt").write_bytes(theirs)
    opened.changes.dropped(number)
    assert len(opened.changes.history("acme")) == 1
    opened.put("a.txt", b"4", turn=2)
    assert (await opened.undo_turn(2)).ok
    assert opened.read("a.txt") == theirs


@pytest.mark.req("FC-03")
async def test_the_oldest_history_goes_first_and_the_newest_stays(tmp_path: Path) -> None:
    opened = OpenWorkspace(tmp_path, RetentionLimits(changes=10, bytes=10_000, every=5))
    for n in range(30):
        opened.put("a.txt", b"%d" % n)
    stored = len(opened.changes.history("acme"))
    assert 10 <= stored <= 15
    await opened.undo("a.txt", steps=stored)
    assert opened.read("a.txt") == b"%d" % (29 - stored)
    assert (await opened.undo("a.txt")).result.code == "NOTHING_TO_UNDO"


@pytest.mark.req("FC-03")
async def test_what_another_process_forgot_is_kept_again(tmp_path: Path) -> None:
    ours, theirs = OpenWorkspace(tmp_path), OpenWorkspace(tmp_path, RetentionLimits(changes=1, every=1))
    ours.put("a.txt", b"remembered")
    for number in range(3):
        theirs.put("b.txt", b"%d" % number)
    ours.put("a.txt", b"new")
    assert (await ours.call("undo_file", {"path": "a.txt"})).ok
    assert ours.read("a.txt") == b"remembered"


@pytest.mark.req("FC-03")
async def test_the_bytes_that_are_kept_are_bounded(tmp_path: Path) -> None:
    opened = OpenWorkspace(tmp_path, RetentionLimits(bytes=100_000))
    for n in range(40):
        opened.put("a.txt", b"%d" % n * 5_000)
    with sqlite3.connect(tmp_path / ".handrail/history/changes.db") as db:
        (size,) = db.execute("SELECT sum(length(data)) FROM contents").fetchone()
    db.close()
    assert size <= 130_000
    assert (await opened.undo("a.txt")).status == "completed"
    assert opened.read("a.txt") == b"38" * 5_000


@pytest.mark.req("FC-03")
async def test_a_file_too_large_to_keep_is_said_when_it_is_to_come_back(tmp_path: Path) -> None:
    opened = OpenWorkspace(tmp_path, RetentionLimits(largest=10))
    opened.put("a.txt", b"x" * 11)
    opened.put("a.txt", b"small")
    out = await opened.undo("a.txt")
    assert out.result.code == "NOT_KEPT" and opened.read("a.txt") == b"small"


@pytest.mark.req("FC-03")
def test_a_history_that_cannot_be_read_stops_the_change(tmp_path: Path) -> None:
    (tmp_path / ".handrail/history").mkdir(parents=True)
    (tmp_path / ".handrail/history/changes.db").write_bytes(b"no database at all" * 100)
    opened = OpenWorkspace(tmp_path)
    with pytest.raises(ToolError, match=r"changes\.db") as caught:
        opened.put("a.txt", b"1")
    assert caught.value.code == "HISTORY_UNAVAILABLE" and opened.read("a.txt") is None


def test_where_the_history_lies_on_the_machine_is_not_told(tmp_path: Path) -> None:
    (tmp_path / ".handrail").write_bytes(b"a file")
    with pytest.raises(ToolError, match="Not a directory") as caught:
        OpenWorkspace(tmp_path).put("a.txt", b"1")
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.req("FC-03")
def test_every_change_of_many_threads_is_marked(tmp_path: Path) -> None:
    opened, often = OpenWorkspace(tmp_path), 400

    def change(n: int) -> None:
        opened.changes.done(opened.changes.record(opened.change(f"{n}.txt", b"")))

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(change, range(often)))
    finally:
        sys.setswitchinterval(usual)
    opened.close()
    with closing(sqlite3.connect(tmp_path / ".handrail/history/changes.db")) as db:
        assert db.execute("SELECT state, count(*) FROM changes GROUP BY state").fetchall() == [(1, often)]


@pytest.mark.req("FC-03")
@pytest.mark.fault("F20", "F21")
async def test_a_new_file_whose_process_was_killed_before_its_draft_was_gone_can_be_read_and_undone(
    tmp_path: Path,
) -> None:
    opened = OpenWorkspace(tmp_path)
    opened.changes.record(opened.change("new.txt", b"new"))
    draft = opened.workspace.state_subfolder("drafts") / f".handrail-{_dead()}-0"
    draft.write_bytes(b"new")
    (tmp_path / "new.txt").hardlink_to(draft)
    opened.close()
    again = OpenWorkspace(tmp_path)
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
    opened = OpenWorkspace(tmp_path)
    change = opened.change("a.txt", b"1")
    with pytest.raises(WouldBlock):  # nobody opened it yet
        opened.changes.record(change, wait=False)
    history = tmp_path / ".handrail/history/changes.db"
    assert not history.exists()
    opened.put("b.txt", b"1")
    with closing(sqlite3.connect(history, isolation_level=None)) as other:
        other.execute("begin immediate")
        with pytest.raises(WouldBlock):
            opened.changes.record(change, wait=False)
        other.execute("rollback")
    assert _patience(opened) == 0
    with opened.changes._database.reading(), ThreadPoolExecutor(1) as beside, pytest.raises(WouldBlock):
        beside.submit(opened.changes.record, change, wait=False).result()
    assert [one.path for one in opened.changes.history("acme")] == ["b.txt"]
    assert _patience(opened) == 20_000
    number = opened.changes.record(change, wait=False)
    opened.apply(change)
    opened.changes.done(number)
    assert [one.path for one in opened.changes.history("acme")] == ["b.txt", "a.txt"]


def _patience(opened: OpenWorkspace) -> int:
    """Milliseconds that the history waits for another process."""
    connection = opened.changes._database._connection
    assert connection is not None
    return int(connection.execute("PRAGMA busy_timeout").fetchone()[0])


@pytest.mark.req("FC-01")
def test_who_cannot_wait_leaves_the_forgetting_to_the_next_who_can(tmp_path: Path) -> None:
    opened = OpenWorkspace(tmp_path, RetentionLimits(changes=4, every=4))

    def put(name: str, wait: bool) -> None:
        change = opened.change(name, b"1")
        number = opened.changes.record(change, wait=wait)
        opened.apply(change)
        opened.changes.done(number)

    for name in "abc":
        put(name, wait=True)
    put("d", wait=False)
    with pytest.raises(WouldBlock):
        put("e", wait=False)
    for name in "efg":
        put(name, wait=True)
    for name in "hi":
        put(name, wait=name == "i")
    assert "".join(one.path for one in opened.changes.history("acme")) == "fghi"
    put("j", wait=False)


@pytest.mark.req("FC-01")
async def test_what_was_dropped_is_no_part_of_the_history_here_or_elsewhere(tmp_path: Path) -> None:
    opened = OpenWorkspace(tmp_path)
    opened.put("a.txt", b"1")
    opened.changes.dropped(opened.changes.record(opened.change("a.txt", b"2")))
    assert [one.operation for one in opened.changes.history("acme")] == ["create"]
    opened.changes.dropped(opened.changes.record(opened.change("a.txt", b"3")))
    opened.close()
    again = OpenWorkspace(tmp_path)
    assert [one.operation for one in again.changes.history("acme")] == ["create"]
    assert (await again.undo("a.txt")).ok
    assert again.read("a.txt") is None
    again.close()
