"""The file cache: quick when nothing changed, and never stale."""

from __future__ import annotations

import os
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from handrail import Context, Handrail, Policy, Principal, Result, Tool
from handrail.toolsets.workspace import Workspace
from handrail.toolsets.workspace.file_cache import FileCache
from handrail.toolsets.workspace.files.read_file import read_file
from tests.unit.toolsets.workspace.workspace_agents import WorkspaceAgents

LATER = 10**12
ANA = Principal(tenant="acme", user="ana", agent="ada")


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkspaceAgents:
    """Where every file is old enough to be kept."""
    monkeypatch.setattr("handrail.toolsets.workspace.file_cache._UNSETTLED", -LATER)
    return WorkspaceAgents(tmp_path)


def old(root: Path, name: str, data: bytes) -> None:
    (root / name).write_bytes(data)


@pytest.mark.req("EX-11", "EX-13", "EX-22", "AG-12")
async def test_siblings_share_what_was_read_and_each_range_by_itself(agents: WorkspaceAgents) -> None:
    old(agents.root, "a.txt", b"1\n2\n3\n")
    first = await agents.call("read_file", path="a.txt")
    again = await agents.call("read", file_path="a.txt", agent="bob")
    part = await agents.call("read_file", path="a.txt", offset=2)
    assert "cached" not in first.result.metadata and "cached" not in part.result.metadata
    assert again.result.metadata["cached"] is True
    assert again.to_model() == first.to_model() and part.to_model() != first.to_model()
    assert again.result.data == first.result.data


@pytest.mark.req("EX-22")
@pytest.mark.parametrize("change", ["write_file", "edit_file", "undo_file", "undo_turn", "file_delete"])
async def test_what_a_tool_changed_is_read_anew(agents: WorkspaceAgents, change: str) -> None:
    await agents.call("write_file", path="a.txt", content="old\n")
    await agents.call("write_file", path="a.txt", content="one\n")
    await agents.call("read_file", path="./a.txt")
    assert (await agents.call("read_file", path="./a.txt")).result.metadata["cached"]
    more: dict[str, dict[str, Any]] = {
        "write_file": {"path": "a.txt", "content": "two\n"},
        "edit_file": {"path": "a.txt", "search": "one", "replace": "two"},
        "undo_file": {"path": "a.txt"},
        "undo_turn": {"turn": 2},
        "file_delete": {"path": "a.txt"},
    }
    assert (await agents.call(change, **more[change])).status == "completed"
    out = await agents.call("read_file", path="./a.txt")
    if change == "file_delete":
        assert out.result.code == "FILE_NOT_FOUND"
    else:
        assert "cached" not in out.result.metadata
        assert out.result.data["content"].strip() == (agents.root / "a.txt").read_text().strip() != "one"


@pytest.mark.req("EX-22")
async def test_what_others_changed_is_read_anew_even_with_the_same_size_and_time(
    agents: WorkspaceAgents,
) -> None:
    old(agents.root, "a.txt", b"one\n")
    found = (agents.root / "a.txt").stat()
    await agents.call("read_file", path="a.txt")
    (agents.root / "a.txt").write_bytes(b"two\n")
    os.utime(agents.root / "a.txt", ns=(found.st_atime_ns, found.st_mtime_ns))
    assert (await agents.call("read_file", path="a.txt")).result.data["content"] == "two"


@pytest.mark.req("EX-22")
async def test_a_link_that_leads_elsewhere_now_is_followed_anew(agents: WorkspaceAgents) -> None:
    old(agents.root, "a.txt", b"a\n")
    old(agents.root, "b.txt", b"b\n")
    (agents.root / "link").symlink_to("a.txt")
    await agents.call("read_file", path="link")
    (agents.root / "link").unlink()
    (agents.root / "link").symlink_to("b.txt")
    assert (await agents.call("read_file", path="link")).result.data["content"] == "b"


@pytest.mark.req("EX-22")
async def test_when_anything_may_have_changed_everything_is_read_anew(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    cache = FileCache(workspace, now=lambda: LATER * LATER)
    async with Handrail([read_file(workspace)], hooks=[cache]) as hr:
        for name in ("a.txt", "b.txt"):
            old(tmp_path, name, b"1\n")
            await hr.call("read_file", {"path": name}, principal=ANA)
        assert len(cache) == 2
        workspace.notify_changed("a.txt")
        assert len(cache) == 1
        workspace.notify_changed(None)
        assert len(cache) == 0 and cache.size == 0


@pytest.mark.req("EX-22")
async def test_a_file_that_may_still_change_within_its_time_is_not_kept(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    now = [time.time_ns()]
    cache = FileCache(workspace, now=lambda: now[0])
    async with Handrail([read_file(workspace)], hooks=[cache]) as hr:
        old(tmp_path, "a.txt", b"1\n")
        found = (tmp_path / "a.txt").stat()
        os.utime(tmp_path / "a.txt", ns=(found.st_atime_ns, time.time_ns() + LATER))
        await hr.call("read_file", {"path": "a.txt"}, principal=ANA)
        assert len(cache) == 0
        os.utime(tmp_path / "a.txt", ns=(0, 0))
        now[0] = (tmp_path / "a.txt").stat().st_ctime_ns + 1
        await hr.call("read_file", {"path": "a.txt"}, principal=ANA)
        assert len(cache) == 0, "its times were changed just now"
        now[0] += LATER
        await hr.call("read_file", {"path": "a.txt"}, principal=ANA)
        assert len(cache) == 1


@pytest.mark.req("EX-11")
async def test_the_cache_is_bounded_and_lets_go_what_was_not_read_for_longest(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    cache = FileCache(workspace, most=24_000, now=lambda: LATER * LATER)
    async with Handrail([read_file(workspace)], hooks=[cache]) as hr:
        for n in range(20):
            old(tmp_path, f"{n}.txt", b"x" * 100)
            await hr.call("read_file", {"path": f"{n}.txt"}, principal=ANA)
            out = await hr.call("read_file", {"path": "0.txt"}, principal=ANA)
            assert out.result.metadata["cached"], "what is read again and again stays"
        assert cache.size <= 24_000 and 2 <= len(cache) <= 10
        out = await hr.call("read_file", {"path": "0.txt"}, principal=ANA)
        assert out.result.metadata["cached"]
        out = await hr.call("read_file", {"path": "1.txt"}, principal=ANA)
        assert "cached" not in out.result.metadata


@pytest.mark.req("EX-11")
async def test_reads_that_fail_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handrail.toolsets.workspace.file_cache._OPEN_READS", 3)
    old(tmp_path, "a.txt", b"1\n")
    workspace = Workspace(tmp_path)
    cache = FileCache(workspace, now=lambda: LATER * LATER)
    async with Handrail([read_file(workspace)], hooks=[cache]) as hr:
        for _ in range(5):
            out = await hr.call("read_file", {"path": "a.txt", "offset": 9}, principal=ANA)
            assert out.status == "failed"
    assert len(cache) == 0 and len(cache._reading) == 3


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
async def test_what_a_caller_does_to_a_result_does_not_reach_the_next(agents: WorkspaceAgents) -> None:
    old(agents.root, "a.txt", b"1\n")
    await agents.call("read_file", path="a.txt")
    (await agents.call("read_file", path="a.txt")).result.data["content"] = "broken"
    assert (await agents.call("read_file", path="a.txt")).result.data["content"] == "1"


class Meddling:
    """A hook that does something before the body, or after it."""

    def __init__(self, before: Callable[[], None] | None = None, after: Callable[[], None] | None = None):
        self._before, self._after = before, after

    async def before(self, tool: Tool, values: Any, ctx: Context, /) -> None:
        if self._before is not None:
            self._before()

    async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
        if self._after is not None:
            self._after()
        return result


@pytest.mark.req("EX-22")
async def test_what_was_read_while_a_link_led_elsewhere_for_a_moment_is_not_kept(tmp_path: Path) -> None:
    old(tmp_path, "a.txt", b"a\n")
    old(tmp_path, "b.txt", b"b\n")
    moments = [tmp_path / "b.txt", tmp_path / "a.txt"]

    def lead() -> None:
        if moments:
            (tmp_path / "link").unlink(missing_ok=True)
            (tmp_path / "link").symlink_to(moments.pop(0).name)

    (tmp_path / "link").symlink_to("a.txt")
    workspace = Workspace(tmp_path)
    cache = FileCache(workspace, now=lambda: LATER * LATER)
    async with Handrail([read_file(workspace)], hooks=[Meddling(after=lead), cache, Meddling(lead)]) as hr:
        out = await hr.call("read_file", {"path": "link"}, principal=ANA)
        assert out.result.data["content"] == "b"
        for _ in range(2):
            out = await hr.call("read_file", {"path": "link"}, principal=ANA)
            assert out.result.data["content"] == "a"
        assert out.result.metadata["cached"]


@pytest.mark.req("EX-22")
async def test_what_changed_while_it_was_read_is_read_anew(tmp_path: Path) -> None:
    old(tmp_path, "a.txt", b"one\n")
    change = Meddling(after=lambda: old(tmp_path, "a.txt", b"two\n"))
    workspace = Workspace(tmp_path)
    cache = FileCache(workspace, now=lambda: LATER * LATER)
    async with Handrail([read_file(workspace)], hooks=[change, cache]) as hr:
        outcomes = [await hr.call("read_file", {"path": "a.txt"}, principal=ANA) for _ in range(2)]
        assert [out.result.data["content"] for out in outcomes] == ["one", "two"]


@pytest.mark.req("EX-11")
async def test_one_large_file_does_not_push_out_all_others(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    cache = FileCache(workspace, most=40_000, now=lambda: LATER * LATER)
    async with Handrail([read_file(workspace)], hooks=[cache]) as hr:
        for name, size in (("a.txt", 10), ("large.txt", 10_000)):
            old(tmp_path, name, b"x" * size)
            await hr.call("read_file", {"path": name}, principal=ANA)
        assert len(cache) == 1
        out = await hr.call("read_file", {"path": "a.txt"}, principal=ANA)
        assert out.result.metadata["cached"]


@pytest.mark.req("EX-11")
async def test_the_bound_holds_in_bytes_however_long_a_path_is(tmp_path: Path) -> None:
    path = "/".join(["d" * 200] * 15) + "/a.txt"
    (tmp_path / path).parent.mkdir(parents=True)
    old(tmp_path, path, b"1\n")
    workspace = Workspace(tmp_path)
    cache = FileCache(workspace, now=lambda: LATER * LATER)
    async with Handrail([read_file(workspace)], hooks=[cache]) as hr:
        await hr.call("read_file", {"path": path}, principal=ANA)
        tracemalloc.start()
        try:
            for n in range(60):
                args = {"path": f"./{path}", "limit": n + 1}
                assert (await hr.call("read_file", args, principal=ANA)).ok
            held = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
    assert len(cache) == 61 and held <= cache.size
