"""Side by side: processes that change the same files lose nothing to each other, and share one history."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from handrail.toolsets.workspace.changes import recovery
from handrail.toolsets.workspace.changes.database import BEGUN, DONE, DROPPED
from handrail.toolsets.workspace.changes.recovery import settled_state
from tests.unit.toolsets.workspace.changes.open_workspace import OpenWorkspace
from tests.unit.toolsets.workspace.changes.processes import run_processes


@pytest.mark.req("FC-03", "BP-05")
@pytest.mark.fault("F20")
async def test_no_edit_of_one_process_is_lost_to_another_and_all_can_be_walked_back(tmp_path: Path) -> None:
    (tmp_path / "n.txt").write_text("100")
    well = sum(run_processes("counting", tmp_path))
    assert (tmp_path / "n.txt").read_text() == str(100 + well) and well > 0
    opened = OpenWorkspace(tmp_path)
    assert (await opened.undo("n.txt", steps=min(well, 100))).ok
    assert opened.read("n.txt") == b"100"


async def _walks_back(opened: OpenWorkspace, *contents: bytes) -> None:
    """Each undo brings the next content back, and then there is no more."""
    for held in contents:
        assert (await opened.undo("a.txt")).ok
        assert opened.read("a.txt") == held
    assert (await opened.undo("a.txt")).code == "NOTHING_TO_UNDO"


@pytest.mark.req("FC-03", "BY-14")
@pytest.mark.fault("F20")
async def test_a_change_that_is_not_marked_yet_is_known_by_who_went_on_from_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"1")
    one, other = OpenWorkspace(tmp_path), OpenWorkspace(tmp_path)
    one.put("a.txt", b"2")  # marked with the next change of this one
    other.put("a.txt", b"1")
    await _walks_back(other, b"2", b"1")


@pytest.mark.req("FC-03")
@pytest.mark.fault("F20", "F21")
async def test_what_is_being_done_is_not_settled_by_who_looks_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"1")
    one, other = OpenWorkspace(tmp_path), OpenWorkspace(tmp_path)
    change = one.change("a.txt", b"2")
    one.changes.record(change)
    assert (await other.undo("a.txt")).code == "NOTHING_TO_UNDO"
    one.apply(change)
    one.close()  # as if it were killed before it told
    assert (await other.undo("a.txt")).ok
    assert other.read("a.txt") == b"1"


@pytest.mark.req("FC-03")
async def test_what_was_never_done_is_told_from_the_same_change_made_after_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"1")
    one, other = OpenWorkspace(tmp_path), OpenWorkspace(tmp_path)
    other.put("b.txt", b"b")
    one.changes.record(one.change("a.txt", b"2"))
    one.close()
    other.put("a.txt", b"2")
    other.put("a.txt", b"3")
    await _walks_back(other, b"2", b"1")


@pytest.mark.req("FC-03")
@pytest.mark.fault("F20", "F21")
@pytest.mark.parametrize("was_it", ["the dead", "the living"])
async def test_of_two_who_began_the_same_the_one_who_lives_tells_whose_it_was(
    tmp_path: Path, was_it: str
) -> None:
    (tmp_path / "a.txt").write_bytes(b"1")
    dead, living = OpenWorkspace(tmp_path), OpenWorkspace(tmp_path)
    dead.put("b.txt", b"b")
    living.put("c.txt", b"c")
    change = dead.change("a.txt", b"2", call_id="dead")
    dead.changes.record(change)
    number = living.changes.record(living.change("a.txt", b"2", call_id="living"))
    dead.apply(change)
    dead.close()  # killed before it told, if it was the one
    other = OpenWorkspace(tmp_path)
    assert [one.path for one in other.changes.history("acme")] == ["b.txt", "c.txt"]
    if was_it == "the dead":
        living.changes.dropped(number)
    else:
        living.changes.all_done([number])
    (stored,) = other.changes.history("acme", "a.txt")
    assert stored.call_id == was_it.removeprefix("the ")
    await _walks_back(other, b"1")


@pytest.mark.req("FC-03")
@pytest.mark.fault("F20", "F21")
async def test_two_that_were_killed_one_after_the_other_are_settled_from_the_end(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"1")
    both = [OpenWorkspace(tmp_path), OpenWorkspace(tmp_path)]
    for opened in both:
        opened.changes.history("acme")  # each was there before the other died
    for opened, data in zip(both, (b"2", b"1"), strict=True):
        change = opened.change("a.txt", data)
        opened.changes.record(change)
        opened.apply(change)
        opened.close()
    opened = OpenWorkspace(tmp_path)
    for held in (b"2", b"1"):
        assert (await opened.undo("a.txt")).ok
        assert opened.read("a.txt") == held


@pytest.mark.req("FC-03")
async def test_an_undo_that_is_marked_late_does_not_undo_the_redo_that_came_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = OpenWorkspace(tmp_path), OpenWorkspace(tmp_path)
    one.put("a.txt", b"1")
    one.put("a.txt", b"2")
    with monkeypatch.context() as full:
        full.setattr(one.changes, "_catch_up", lambda: None)  # as if there were no room at this moment
        assert (await one.undo("a.txt")).ok
    assert (await other.undo("a.txt", redo=True)).ok
    one.put("b.txt", b"b")
    assert other.read("a.txt") == b"2"
    assert (await other.undo("a.txt")).ok
    assert other.read("a.txt") == b"1"


@pytest.mark.req("FC-03", "BY-14")
@pytest.mark.fault("F20", "F21")
async def test_a_new_file_of_a_killed_process_that_got_a_second_name_is_not_forgotten(tmp_path: Path) -> None:
    one, other = OpenWorkspace(tmp_path), OpenWorkspace(tmp_path)
    change = one.change("a.txt", b"a")
    one.changes.record(change)
    one.apply(change)
    one.close()
    (tmp_path / "b.txt").hardlink_to(tmp_path / "a.txt")
    out = await other.undo("a.txt")
    assert out.code == "CHANGED_ELSEWHERE" and "a.txt" in out.to_model()
    (tmp_path / "b.txt").unlink()
    assert (await other.undo("a.txt")).ok and other.read("a.txt") is None


@pytest.mark.req("FC-03")
@pytest.mark.parametrize(
    ("held", "alive", "state"),
    [
        (b"after", True, DONE),
        (b"after", False, DONE),
        (b"before", True, BEGUN),
        (b"before", False, DROPPED),
        (b"else", True, BEGUN),
        (b"else", False, DONE),
        (None, True, BEGUN),
        (None, False, DONE),
    ],
)
def test_what_became_of_a_change_is_told_by_what_the_file_held_next(
    held: bytes | None, alive: bool, state: int
) -> None:
    assert settled_state(b"before", b"after", held, alive=alive) == state
    assert settled_state(b"before", b"before", held, alive=alive) == DONE


def test_a_process_lives_until_it_ends_and_a_journal_until_it_is_closed() -> None:
    mine = recovery.register_owner()
    assert recovery.is_owner_alive(mine)
    recovery.release_owner(mine)
    assert (
        not recovery.is_owner_alive(mine)
        and not recovery.is_owner_alive(None)
        and not recovery.is_owner_alive("")
    )
    pid, _, number = mine.split(":")
    assert not recovery.is_owner_alive(f"{pid}:1:{number}"), "another process had this number before"
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # ended, and nobody has asked how
    began = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[19]
    assert not recovery.is_owner_alive(f"{child}:{began}:0")
    os.waitpid(child, 0)
    assert not recovery.is_owner_alive(f"{child}:{began}:0")
    began = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[19]
    assert recovery.is_owner_alive(f"{os.getppid()}:{began}:0")
