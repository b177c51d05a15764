"""What the file tools say of themselves, and how they share a batch."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail import Call
from handrail.conformance import check
from handrail.ext.compat import extract_tool_file_path
from handrail.toolsets.workspace import PathRules, Workspace
from handrail.toolsets.workspace.files import file_tools
from tests.unit.toolsets.workspace.files.file_caller import ANA, open_files


def _call(tool: str, **args: object) -> Call:
    return Call(tool=tool, args=args, principal=ANA, source="agent")


@pytest.mark.req("BF-01")
@pytest.mark.req("BF-02")
@pytest.mark.req("BF-03")
def test_the_tools_keep_to_the_rules_of_the_house(tmp_path: Path) -> None:
    tools = file_tools(Workspace(tmp_path))
    assert check(tools) == []
    by_name = {one.id: (one.level, one.danger, sorted(one.capabilities), one.concurrency) for one in tools}
    assert by_name == snapshot(
        {
            "read_file": ("read", "safe", ["read"], "parallel"),
            "write_file": ("write", "moderate", ["write"], "by_path"),
            "edit_file": ("write", "moderate", ["write"], "by_path"),
            "file_delete": ("destructive", "dangerous", ["write"], "by_path"),
            "get_file_info": ("read", "safe", ["read"], "parallel"),
        }
    )
    assert all(one.guidance and one.icon and one.category == "workspace" for one in tools)


@pytest.mark.req("BP-06")
def test_the_path_of_a_call_is_found_in_its_arguments() -> None:
    assert extract_tool_file_path({"path": "a.txt", "content": ""}) == "a.txt"
    assert extract_tool_file_path({"file_path": "b.txt", "old_string": "x"}) == "b.txt"
    assert extract_tool_file_path({"pattern": "x"}) is None


class Meeting:
    """A disk at which two changes wait for each other, if they come at the same time at all."""

    def __init__(self, wait: float) -> None:
        self.barrier = threading.Barrier(2)
        self.wait = wait
        self.met = 0
        self.inside = 0
        self.most = 0
        self.lock = threading.Lock()

    def fsync(self, fd: int) -> None:
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        try:
            self.barrier.wait(self.wait)
            self.met += 1
        except threading.BrokenBarrierError:
            self.barrier.reset()
        with self.lock:
            self.inside -= 1


@pytest.mark.req("BP-05")
async def test_calls_that_edit_one_file_at_the_same_time_take_turns(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {n}\n" for n in range(20)))
    (tmp_path / "b.txt").symlink_to("a.txt")
    async with open_files(tmp_path) as caller:
        edits = [
            caller.hr.call(
                "edit_file",
                {"path": "ab"[n % 2] + ".txt", "search": f"line {n}\n", "replace": f"LINE {n}\n"},
                principal=ANA,
                session="s",
            )
            for n in range(20)
        ]
        assert all(out.ok for out in await asyncio.gather(*edits))
    assert (tmp_path / "a.txt").read_text() == "".join(f"LINE {n}\n" for n in range(20))


@pytest.mark.req("BP-05")
async def test_edits_of_different_files_overlap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("one\n")
    async with open_files(tmp_path) as caller:
        disk = Meeting(30)
        monkeypatch.setattr(os, "fsync", disk.fsync)
        calls = [_call("edit_file", path=name, search="one", replace="two") for name in ("a.txt", "b.txt")]
        outcomes = await caller.hr.call_many(calls)
    assert [one.status for one in outcomes] == ["completed", "completed"]
    assert disk.met == 2


@pytest.mark.req("BP-05")
async def test_edits_of_the_same_file_follow_each_other_however_it_is_spelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "link.txt").symlink_to("a.txt")
    spelled = ["a.txt", "./a.txt", str(tmp_path / "a.txt"), "link.txt"]
    async with open_files(tmp_path) as caller:
        disk = Meeting(0.05)
        monkeypatch.setattr(os, "fsync", disk.fsync)
        steps = ["one", "two", "three", "four", "five"]
        calls = [
            _call("edit_file", path=path, search=old, replace=new)
            for path, old, new in zip(spelled, steps[:-1], steps[1:], strict=True)
        ]
        outcomes = await caller.hr.call_many(calls)
    assert [one.status for one in outcomes] == ["completed"] * 4
    assert (tmp_path / "a.txt").read_text() == "five\n"
    assert (disk.met, disk.most) == (0, 1)


@pytest.mark.req("BP-04")
async def test_reads_overlap_and_one_after_a_write_sees_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old\n")
    async with open_files(tmp_path) as caller:
        calls = [
            _call("read_file", path="a.txt"),
            _call("write_file", path="a.txt", content="new\n"),
            _call("read_file", path="./a.txt"),
            _call("edit_file", path="a.txt", search="new", replace="newer"),
            _call("get_file_info", path="a.txt"),
            _call("read_file", path="a.txt"),
        ]
        outcomes = await caller.hr.call_many(calls)
        assert [one.result.data.get("content") for one in outcomes if one.tool == "read_file"] == [
            "old",
            "new",
            "newer",
        ]
        assert outcomes[4].result.data["size"] == 6
        many = await asyncio.gather(*(caller.call("read_file", path="a.txt") for _ in range(50)))
        assert {one.to_model() for one in many} == {"     1\tnewer"}


@pytest.mark.req("BF-07")
async def test_a_file_is_described(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_bytes(b"a = 1\r\nb = 2")
    (tmp_path / "link").symlink_to("src/a.py")
    (tmp_path / "pic.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (tmp_path / "old.txt").write_bytes(b"\xe9t\xe9\n")
    (tmp_path / "src/a.py").chmod(0o640)
    async with open_files(tmp_path) as caller:
        info = await caller.done("get_file_info", path="link")
        info.pop("modified")
        assert info == snapshot(
            {
                "path": "link",
                "type": "file",
                "size": 12,
                "mode": "-rw-r-----",
                "target": "src/a.py",
                "ignored": False,
                "mime": "text/plain",
                "encoding": "utf-8",
                "newline": "crlf",
                "lines": 2,
                "entries": None,
            }
        )
        assert (await caller.done("get_file_info", path="pic.png"))["mime"] == "image/png"
        assert (await caller.done("get_file_info", path="old.txt"))["encoding"] is None
        await caller.done("write_file", path="b.txt", content="")
        folder = await caller.done("get_file_info", path=".")
        assert (folder["type"], folder["entries"]) == ("folder", 5)
        assert (await caller.refused("get_file_info", path="none"))[0] == "FILE_NOT_FOUND"


@pytest.mark.req("BF-07")
async def test_what_listings_leave_out_is_said_to_be_ignored(tmp_path: Path) -> None:
    (tmp_path / "build/deep").mkdir(parents=True)
    (tmp_path / "src").mkdir()
    for name in ("build/deep/a.txt", "src/a.log", "src/keep.log", "a.txt"):
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text("build/\n*.log\n")
    (tmp_path / "src/.gitignore").write_text("!keep.log\n")
    async with open_files(tmp_path) as caller:
        by_name = {
            path: (await caller.done("get_file_info", path=path))["ignored"]
            for path in ("build", "build/deep/a.txt", "src", "src/a.log", "src/keep.log", "a.txt", ".")
        }
    assert [path for path, ignored in by_name.items() if ignored] == [
        "build",
        "build/deep/a.txt",
        "src/a.log",
    ]


@pytest.mark.req("BF-11")
async def test_a_path_that_leads_nowhere_is_answered_with_what_comes_near(tmp_path: Path) -> None:
    (tmp_path / "src/shop").mkdir(parents=True)
    (tmp_path / "src/shop/README.md").touch()
    (tmp_path / "secret.db").touch()
    async with open_files(tmp_path, PathRules(hidden=("secret.db",))) as caller:
        calls: list[tuple[str, dict[str, str]]] = [
            ("read_file", {}),
            ("edit_file", {"search": "a", "replace": "b"}),
            ("file_delete", {}),
            ("get_file_info", {}),
        ]
        for name, args in calls:
            code, text = await caller.refused(name, path="src/shop/readme.md", **args)
            assert code == "FILE_NOT_FOUND"
            assert "Did you mean src/shop/README.md?" in text
        _, text = await caller.refused("read_file", path="src/shops/README.md")
        assert "The folder src/shops does not exist. Did you mean src/shop/README.md?" in text
        _, text = await caller.refused("read_file", path="secret.dc")
        assert "secret.db" not in text
        assert text.endswith("Find it by name with search_files.")
