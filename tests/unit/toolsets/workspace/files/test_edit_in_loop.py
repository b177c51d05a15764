"""One short edit, made on the event loop: it waits for the disk alone, and leaves all else to threads."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from handrail import Context, Outcome
from handrail.toolsets.workspace import disk_threads as disk_module
from tests.harness.poll import poll_until
from tests.unit.toolsets.workspace.changes.open_workspace import OpenWorkspace

EDIT = {"path": "a.txt", "search": "one", "replace": "two"}


@pytest.fixture
def caller(tmp_path: Path) -> Iterator[OpenWorkspace]:
    """A workspace in which something was changed before, so that its history is open."""
    caller = OpenWorkspace(tmp_path)
    caller.put("before.txt", b"x")
    (tmp_path / "a.txt").write_bytes(b"zero\none\n")
    yield caller
    caller.close()


@contextmanager
def _no_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refused(*_: Any) -> Any:
        raise AssertionError("it was left to a thread")

    with monkeypatch.context() as there:
        there.setattr(Context, "in_thread", refused)
        yield


def _drafts(root: Path) -> list[str]:
    return os.listdir(root / ".handrail/drafts")


class Gate:
    """A system call that a test lets through."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        self.reached, self.open = threading.Event(), threading.Event()
        real = getattr(os, name)

        def held(*args: Any, **more: Any) -> Any:
            self.reached.set()
            assert self.open.wait(20)
            return real(*args, **more)

        monkeypatch.setattr(os, name, held)

    async def is_reached(self) -> None:
        assert await asyncio.to_thread(self.reached.wait, 20)


@pytest.mark.req("BF-03", "FC-01")
async def test_it_is_done_kept_told_and_can_be_undone(
    caller: OpenWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str | None] = []
    caller.workspace.listen(heard.append)
    with _no_threads(monkeypatch):
        out = await caller.call("edit_file", EDIT, turn=3)
    assert out.ok and out.result.data["diff"].endswith("@@ -1,2 +1,2 @@\n zero\n-one\n+two")
    assert caller.read("a.txt") == b"zero\ntwo\n" and heard == ["a.txt"] and _drafts(caller.root) == []
    (stored,) = caller.changes.history("acme", "a.txt")
    assert (stored.operation, stored.turn, stored.call_id) == ("edit", 3, out.call_id)
    assert (await caller.undo("a.txt")).ok
    assert caller.read("a.txt") == b"zero\none\n"


@pytest.mark.req("BF-03")
@pytest.mark.parametrize(
    ("data", "args"),
    [
        (b"one\n" + b"x" * 200_000, {}),
        (b"one\n", {"replace": "y" * 20_000}),
        (b"one\r\n", {}),
        (b"  one\n", {"search": "one\n\n"}),
        (b"one one\n", {"replace_all": True}),
        (b"", {"search": "", "replace": "new"}),
    ],
    ids=["large", "long", "returns", "no place", "two places", "empty"],
)
async def test_what_takes_long_or_needs_care_is_left_to_a_thread(
    caller: OpenWorkspace, monkeypatch: pytest.MonkeyPatch, data: bytes, args: dict[str, Any]
) -> None:
    (caller.root / "a.txt").write_bytes(data)
    with _no_threads(monkeypatch):
        out = await caller.call("edit_file", {**EDIT, **args})
    assert out.code == "TOOL_FAILED" and "left to a thread" in (out.result.error or "")
    assert caller.read("a.txt") == data and _drafts(caller.root) == []
    again = await caller.call("edit_file", {**EDIT, **args})
    assert again.ok == (again.code != "NO_MATCH")


@pytest.mark.req("BP-05")
async def test_a_turn_that_another_one_has_is_waited_for_in_a_thread(caller: OpenWorkspace) -> None:
    with caller.workspace.lock_path("a.txt"):
        waiting = asyncio.create_task(caller.call("edit_file", EDIT))
        other = await caller.call("edit_file", {"path": "before.txt", "search": "x", "replace": "y"})
        assert other.ok and not waiting.done()
    assert (await waiting).ok and caller.read("a.txt") == b"zero\ntwo\n"


@pytest.mark.req("FC-01")
async def test_a_history_in_which_another_process_writes_is_waited_for_in_a_thread(
    caller: OpenWorkspace,
) -> None:
    history = caller.root / ".handrail/history/changes.db"
    with closing(sqlite3.connect(history, isolation_level=None)) as other:
        other.execute("begin immediate")
        waiting = asyncio.create_task(caller.call("edit_file", EDIT))
        disk = caller.workspace.disk
        await asyncio.to_thread(
            poll_until, lambda: 0 < disk._threads == disk._idle._value
        )  # it was called off
        assert not waiting.done() and caller.read("a.txt") == b"zero\none\n"
        other.execute("rollback")
        assert (await waiting).ok
    assert caller.read("a.txt") == b"zero\ntwo\n" and _drafts(caller.root) == []


@pytest.mark.req("FC-01")
async def test_a_slow_disk_is_left_to_threads(caller: OpenWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_module, "_LONG", 0.0)
    with _no_threads(monkeypatch):
        assert (await caller.call("edit_file", EDIT)).ok
        out = await caller.call("edit_file", {**EDIT, "search": "two", "replace": "three"})
        assert "left to a thread" in (out.result.error or "")
    assert (await caller.call("edit_file", {**EDIT, "search": "two", "replace": "three"})).ok


@asynccontextmanager
async def _held_up(
    caller: OpenWorkspace, monkeypatch: pytest.MonkeyPatch, name: str, **how: Any
) -> AsyncIterator[tuple[Gate, asyncio.Task[Outcome]]]:
    """An edit that has come to a system call, and goes no further by itself."""
    with monkeypatch.context() as there:
        gate = Gate(there, name)
        waiting = asyncio.create_task(caller.call("edit_file", EDIT, **how))
        await gate.is_reached()
        yield gate, waiting


@pytest.mark.req("FC-01", "CX-06")
async def test_a_call_that_is_cancelled_while_the_disk_works_changes_nothing(
    caller: OpenWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _held_up(caller, monkeypatch, "fsync") as (gate, waiting):
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert caller.read("a.txt") == b"zero\none\n" and _drafts(caller.root) == []
        gate.open.set()
    assert (await caller.undo("a.txt")).code == "NOTHING_TO_UNDO"
    assert (await caller.call("edit_file", EDIT)).ok
    assert [one.after is not None for one in caller.changes.history("acme", "a.txt")] == [True]
    assert caller.read("a.txt") == b"zero\ntwo\n" and _drafts(caller.root) == []


@pytest.mark.req("FC-01", "CX-06")
@pytest.mark.parametrize("by", ["its caller", "a person"])
async def test_a_call_that_is_stopped_too_late_has_changed_the_file_and_can_be_undone(
    caller: OpenWorkspace, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    async with _held_up(caller, monkeypatch, "replace", id="late") as (gate, waiting):
        if by == "its caller":
            waiting.cancel()
        else:
            caller.handrail._runtime.running["acme", "late"].interrupt("cancelled", "somebody stopped it")
        await asyncio.sleep(0)
        assert not waiting.done()
        gate.open.set()
        out = await waiting
    if by == "its caller":
        assert out.ok
    else:
        assert out.status == "cancelled" and out.result.metadata["ignored"] is True
    assert caller.read("a.txt") == b"zero\ntwo\n"
    assert (await caller.undo("a.txt")).ok
    assert caller.read("a.txt") == b"zero\none\n"


@pytest.mark.req("FC-01")
@pytest.mark.parametrize("failing", [1, 9])
async def test_a_disk_that_fails_is_tried_again_in_a_thread_and_loses_nothing(
    caller: OpenWorkspace, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    real, calls = os.fsync, [0]

    def fsync(fd: int) -> None:
        calls[0] += 1
        if calls[0] <= failing:
            raise OSError(errno.EIO, "no disk")
        real(fd)

    with monkeypatch.context() as there:
        there.setattr(os, "fsync", fsync)
        out = await caller.call("edit_file", EDIT)
    assert out.ok == (failing == 1) and _drafts(caller.root) == []
    assert caller.read("a.txt") == (b"zero\ntwo\n" if out.ok else b"zero\none\n")
    assert len(caller.changes.history("acme", "a.txt")) == (1 if out.ok else 0)
    assert out.ok or out.code == "FILE_ERROR"


@pytest.mark.req("FC-01")
async def test_a_history_that_nobody_opened_yet_is_opened_in_a_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = OpenWorkspace(tmp_path)
    (tmp_path / "a.txt").write_bytes(b"one\n")
    with _no_threads(monkeypatch):
        out = await caller.call("edit_file", EDIT)
    assert "left to a thread" in (out.result.error or "") and caller.read("a.txt") == b"one\n"
    assert (await caller.call("edit_file", EDIT)).ok
    caller.close()


@pytest.mark.req("FC-01")
async def test_a_change_that_cannot_be_told_has_happened_and_can_be_undone(
    caller: OpenWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> Any:
        raise ValueError("no words")

    with monkeypatch.context() as there:
        there.setattr(import_module("handrail.toolsets.workspace.files.edit_file"), "_result", fails)
        assert (await caller.call("edit_file", EDIT)).status == "failed"
    assert caller.read("a.txt") == b"zero\ntwo\n"
    assert (await caller.undo("a.txt")).ok
    assert caller.read("a.txt") == b"zero\none\n"
