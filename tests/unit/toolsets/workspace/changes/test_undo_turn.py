"""undo_turn: all files as they were before a turn, or none of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.unit.toolsets.workspace.changes.open_workspace import BO, OpenWorkspace


@pytest.fixture
def opened(tmp_path: Path) -> OpenWorkspace:
    return OpenWorkspace(tmp_path)


@pytest.mark.req("BT-04", "FC-02", "FC-03")
async def test_all_changes_of_the_current_turn_are_undone_in_reverse_order(opened: OpenWorkspace) -> None:
    opened.put("a.txt", b"before", turn=1)
    opened.put("gone.txt", b"kept", turn=1)
    opened.put("a.txt", b"1", turn=2)
    opened.put("new/b.txt", b"new", turn=2)
    opened.put("a.txt", b"2", turn=2)
    opened.put("gone.txt", None, turn=2)
    opened.put("elsewhere.txt", b"e", turn=2, session="another")
    out = await opened.call("undo_turn", {}, turn=2)
    assert out.status == "completed"
    assert [opened.read(one) for one in ("a.txt", "new/b.txt", "gone.txt", "elsewhere.txt")] == [
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
async def test_one_file_that_somebody_changed_keeps_all_as_they_are(opened: OpenWorkspace) -> None:
    opened.put("a.txt", b"a")
    opened.put("b.txt", b"b")
    opened.put("c.txt", b"c")
    (opened.root / "b.txt").write_bytes(b"theirs")
    out = await opened.undo_turn()
    assert out.result.code == "CHANGED_ELSEWHERE"
    assert out.result.error is not None and "b.txt" in out.result.error and "a.txt" not in out.result.error
    assert [opened.read(one) for one in ("a.txt", "b.txt", "c.txt")] == [b"a", b"theirs", b"c"]
    assert len(opened.changes.history("acme")) == 3


@pytest.mark.req("BT-04", "BY-14")
async def test_what_these_tools_changed_again_is_not_said_to_be_changed_by_others(
    opened: OpenWorkspace,
) -> None:
    opened.put("a.txt", b"1", turn=1)
    opened.put("b.txt", b"1", turn=1)
    opened.put("a.txt", b"2", turn=2)
    message = (await opened.undo_turn(1)).result.error
    assert message == (
        "a.txt: changed again since by these tools: a.txt in turn 2. Undo that first. Nothing was undone."
    )
    (opened.root / "b.txt").write_bytes(b"theirs")
    message = (await opened.undo_turn(1)).result.error
    assert message is not None and message.startswith("b.txt, a.txt: changed by something else")
    assert message.endswith("These tools themselves changed a.txt in turn 2.")


@pytest.mark.req("BT-04")
async def test_a_change_of_somebody_else_between_two_of_the_turn_is_not_lost(opened: OpenWorkspace) -> None:
    opened.put("a.txt", b"1", turn=2)
    (opened.root / "a.txt").write_bytes(b"theirs")
    opened.put("a.txt", b"2", turn=2)
    assert (await opened.undo_turn(2)).result.code == "CHANGED_ELSEWHERE"
    assert opened.read("a.txt") == b"2"
    await opened.undo("a.txt")
    assert opened.read("a.txt") == b"theirs"


@pytest.mark.req("BY-14")
async def test_an_undo_can_be_undone_by_redo_and_by_undoing_its_own_turn(opened: OpenWorkspace) -> None:
    opened.put("a.txt", b"a", turn=1)
    opened.put("b.txt", b"b", turn=1)
    await opened.call("undo_turn", {"turn": 1}, turn=2)
    assert opened.read("a.txt") is None
    await opened.call("undo_turn", {}, turn=2)
    assert [opened.read("a.txt"), opened.read("b.txt")] == [b"a", b"b"]
    await opened.call("undo_turn", {"turn": 1}, turn=3)
    await opened.call("undo_turn", {"redo": True}, turn=3)
    assert [opened.read("a.txt"), opened.read("b.txt")] == [b"a", b"b"]
    await opened.call("undo_turn", {"turn": 1}, turn=3)
    await opened.call("undo_turn", {"turn": 1, "redo": True}, turn=4)
    assert [opened.read("a.txt"), opened.read("b.txt")] == [b"a", b"b"]
    assert (await opened.call("undo_turn", {"redo": True}, turn=4)).result.code == "NOTHING_TO_REDO"


@pytest.mark.req("BT-04")
async def test_an_undone_change_of_an_earlier_turn_comes_back_with_the_turn_that_undid_it(
    opened: OpenWorkspace,
) -> None:
    opened.put("a.txt", b"1", turn=1)
    opened.put("a.txt", b"2", turn=2)
    await opened.call("undo_file", {"path": "a.txt", "steps": 2}, turn=2)
    assert opened.read("a.txt") is None
    await opened.call("undo_turn", {}, turn=2)
    assert opened.read("a.txt") == b"1"


@pytest.mark.req("BT-04")
async def test_calls_without_turns_and_sessions_walk_back_one_call_at_a_time(opened: OpenWorkspace) -> None:
    for n, path in enumerate(["a.txt", "b.txt", "b.txt"]):
        opened.put(path, b"%d" % n, turn=None, session=f"call:c{n}", call_id=f"c{n}")
    seen = []
    for _ in range(3):
        await opened.call("undo_turn", {}, turn=None, session=None)
        seen.append([opened.read("a.txt"), opened.read("b.txt")])
    assert seen == [[b"0", b"1"], [b"0", None], [None, None]]
    assert (await opened.call("undo_turn", {}, turn=None, session=None)).result.code == "NOTHING_TO_UNDO"
    for _ in range(3):
        await opened.call("undo_turn", {"redo": True}, turn=None, session=None)
    assert [opened.read("a.txt"), opened.read("b.txt")] == [b"0", b"2"]


@pytest.mark.req("BT-04")
async def test_a_number_without_a_session_means_the_session_that_had_it_last(opened: OpenWorkspace) -> None:
    opened.put("a.txt", b"a", turn=3, session="old")
    opened.put("b.txt", b"b", turn=3, session="new")
    opened.put("c.txt", b"c", turn=4, session="old")
    assert (await opened.call("undo_turn", {"turn": 3}, turn=None, session=None)).ok
    assert [opened.read(one) for one in ("a.txt", "b.txt", "c.txt")] == [b"a", None, b"c"]
    assert (await opened.call("undo_turn", {"turn": 9}, turn=None, session=None)).code == "NOTHING_TO_UNDO"


@pytest.mark.req("BT-04")
async def test_a_session_without_turns_undoes_its_own_last_call_only(opened: OpenWorkspace) -> None:
    opened.put("a.txt", b"a", turn=None)
    opened.put("b.txt", b"b", turn=None, session="another")
    await opened.call("undo_turn", {}, turn=None)
    assert [opened.read("a.txt"), opened.read("b.txt")] == [None, b"b"]


@pytest.mark.req("BT-04")
async def test_an_empty_turn_is_told_which_turn_may_be_meant(opened: OpenWorkspace) -> None:
    opened.put("a.txt", b"a", turn=4)
    out = await opened.call("undo_turn", {}, turn=5)
    assert out.result.code == "NOTHING_TO_UNDO"
    assert "turn=4" in out.to_model() and "bash" in out.to_model()


@pytest.mark.req("BT-04")
async def test_other_tenants_turns_are_out_of_reach(opened: OpenWorkspace) -> None:
    opened.put("a.txt", b"a")
    for args in ({}, {"turn": 1}, {"redo": True}):
        out = await opened.call("undo_turn", args, principal=BO)
        assert out.result.code in ("NOTHING_TO_UNDO", "NOTHING_TO_REDO")
    out = await opened.call("undo_turn", {}, principal=BO, turn=None, session=None)
    assert out.result.code == "NOTHING_TO_UNDO" and opened.read("a.txt") == b"a"


@pytest.mark.req("BY-14")
async def test_a_preview_of_a_turn_changes_nothing(opened: OpenWorkspace) -> None:
    opened.put("a.txt", b"a\n")
    opened.put("pic.png", b"\0\1\2")
    out = await opened.undo_turn(preview=True)
    assert opened.read("a.txt") == b"a\n"
    assert "-a" in out.to_model() and "pic.png: binary, 3 bytes to no file" in out.to_model()


@pytest.mark.req("BT-04", "BY-14")
@pytest.mark.fault("F20")
async def test_a_change_after_the_check_leaves_all_files_as_they_were(opened: OpenWorkspace) -> None:
    (opened.root / "old.sh").write_bytes(b"old")
    (opened.root / "old.sh").chmod(0o750)
    opened.put("a.txt", b"a")
    opened.put("old.sh", b"new")
    opened.put("gone.txt", b"g", turn=2)
    opened.put("gone.txt", None)
    opened.put("made/b.txt", b"b")
    seen: list[str | None] = []

    def meanwhile(path: str | None) -> None:
        seen.append(path)
        if len(seen) == 3:
            (opened.root / "a.txt").write_bytes(b"late")

    opened.workspace.listen(meanwhile)
    out = await opened.undo_turn()
    assert out.result.code == "CHANGED_MEANWHILE"
    assert "a.txt" in out.to_model() and "Nothing was undone." in out.to_model()
    names = ("a.txt", "old.sh", "gone.txt", "made/b.txt")
    assert seen[:3] == ["made/b.txt", "gone.txt", "old.sh"], "so much was undone, and put back"
    assert [opened.read(one) for one in names] == [b"late", b"new", None, b"b"]
    assert (opened.root / "old.sh").stat().st_mode & 0o777 == 0o750
    (opened.root / "a.txt").write_bytes(b"a")
    for held in ([None, b"old", b"g", None], [b"a", b"new", None, b"b"]):
        assert (await opened.undo_turn(1, redo=held[0] is not None)).ok
        assert [opened.read(one) for one in names] == held


@pytest.mark.req("BT-04")
async def test_a_file_that_cannot_be_put_back_is_named_as_undone(opened: OpenWorkspace) -> None:
    opened.put("a.txt", b"a")
    opened.put("b.txt", b"b")

    def meanwhile(path: str | None) -> None:
        (opened.root / "a.txt").write_bytes(b"late")
        (opened.root / "b.txt").write_bytes(b"theirs")

    opened.workspace.listen(meanwhile)
    out = await opened.undo_turn()
    assert out.result.code == "CHANGED_MEANWHILE" and "Undone all the same: b.txt." in out.to_model()
    assert [opened.read("a.txt"), opened.read("b.txt")] == [b"late", b"theirs"]
    assert [one.path for one in opened.changes.history("acme") if one.operation == "undo"] == ["b.txt"]


async def test_the_tools_write_no_blocks_outside(opened: OpenWorkspace) -> None:
    opened.put("d/a.txt", b"a")
    os.rename(opened.root / "d", opened.root / "e")
    os.symlink("/tmp", opened.root / "d")
    out = await opened.undo_turn()
    assert out.result.code == "CHANGED_ELSEWHERE" and opened.read("e/a.txt") == b"a"
