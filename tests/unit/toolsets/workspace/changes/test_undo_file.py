"""undo_file: one file as it was before its last change, or a refusal that names it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.conformance import check
from handrail.toolsets.workspace import PathRules
from tests.unit.toolsets.workspace.changes.open_workspace import BO, OpenWorkspace


@pytest.fixture
def opened(tmp_path: Path) -> OpenWorkspace:
    return OpenWorkspace(tmp_path)


@pytest.mark.req("BT-03", "FC-02", "FC-03")
async def test_repeated_undo_walks_back_and_redo_walks_forward(opened: OpenWorkspace) -> None:
    states = [None, b"one\n", b"\xef\xbb\xbftwo\r\n", b"\0\xff", None]
    for state in states[1:]:
        opened.put("a.txt", state)
    for state in reversed(states[:-1]):
        assert (await opened.undo("a.txt")).status == "completed"
        assert opened.read("a.txt") == state
    assert (await opened.undo("a.txt")).result.code == "NOTHING_TO_UNDO"
    for state in states[1:]:
        assert (await opened.undo("a.txt", redo=True)).status == "completed"
        assert opened.read("a.txt") == state
    assert (await opened.undo("a.txt", redo=True)).result.code == "NOTHING_TO_REDO"


@pytest.mark.req("BT-03")
async def test_redo_is_offered_only_where_something_was_undone(opened: OpenWorkspace) -> None:
    message = (await opened.undo("a.txt")).result.error or ""
    assert message.endswith("what bash or other programs changed cannot be undone here.")
    opened.put("a.txt", b"one\n")
    await opened.undo("a.txt")
    message = (await opened.undo("a.txt")).result.error or ""
    assert message.endswith("Use redo=true to bring an undo back.")


@pytest.mark.req("BT-03")
async def test_several_steps_are_undone_at_once(opened: OpenWorkspace) -> None:
    for state in (b"1", b"2", b"3"):
        opened.put("a.txt", state)
    out = await opened.undo("a.txt", steps=2)
    assert opened.read("a.txt") == b"1"
    assert out.result.data["files"][0]["changes"] == 2
    await opened.undo("a.txt", steps=2, redo=True)
    assert opened.read("a.txt") == b"3"


@pytest.mark.req("BY-14")
async def test_a_preview_shows_a_diff_and_changes_nothing(opened: OpenWorkspace) -> None:
    opened.put("a.txt", b"one\ntwo\n")
    opened.put("a.txt", b"one\n2\n")
    out = await opened.undo("a.txt", preview=True)
    assert opened.read("a.txt") == b"one\n2\n"
    assert out.to_model() == snapshot("""\
This would undo the last change: a.txt (changed back). Nothing was changed.
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
 one
-2
+two\
""")
    assert len(opened.changes.history("acme")) == 2


@pytest.mark.req("FC-03", "BY-14")
@pytest.mark.fault("F20")
async def test_a_change_from_elsewhere_is_a_conflict_even_with_the_same_size_and_time(
    opened: OpenWorkspace,
) -> None:
    opened.put("a.txt", b"ours")
    file = opened.root / "a.txt"
    found = file.stat()
    file.write_bytes(b"them")
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    out = await opened.undo("a.txt")
    assert (out.status, out.result.code) == ("failed", "CHANGED_ELSEWHERE")
    assert out.result.error is not None and "a.txt" in out.result.error
    assert opened.read("a.txt") == b"them"


@pytest.mark.req("FC-03", "BY-14")
async def test_a_huge_file_in_place_of_ours_is_a_conflict_and_not_read(
    opened: OpenWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened.put("a.txt", b"ours")
    os.truncate(opened.root / "a.txt", 100_000_001)
    monkeypatch.setattr(opened.workspace, "read", None)
    assert (await opened.undo("a.txt")).result.code == "CHANGED_ELSEWHERE"


@pytest.mark.req("FC-03", "BY-14")
async def test_a_new_file_that_somebody_changed_is_not_deleted(opened: OpenWorkspace) -> None:
    opened.put("a.txt", b"ours")
    (opened.root / "a.txt").write_bytes(b"ours, and theirs")
    assert (await opened.undo("a.txt")).result.code == "CHANGED_ELSEWHERE"
    assert opened.read("a.txt") == b"ours, and theirs"


@pytest.mark.req("FC-03")
async def test_a_deleted_file_comes_back_with_its_mode(opened: OpenWorkspace) -> None:
    file = opened.root / "run.sh"
    file.write_bytes(b"#!/bin/sh\n")
    file.chmod(0o750)
    opened.put("run.sh", None)
    await opened.undo("run.sh")
    assert (opened.read("run.sh"), file.stat().st_mode & 0o777) == (b"#!/bin/sh\n", 0o750)


@pytest.mark.req("FC-03")
async def test_a_file_that_appeared_where_one_was_deleted_is_left_alone(opened: OpenWorkspace) -> None:
    opened.put("a.txt", b"ours")
    opened.put("a.txt", None)
    (opened.root / "a.txt").write_bytes(b"theirs")
    assert (await opened.undo("a.txt")).result.code == "CHANGED_ELSEWHERE"
    assert opened.read("a.txt") == b"theirs"


@pytest.mark.req("BY-14")
async def test_folders_go_with_the_file_only_if_they_were_made_for_it_and_are_empty(
    opened: OpenWorkspace,
) -> None:
    (opened.root / "old").mkdir()
    opened.put("old/new/deep/a.txt", b"a")
    await opened.undo("old/new/deep/a.txt")
    assert [one.name for one in opened.root.joinpath("old").iterdir()] == []
    await opened.undo("old/new/deep/a.txt", redo=True)
    (opened.root / "old/new/theirs.txt").write_bytes(b"theirs")
    await opened.undo("old/new/deep/a.txt")
    assert sorted(one.name for one in opened.root.joinpath("old/new").iterdir()) == ["theirs.txt"]


@pytest.mark.req("BY-14")
async def test_a_folder_that_somebody_made_meanwhile_stays(opened: OpenWorkspace) -> None:
    opened.put("new/a.txt", b"a")
    await opened.undo("new/a.txt")
    (opened.root / "new").mkdir()
    await opened.undo("new/a.txt", redo=True)
    await opened.undo("new/a.txt")
    assert (opened.root / "new").is_dir() and opened.read("new/a.txt") is None


@pytest.mark.req("BY-14")
async def test_a_folder_that_took_the_place_of_the_one_that_was_made_stays(opened: OpenWorkspace) -> None:
    opened.put("new/a.txt", b"a")
    (opened.root / "new").rename(opened.root / "moved")
    (opened.root / "new").mkdir()
    (opened.root / "moved/a.txt").rename(opened.root / "new/a.txt")
    assert (await opened.undo("new/a.txt")).ok
    assert (opened.root / "new").is_dir() and opened.read("new/a.txt") is None


@pytest.mark.req("FC-03")
async def test_a_link_in_the_place_of_a_folder_is_not_followed(opened: OpenWorkspace) -> None:
    opened.put("one/a.txt", b"a")
    (opened.root / "one").rename(opened.root / "two")
    (opened.root / "one").symlink_to("two")
    assert (await opened.undo("two/a.txt")).result.code == "NOTHING_TO_UNDO"
    assert (await opened.undo("one/a.txt")).result.code == "NOTHING_TO_UNDO"
    assert opened.read("two/a.txt") == b"a"


@pytest.mark.req("BT-03")
async def test_a_file_is_undone_by_any_of_its_names(opened: OpenWorkspace) -> None:
    (opened.root / "a.txt").write_bytes(b"1")
    (opened.root / "link").symlink_to("a.txt")
    assert (await opened.call("write_file", {"path": "link", "content": "2"})).ok
    assert (await opened.undo("link")).ok
    assert opened.read("a.txt") == b"1" and (opened.root / "link").is_symlink()
    assert (await opened.undo(str(opened.root / "a.txt"), redo=True)).ok
    assert opened.read("a.txt") == b"2"


@pytest.mark.req("BT-03")
async def test_only_changes_of_the_own_tenant_are_undone(opened: OpenWorkspace) -> None:
    opened.put("a.txt", b"acme")
    out = await opened.call("undo_file", {"path": "a.txt"}, principal=BO)
    assert out.result.code == "NOTHING_TO_UNDO"
    opened.put("a.txt", b"other", tenant="other")
    assert (await opened.undo("a.txt")).result.code == "CHANGED_ELSEWHERE"
    assert (await opened.call("undo_file", {"path": "a.txt"}, principal=BO)).status == "completed"
    assert opened.read("a.txt") == b"acme"


@pytest.mark.req("FC-03")
async def test_a_write_of_the_same_bytes_is_no_step_back(opened: OpenWorkspace) -> None:
    opened.put("a.txt", b"1")
    opened.put("a.txt", b"2")
    opened.put("a.txt", b"2")
    await opened.undo("a.txt")
    assert opened.read("a.txt") == b"1"


@pytest.mark.req("BY-14")
async def test_what_was_written_over_an_undo_is_not_lost_to_a_redo(opened: OpenWorkspace) -> None:
    opened.put("a.txt", b"1")
    opened.put("a.txt", b"2")
    await opened.undo("a.txt")
    opened.put("a.txt", b"3")
    assert (await opened.undo("a.txt", redo=True)).result.code == "NOTHING_TO_REDO"
    assert opened.read("a.txt") == b"3"


@pytest.mark.req("BY-14")
async def test_it_is_said_that_what_a_shell_did_cannot_be_undone(opened: OpenWorkspace) -> None:
    (opened.root / "a.txt").write_bytes(b"by bash")
    out = await opened.undo("a.txt")
    assert "bash" in out.to_model() and opened.read("a.txt") == b"by bash"


async def test_paths_outside_are_refused(opened: OpenWorkspace) -> None:
    assert (await opened.undo("../a.txt")).result.code == "OUTSIDE_WORKSPACE"
    assert (await opened.undo("gone/../../a.txt")).result.code == "FILE_NOT_FOUND"


async def test_both_tools_keep_the_rules_of_the_house(opened: OpenWorkspace) -> None:
    for name in ("undo_file", "undo_turn"):
        tool = opened.handrail.registry.get(name)
        assert tool is not None
        assert check([tool]) == []


@pytest.mark.req("BY-14")
@pytest.mark.fault("F19", "F20")
@pytest.mark.parametrize("way", ["a link to nothing", "a link in the place of its folder", "a folder"])
async def test_a_deleted_file_does_not_come_back_somewhere_else(opened: OpenWorkspace, way: str) -> None:
    opened.put("d/a.txt", b"a", turn=9)
    opened.put("d/a.txt", None)
    (opened.root / "e").mkdir()
    if way == "a folder":
        (opened.root / "d/a.txt").mkdir()
    elif way == "a link to nothing":
        (opened.root / "d/a.txt").symlink_to("../e/a.txt")
    else:
        (opened.root / "d").rmdir()
        (opened.root / "d").symlink_to("e")
    for preview in (True, False):
        out = await opened.undo_turn(preview=preview)
        assert out.result.code == "CHANGED_ELSEWHERE" and "d/a.txt" in out.to_model()
    assert not list((opened.root / "e").iterdir())


@pytest.mark.req("BY-14")
async def test_a_preview_refuses_what_the_undo_would_refuse(tmp_path: Path) -> None:
    OpenWorkspace(tmp_path).put("settings.toml", b"a = 1\n")
    opened = OpenWorkspace(tmp_path)
    opened.workspace.path_rules = PathRules(protected=("settings.toml",))
    for preview in (True, False):
        assert (await opened.undo("settings.toml", preview=preview)).code == "PROTECTED_PATH"
    assert opened.read("settings.toml") == b"a = 1\n"
