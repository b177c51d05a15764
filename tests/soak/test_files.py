"""The file tools in the long run: large files, awkward edits, many crashes, links that never rest."""

from __future__ import annotations

import os
import random
import signal
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail import ToolError
from handrail.toolsets.workspace.files.diff import diff
from handrail.toolsets.workspace.files.edits import Edit, apply_edits
from tests.acceptance.files.crash_check import PRELOAD, CrashCheck
from tests.acceptance.files.dying_process import CHANGES, NEW, OLD
from tests.acceptance.files.test_paths import furnished, swapped_links_lead_nowhere_else
from tests.harness.fork_server import ForkServer
from tests.harness.poll import poll_until
from tests.unit.toolsets.workspace.files.file_caller import open_files

_POINTS = 12
_KILLS = 15
_ROUNDS = 100


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    with ForkServer(*PRELOAD, "tests.acceptance.files.rewriter") as fork_server:
        yield fork_server


@pytest.mark.fault("F21")
@pytest.mark.parametrize("name", CHANGES)
def test_a_process_that_is_killed_at_any_line_leaves_the_old_file_or_the_new_one(
    fork_server: ForkServer, name: str
) -> None:
    crashes = CrashCheck(fork_server)
    for at_line in crashes.draw(name, 2_100, _POINTS):
        crashes.crash(name, at_line)


@pytest.mark.fault("F21")
def test_a_process_that_is_killed_at_any_moment_leaves_the_old_file_or_the_new_one(
    fork_server: ForkServer, tmp_path: Path
) -> None:
    chance = random.Random(21)
    file = tmp_path / "a.txt"
    file.write_text(OLD)
    seen = set()
    ready = tmp_path / "ready"
    for _ in range(_KILLS):
        ready.unlink(missing_ok=True)
        ended = fork_server.start(
            "tests.acceptance.files.rewriter:rewrite", root=str(tmp_path), ready=str(ready)
        )
        pid = int(poll_until(lambda: ready.exists() and ready.read_text()))
        for _ in range(chance.randrange(10_000)):  # the moment is what is drawn
            os.stat(file)
        os.kill(pid, signal.SIGKILL)
        assert ended.result(50) == -signal.SIGKILL
        found = file.read_text()
        assert found in (OLD, NEW)
        seen.add(found)
        assert sorted(os.listdir(tmp_path)) == [".handrail", "a.txt", "ready"]
    assert seen == {OLD, NEW}


@pytest.mark.fault("F19")
async def test_links_that_never_rest_lead_nowhere_else(tmp_path: Path) -> None:
    await swapped_links_lead_nowhere_else(furnished(tmp_path), _ROUNDS)


def _fill(path: Path, lines: int) -> None:
    """A hundred megabytes in so many lines, each with its number."""
    width = 100_000_000 // lines
    with path.open("wb") as file:
        for first in range(0, lines, 20_000):
            rows = range(first, min(lines, first + 20_000))
            file.write(b"".join(b"%d " % row + b"x" * (width - 10) + b"\n" for row in rows))


@pytest.mark.req("BF-01")
@pytest.mark.parametrize("lines", [1_600_000, 1])
async def test_a_file_of_a_hundred_megabytes_is_read_by_range_without_loading_it(
    tmp_path: Path, lines: int
) -> None:
    _fill(tmp_path / "large.txt", lines)
    async with open_files(tmp_path) as caller:
        await caller.done("read_file", path="large.txt", limit=1)
        tracemalloc.start()
        try:
            if lines > 1:
                data = await caller.done("read_file", path="large.txt", offset=1_500_001, limit=3)
                assert data["content"].startswith("1500000 x")
                assert (data["lines"], data["next_offset"]) == (lines, 1_500_004)
            else:
                data = await caller.done("read_file", path="large.txt")
                assert data["content"].startswith("0 x")
                assert "[cut: this line has" in data["content"]
            info = await caller.done("get_file_info", path="large.txt")
            assert info["lines"] == lines
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert most < 12_000_000


_RANDOM = random.Random(1)
_TEXTS = {
    "code": "\n".join("".join(_RANDOM.choice("abcdef ()=") for _ in range(40)) for _ in range(25_000)),
    "braces": "}\n" * 500_000,
    "same lines": "    x = y\n" * 100_000,
    "one line": "word " * 200_000,
    "long lines": ("word " * 2_000 + "\n") * 100,
}
_SEARCHES = {
    "changed block": "\n".join(_TEXTS["code"].split("\n")[100:150]).replace("a", "b"),
    "braces and more": "}\n" * 49 + "x",
    "shifted lines": "  x = y\n" * 49 + "z",
    "almost the lines": " x = y\n" * 49 + " x = z\n",
    "foreign lines": "    foo = bar(baz)\n" * 50,
    "anchored": "    x = y\n" + "    x = z\n" * 48 + "    x = y\n",
    "words": "\n".join(["ward " * 200] * 50),
}


@pytest.mark.alone
@pytest.mark.parametrize("text", _TEXTS)
@pytest.mark.parametrize("search", _SEARCHES)
def test_an_edit_of_a_megabyte_is_answered_within_a_second(text: str, search: str) -> None:
    began = time.process_time()
    said = ""
    try:
        apply_edits(_TEXTS[text], [Edit(_SEARCHES[search], "new")], "a.txt")
    except ToolError as error:
        said = str(error)
    assert time.process_time() - began < 1.0
    assert len(said) < 10_000


@pytest.mark.alone
@pytest.mark.parametrize("text", _TEXTS)
def test_a_diff_of_a_megabyte_is_made_within_a_second(text: str) -> None:
    before = _TEXTS[text]
    for after in (
        before.replace("x", "z"),
        before[::-1],
        before.replace("\n", "\r\n"),
        before[500:] + "end",
        "",
    ):
        began = time.process_time()
        assert len(diff(before, after, "a.txt").text) < 20_000
        assert time.process_time() - began < 1.0
