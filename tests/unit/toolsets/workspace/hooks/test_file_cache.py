"""The file cache: quick when nothing changed, and never stale."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from handrail import Handrail, Policy, Principal
from handrail.toolsets.workspace import Workspace
from handrail.toolsets.workspace.files.read_file import read_file
from handrail.toolsets.workspace.hooks.file_cache import FileCache
from tests.unit.toolsets.workspace.hooks.houses import House

LATER = 10**12
ANA = Principal(tenant="acme", user="ana", agent="ada")


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """Where every file is old enough to be kept."""
    monkeypatch.setattr("handrail.toolsets.workspace.hooks.file_cache._UNSETTLED", -LATER)
    return House(tmp_path)


def old(root: Path, name: str, data: bytes) -> None:
    (root / name).write_bytes(data)


@pytest.mark.req("EX-11", "EX-13", "AG-12")
async def test_siblings_share_what_was_read_and_each_range_by_itself(house: House) -> None:
    old(house.root, "a.txt", b"1\n2\n3\n")
    first = await house.call("read_file", path="a.txt")
    again = await house.call("read", file_path="a.txt", agent="bob")
    part = await house.call("read_file", path="a.txt", offset=2)
    assert "cached" not in first.result.metadata and "cached" not in part.result.metadata
    assert again.result.metadata["cached"] is True
    assert again.to_model() == first.to_model() and part.to_model() != first.to_model()
    assert again.result.data == first.result.data


@pytest.mark.req("EX-22")
@pytest.mark.parametrize("change", ["write_file", "edit_file", "undo_file", "undo_turn", "file_delete"])
async def test_what_a_tool_changed_is_read_anew(house: House, change: str) -> None:
    await house.call("write_file", path="a.txt", content="old\n")
    await house.call("write_file", path="a.txt", content="one\n")
    await house.call("read_file", path="./a.txt")
    assert (await house.call("read_file", path="./a.txt")).result.metadata["cached"]
    more: dict[str, dict[str, Any]] = {
        "write_file": {"path": "a.txt", "content": "two\n"},
        "edit_file": {"path": "a.txt", "search": "one", "replace": "two"},
        "undo_file": {"path": "a.txt"},
        "undo_turn": {"turn": 2},
        "file_delete": {"path": "a.txt"},
    }
    assert (await house.call(change, **more[change])).status == "completed"
    out = await house.call("read_file", path="./a.txt")
    if change == "file_delete":
        assert out.result.code == "FILE_NOT_FOUND"
    else:
        assert "cached" not in out.result.metadata
        assert out.result.data["content"].strip() == (house.root / "a.txt").read_text().strip() != "one"


@pytest.mark.req("EX-22")
async def test_what_others_changed_is_read_anew_even_with_the_same_size_and_time(house: House) -> None:
    old(house.root, "a.txt", b"one\n")
    found = (house.root / "a.txt").stat()
    await house.call("read_file", path="a.txt")
    (house.root / "a.txt").write_bytes(b"two\n")
    os.utime(house.root / "a.txt", ns=(found.st_atime_ns, found.st_mtime_ns))
    assert (await house.call("read_file", path="a.txt")).result.data["content"] == "two"


@pytest.mark.req("EX-22")
async def test_a_link_that_leads_elsewhere_now_is_followed_anew(house: House) -> None:
    old(house.root, "a.txt", b"a\n")
    old(house.root, "b.txt", b"b\n")
    (house.root / "link").symlink_to("a.txt")
    await house.call("read_file", path="link")
    (house.root / "link").unlink()
    (house.root / "link").symlink_to("b.txt")
    assert (await house.call("read_file", path="link")).result.data["content"] == "b"


@pytest.mark.req("EX-22")
async def test_after_a_shell_command_everything_is_read_anew(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    cache = FileCache(workspace, now=lambda: LATER * LATER)
    async with Handrail([read_file(workspace)], hooks=[cache]) as hr:
        for name in ("a.txt", "b.txt"):
            old(tmp_path, name, b"1\n")
            await hr.call("read_file", {"path": name}, principal=ANA)
        assert len(cache) == 2
        workspace.tell("a.txt")
        assert len(cache) == 1
        workspace.tell(None)
        assert len(cache) == 0 and cache.size == 0


@pytest.mark.req("EX-22")
async def test_a_file_that_may_still_change_within_its_time_is_not_kept(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    cache = FileCache(workspace, now=time.time_ns)
    async with Handrail([read_file(workspace)], hooks=[cache]) as hr:
        old(tmp_path, "a.txt", b"1\n")
        found = (tmp_path / "a.txt").stat()
        os.utime(tmp_path / "a.txt", ns=(found.st_atime_ns, time.time_ns() + LATER))
        await hr.call("read_file", {"path": "a.txt"}, principal=ANA)
        assert len(cache) == 0


@pytest.mark.req("EX-11")
async def test_the_cache_is_bounded_and_lets_go_what_was_not_read_for_longest(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    cache = FileCache(workspace, most=12_000, now=lambda: LATER * LATER)
    async with Handrail([read_file(workspace)], hooks=[cache]) as hr:
        for n in range(20):
            old(tmp_path, f"{n}.txt", b"x" * 100)
            await hr.call("read_file", {"path": f"{n}.txt"}, principal=ANA)
            await hr.call("read_file", {"path": "0.txt"}, principal=ANA)
        assert cache.size <= 12_000 and 2 <= len(cache) <= 10
        out = await hr.call("read_file", {"path": "0.txt"}, principal=ANA)
        assert out.result.metadata["cached"]
        out = await hr.call("read_file", {"path": "1.txt"}, principal=ANA)
        assert "cached" not in out.result.metadata


@pytest.mark.req("EX-11")
async def test_who_may_not_read_gets_nothing_from_the_cache(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    cache = FileCache(workspace, now=lambda: LATER * LATER)
    agents = {"ada": Policy(), "eve": Policy(deny=("read_file",))}
    async with Handrail([read_file(workspace)], hooks=[cache], agents=agents) as hr:
        old(tmp_path, "a.txt", b"1\n")
        await hr.call("read_file", {"path": "a.txt"}, principal=ANA)
        eve = Principal(tenant="acme", user="ana", agent="eve")
        assert (await hr.call("read_file", {"path": "a.txt"}, principal=eve)).status == "refused"
        for who, cached in ((ANA, True), (Principal(tenant="other", user="bo", agent="ada"), False)):
            out = await hr.call("read_file", {"path": "a.txt"}, principal=who)
            assert out.ok and ("cached" in out.result.metadata) is cached


@pytest.mark.req("EX-13")
async def test_what_a_caller_does_to_a_result_does_not_reach_the_next(house: House) -> None:
    old(house.root, "a.txt", b"1\n")
    await house.call("read_file", path="a.txt")
    (await house.call("read_file", path="a.txt")).result.data["content"] = "broken"
    assert (await house.call("read_file", path="a.txt")).result.data["content"] == "1"
