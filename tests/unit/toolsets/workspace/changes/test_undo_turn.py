"""undo_turn: all files as they were before a turn, or none of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.unit.toolsets.workspace.changes.desks import BO, Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.req("BT-04", "FC-02", "FC-03")
async def test_all_changes_of_the_current_turn_are_undone_in_reverse_order(desk: Desk) -> None:
    desk.put("a.txt", b"before", turn=1)
    desk.put("gone.txt", b"kept", turn=1)
    desk.put("a.txt", b"1", turn=2)
    desk.put("new/b.txt", b"new", turn=2)
    desk.put("a.txt", b"2", turn=2)
    desk.put("gone.txt", None, turn=2)
    desk.put("elsewhere.txt", b"e", turn=2, session="another")
    out = await desk.call("undo_turn", {}, turn=2)
    assert out.status == "completed"
    assert [desk.read(one) for one in ("a.txt", "new/b.txt", "gone.txt", "elsewhere.txt")] == [
        b"before",
        None,
        b"kept",
        b"e",
    ]
    assert {one["path"]: one["changes"] for one in out.result.data["files"]} == {
        "gone.txt": 1,
        "a.txt": 2,
        "new/b.txt": 1,
    }


@pytest.mark.req("BT-04", "BY-14")
@pytest.mark.fault("F20")
async def test_one_file_that_somebody_changed_keeps_all_as_they_are(desk: Desk) -> None:
    desk.put("a.txt", b"a")
    desk.put("b.txt", b"b")
    desk.put("c.txt", b"c")
    (desk.root / "b.txt").write_bytes(b"theirs")
    out = await desk.undo_turn()
    assert out.result.code == "CHANGED_ELSEWHERE"
    assert out.result.error is not None and "b.txt" in out.result.error and "a.txt" not in out.result.error
    assert [desk.read(one) for one in ("a.txt", "b.txt", "c.txt")] == [b"a", b"theirs", b"c"]
    assert len(desk.changes.history("acme")) == 3


@pytest.mark.req("BT-04", "BY-14")
async def test_what_these_tools_changed_again_is_not_said_to_be_changed_by_others(desk: Desk) -> None:
    desk.put("a.txt", b"1", turn=1)
    desk.put("b.txt", b"1", turn=1)
    desk.put("a.txt", b"2", turn=2)
    said = (await desk.undo_turn(1)).result.error
    assert said == (
        "a.txt: changed again since by these tools: a.txt in turn 2. Undo that first. Nothing was undone."
    )
    (desk.root / "b.txt").write_bytes(b"theirs")
    said = (await desk.undo_turn(1)).result.error
    assert said is not None and said.startswith("b.txt, a.txt: changed by something else")
    assert said.endswith("These tools themselves changed a.txt in turn 2.")


@pytest.mark.req("BT-04")
async def test_a_change_of_somebody_else_between_two_of_the_turn_is_not_lost(desk: Desk) -> None:
    desk.put("a.txt", b"1", turn=2)
    (desk.root / "a.txt").write_bytes(b"theirs")
    desk.put("a.txt", b"2", turn=2)
    assert (await desk.undo_turn(2)).result.code == "CHANGED_ELSEWHERE"
    assert desk.read("a.txt") == b"2"
    await desk.undo("a.txt")
    assert desk.read("a.txt") == b"theirs"


@pytest.mark.req("BY-14")
async def test_an_undo_can_be_undone_by_redo_and_by_undoing_its_own_turn(desk: Desk) -> None:
    desk.put("a.txt", b"a", turn=1)
    desk.put("b.txt", b"b", turn=1)
    await desk.call("undo_turn", {"turn": 1}, turn=2)
    assert desk.read("a.txt") is None
    await desk.call("undo_turn", {}, turn=2)
    assert [desk.read("a.txt"), desk.read("b.txt")] == [b"a", b"b"]
    await desk.call("undo_turn", {"turn": 1}, turn=3)
    await desk.call("undo_turn", {"redo": True}, turn=3)
    assert [desk.read("a.txt"), desk.read("b.txt")] == [b"a", b"b"]
    await desk.call("undo_turn", {"turn": 1}, turn=3)
    await desk.call("undo_turn", {"turn": 1, "redo": True}, turn=4)
    assert [desk.read("a.txt"), desk.read("b.txt")] == [b"a", b"b"]
    assert (await desk.call("undo_turn", {"redo": True}, turn=4)).result.code == "NOTHING_TO_REDO"


@pytest.mark.req("BT-04")
async def test_an_undone_change_of_an_earlier_turn_comes_back_with_the_turn_that_undid_it(desk: Desk) -> None:
    desk.put("a.txt", b"1", turn=1)
    desk.put("a.txt", b"2", turn=2)
    await desk.call("undo_file", {"path": "a.txt", "steps": 2}, turn=2)
    assert desk.read("a.txt") is None
    await desk.call("undo_turn", {}, turn=2)
    assert desk.read("a.txt") == b"1"


@pytest.mark.req("BT-04")
async def test_calls_without_turns_and_sessions_walk_back_one_call_at_a_time(desk: Desk) -> None:
    for n, path in enumerate(["a.txt", "b.txt", "b.txt"]):
        desk.put(path, b"%d" % n, turn=None, session=f"call:c{n}", call_id=f"c{n}")
    seen = []
    for _ in range(3):
        await desk.call("undo_turn", {}, turn=None, session=None)
        seen.append([desk.read("a.txt"), desk.read("b.txt")])
    assert seen == [[b"0", b"1"], [b"0", None], [None, None]]
    assert (await desk.call("undo_turn", {}, turn=None, session=None)).result.code == "NOTHING_TO_UNDO"
    for _ in range(3):
        await desk.call("undo_turn", {"redo": True}, turn=None, session=None)
    assert [desk.read("a.txt"), desk.read("b.txt")] == [b"0", b"2"]


@pytest.mark.req("BT-04")
async def test_a_number_without_a_session_means_the_session_that_had_it_last(desk: Desk) -> None:
    desk.put("a.txt", b"a", turn=3, session="old")
    desk.put("b.txt", b"b", turn=3, session="new")
    desk.put("c.txt", b"c", turn=4, session="old")
    assert (await desk.call("undo_turn", {"turn": 3}, turn=None, session=None)).ok
    assert [desk.read(one) for one in ("a.txt", "b.txt", "c.txt")] == [b"a", None, b"c"]
    assert (await desk.call("undo_turn", {"turn": 9}, turn=None, session=None)).code == "NOTHING_TO_UNDO"


@pytest.mark.req("BT-04")
async def test_a_session_without_turns_undoes_its_own_last_call_only(desk: Desk) -> None:
    desk.put("a.txt", b"a", turn=None)
    desk.put("b.txt", b"b", turn=None, session="another")
    await desk.call("undo_turn", {}, turn=None)
    assert [desk.read("a.txt"), desk.read("b.txt")] == [None, b"b"]


@pytest.mark.req("BT-04")
async def test_an_empty_turn_is_told_which_turn_may_be_meant(desk: Desk) -> None:
    desk.put("a.txt", b"a", turn=4)
    out = await desk.call("undo_turn", {}, turn=5)
    assert out.result.code == "NOTHING_TO_UNDO"
    assert "turn=4" in out.to_model() and "bash" in out.to_model()


@pytest.mark.req("BT-04")
async def test_other_tenants_turns_are_out_of_reach(desk: Desk) -> None:
    desk.put("a.txt", b"a")
    for args in ({}, {"turn": 1}, {"redo": True}):
        out = await desk.call("undo_turn", args, principal=BO)
        assert out.result.code in ("NOTHING_TO_UNDO", "NOTHING_TO_REDO")
    out = await desk.call("undo_turn", {}, principal=BO, turn=None, session=None)
    assert out.result.code == "NOTHING_TO_UNDO" and desk.read("a.txt") == b"a"


@pytest.mark.req("BY-14")
async def test_a_preview_of_a_turn_changes_nothing(desk: Desk) -> None:
    desk.put("a.txt", b"a\n")
    desk.put("pic.png", b"\0\1\2")
    out = await desk.undo_turn(preview=True)
    assert desk.read("a.txt") == b"a\n"
    assert "-a" in out.to_model() and "pic.png: binary, 3 bytes to no file" in out.to_model()


@pytest.mark.req("BT-04", "BY-14")
@pytest.mark.fault("F20")
async def test_a_change_after_the_check_leaves_all_files_as_they_were(desk: Desk) -> None:
    (desk.root / "old.sh").write_bytes(b"old")
    (desk.root / "old.sh").chmod(0o750)
    desk.put("a.txt", b"a")
    desk.put("old.sh", b"new")
    desk.put("gone.txt", b"g", turn=2)
    desk.put("gone.txt", None)
    desk.put("made/b.txt", b"b")
    seen: list[str | None] = []

    def meanwhile(path: str | None) -> None:
        seen.append(path)
        if len(seen) == 3:
            (desk.root / "a.txt").write_bytes(b"late")

    desk.workspace.listen(meanwhile)
    out = await desk.undo_turn()
    assert out.result.code == "CHANGED_MEANWHILE"
    assert "a.txt" in out.to_model() and "Nothing was undone." in out.to_model()
    names = ("a.txt", "old.sh", "gone.txt", "made/b.txt")
    assert seen[:3] == ["made/b.txt", "gone.txt", "old.sh"], "so much was undone, and put back"
    assert [desk.read(one) for one in names] == [b"late", b"new", None, b"b"]
    assert (desk.root / "old.sh").stat().st_mode & 0o777 == 0o750
    (desk.root / "a.txt").write_bytes(b"a")
    for held in ([None, b"old", b"g", None], [b"a", b"new", None, b"b"]):
        assert (await desk.undo_turn(1, redo=held[0] is not None)).ok
        assert [desk.read(one) for one in names] == held


@pytest.mark.req("BT-04")
async def test_a_file_that_cannot_be_put_back_is_named_as_undone(desk: Desk) -> None:
    desk.put("a.txt", b"a")
    desk.put("b.txt", b"b")

    def meanwhile(path: str | None) -> None:
        (desk.root / "a.txt").write_bytes(b"late")
        (desk.root / "b.txt").write_bytes(b"theirs")

    desk.workspace.listen(meanwhile)
    out = await desk.undo_turn()
    assert out.result.code == "CHANGED_MEANWHILE" and "Undone all the same: b.txt." in out.to_model()
    assert [desk.read("a.txt"), desk.read("b.txt")] == [b"late", b"theirs"]
    assert [one.path for one in desk.changes.history("acme") if one.operation == "undo"] == ["b.txt"]


async def test_the_tools_write_no_blocks_outside(desk: Desk) -> None:
    desk.put("d/a.txt", b"a")
    os.rename(desk.root / "d", desk.root / "e")
    os.symlink("/tmp", desk.root / "d")
    out = await desk.undo_turn()
    assert out.result.code == "CHANGED_ELSEWHERE" and desk.read("e/a.txt") == b"a"
