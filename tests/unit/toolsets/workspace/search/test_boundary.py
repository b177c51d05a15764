"""Nothing outside of the workspace is found, and nothing in it holds a search up for ever."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from handrail import Handrail
from handrail.ext.tools import Signal
from handrail.toolsets.workspace import PathRules, Workspace
from handrail.toolsets.workspace.search import search_tools
from handrail.toolsets.workspace.search.finder import Finder, search_scope
from handrail.toolsets.workspace.search.query import SearchQuery, translate_regex
from tests.harness.poll import poll_until
from tests.unit.toolsets.workspace.search.file_trees import make_files
from tests.unit.toolsets.workspace.search.search_caller import (
    ANA,
    ENGINES,
    Caller,
    open_search,
    pattern_for,
    ripgrep_program,
)

each_engine = pytest.mark.parametrize("engine", ENGINES)


@pytest.mark.fault("F19")
@pytest.mark.req("BF-05", "BF-06", "BF-07")
@each_engine
async def test_links_lead_nowhere(engine: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    make_files(tmp_path, ["outside/secret.txt", "root-evil/secret.txt", "root/in/real.txt"], "hit\n")
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "file.txt").symlink_to(tmp_path / "outside/secret.txt")
    (root / "loop").symlink_to(root)
    (root / "again").symlink_to("again")
    (root / "twin").symlink_to("in")
    async with open_search(root, engine) as caller:
        assert await caller.output("grep", pattern="hit") == "in/real.txt:1: hit"
        assert await caller.output("glob", pattern="**/*.txt") == "in/real.txt"
        assert await caller.output("search_files", query="txt") == "in/real.txt"
        listed = await caller.output("list_files", depth=5)
        assert "secret" not in listed and "folder (link)" in listed and "again (link)" in listed
        assert await caller.output("grep", pattern="hit", path="twin") == "in/real.txt:1: hit"
        for path in ("folder", "file.txt", "../root-evil", "/etc", "again"):
            for name, args in (("grep", {"pattern": "hit"}), ("glob", {"pattern": "*"}), ("list_files", {})):
                code, _ = await caller.refused(name, path=path, **args)
                assert code in ("OUTSIDE_WORKSPACE", "INVALID_PATH")
        assert (await caller.refused("glob", pattern="../*"))[0] == "INVALID_PATTERN"


@contextmanager
def swapping(root: Path) -> Iterator[None]:
    """A folder of the workspace becomes a link to the outside and a folder again, all the time."""
    done = threading.Event()
    (root.parent / "link").symlink_to(root.parent / "outside")

    def swap() -> None:
        while not done.is_set():
            os.rename(root / "in", root.parent / "kept")
            os.rename(root.parent / "link", root / "in")
            os.rename(root / "in", root.parent / "link")
            os.rename(root.parent / "kept", root / "in")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@pytest.mark.fault("F19")
@each_engine
def test_a_link_that_is_swapped_in_shows_nothing_of_the_outside(engine: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    make_files(tmp_path, ["outside/a.txt", "outside/b.txt"], "outside\n")
    make_files(tmp_path, ["root/in/a.txt", "root/z.txt"], "inside\n")
    workspace = Workspace(root)
    try:
        finder = Finder(workspace, ripgrep_program())
        query = SearchQuery(translate_regex(pattern_for(engine, "side")))
        with swapping(root):
            for _ in range(12):
                tally, by = finder.search(query, search_scope(workspace, "."), Signal())
                assert tally.files.keys() <= {"in/a.txt", "z.txt"}
                for _, lines in finder.lines(by, query, ["in/a.txt", "in/b.txt"], Signal(), (0, 0), 5):
                    assert [line.text for line in lines] == ["inside"]
                found = finder.stats(["in/a.txt", "in/b.txt"], Signal())
                assert {path for path, _ in found} <= {"in/a.txt"}
    finally:
        workspace.close()


@pytest.mark.req("BF-04", "BF-05", "BF-06")
@each_engine
async def test_what_is_hidden_and_what_is_ours_is_not_there(engine: str, tmp_path: Path) -> None:
    make_files(
        tmp_path, [".handrail/history", "keys/a.pem", ".git/config", "sub/.git/config", ".env"], "hit\n"
    )
    make_files(tmp_path, ["sub/.handrail-9-1"], "hit\n")
    async with open_search(tmp_path, engine, PathRules(hidden=("keys",))) as caller:
        for include_ignored in (False, True):
            assert (
                await caller.output("grep", pattern="hit", include_ignored=include_ignored) == ".env:1: hit"
            )
            assert await caller.output("glob", pattern="**", include_ignored=include_ignored) == ".env"
            listed = await caller.output("list_files", depth=3, include_ignored=include_ignored)
            assert listed == ".env (4 B)\nsub/"
        assert (await caller.refused("grep", pattern="hit", path="keys"))[0] == "FILE_NOT_FOUND"
        assert (await caller.refused("list_files", path=".handrail"))[0] == "FILE_NOT_FOUND"


@pytest.mark.fault("F19")
@each_engine
async def test_odd_names_are_found_and_written_out(engine: str, tmp_path: Path) -> None:
    for name in (b"\xff.txt", b"-rf", b"new\nline", "ä ö".encode()):
        make_files(tmp_path, [os.fsdecode(name)], "hit\n")
    async with open_search(tmp_path, engine) as caller:
        assert await caller.output("grep", pattern="hit") == (
            "./-rf:1: hit\nnew\\nline:1: hit\nä ö:1: hit\n\\xff.txt:1: hit"
        )
        assert (await caller.output("glob", pattern="*")).split("\n") == [
            "./-rf",
            "new\\nline",
            "ä ö",
            "\\xff.txt",
        ]
        assert "\\xff.txt (4 B)" in await caller.output("list_files")
        assert await caller.output("grep", pattern="hit", path="./-rf") == "./-rf:1: hit"


@each_engine
async def test_pipes_and_closed_folders_do_not_hold_a_search_up(engine: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["a.txt"], "hit\n")
    os.mkfifo(tmp_path / "pipe")
    async with open_search(tmp_path, engine) as caller:
        assert await caller.output("grep", pattern="hit") == "a.txt:1: hit"
        assert await caller.output("glob", pattern="*") == "a.txt"
        assert "pipe (other)" in await caller.output("list_files")
        assert (await caller.refused("grep", pattern="hit", path="pipe"))[0] == "NOT_A_FILE"


def workers() -> list[psutil.Process]:
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if "regex_worker.py" in " ".join(process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


_SLOW = {"pattern": "(a+)+$(?=x)"}
"""Two to the power of forty ways to try."""


@pytest.mark.req("BF-06")
async def test_a_pattern_that_would_run_for_ever_is_stopped_and_explained(tmp_path: Path) -> None:
    make_files(tmp_path, ["a.txt"], "a" * 40 + "b\n")
    workspace = Workspace(tmp_path)
    try:
        tools = search_tools(workspace, Finder(workspace, ripgrep_program(), seconds=1.0))
        async with Handrail(tools) as hr:
            code, words = await Caller(hr).refused("grep", **_SLOW)
            assert code == "SEARCH_TOO_SLOW"
            assert "simpler pattern" in words
            assert await Caller(hr).output("grep", pattern="(a+)+b$") == f"a.txt:1: {'a' * 40}b"
    finally:
        workspace.close()
    assert not workers()


@pytest.mark.fault("F11")
async def test_a_search_that_is_cancelled_leaves_no_process_behind(tmp_path: Path) -> None:
    make_files(tmp_path, ["a.txt"], "a" * 40 + "b\n")
    workspace = Workspace(tmp_path)
    try:
        async with Handrail(
            search_tools(workspace, Finder(workspace, ripgrep_program(), seconds=900.0))
        ) as hr:
            running = asyncio.create_task(hr.call("grep", _SLOW, principal=ANA))
            await asyncio.to_thread(poll_until, workers)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            await asyncio.to_thread(poll_until, lambda: not workers())
    finally:
        for worker in workers():
            worker.kill()
        workspace.close()
