"""Search over a hundred thousand files finds what ripgrep itself finds, with it and without it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from benchmarks.forest import NEEDLE, NEEDLES, OF_A_KIND, plant
from tests.unit.toolsets.workspace.search import test_engines, test_ignoring, test_same_files
from tests.unit.toolsets.workspace.search.desk import ENGINES, at, program

IGNORED = "p3/\n*.md\n!p4/**/f3.md\n"
"""A tenth of the folders, and nearly all of one kind."""


@pytest.fixture(scope="module")
def forest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("forest")
    plant(root)
    (root / ".gitignore").write_text(IGNORED)
    yield root
    shutil.rmtree(root)


def ripgrep(root: Path, *words: str) -> list[str]:
    """What ripgrep itself says, in the order of lines."""
    command = [program("ripgrep") or "", "--no-config", "--no-require-git", *words]
    told = subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return sorted(told.stdout.splitlines())


@pytest.mark.req("BF-06")
@pytest.mark.parametrize("engine", ENGINES)
async def test_grep_finds_what_ripgrep_finds(engine: str, forest: Path) -> None:
    async with at(forest, engine) as desk:
        found: list[str] = []
        offset: int | None = 0
        while offset is not None:
            page: Any = await desk.done("grep", pattern=NEEDLE, limit=1000, offset=offset)
            found += [f"{one['path']}:{one['line']}:{one['text']}" for one in page["lines"]]
            offset = page["next_offset"]
        assert sorted(found) == ripgrep(forest, "-n", NEEDLE)
        assert page["total_lines"] == len(found) == NEEDLES * 9 // 10
        every = await desk.done("grep", pattern=NEEDLE, include_ignored=True, output="files", limit=1)
        assert every["total_files"] == NEEDLES and len(every["files"]) == 1


@pytest.mark.req("BF-05")
@pytest.mark.parametrize("engine", ENGINES)
async def test_glob_finds_what_ripgrep_finds(engine: str, forest: Path) -> None:
    async with at(forest, engine) as desk:
        page = await desk.done("glob", pattern="p1/**/*.{py,go}", limit=2000)
        expected = [path for path in ripgrep(forest, "--files") if path.startswith("p1/")]
        expected = [path for path in expected if path.endswith((".py", ".go"))]
        assert [one["path"] for one in page["files"]] == expected
        assert page["total"] == len(expected) == 2000
        newest = await desk.done("glob", pattern="*.py", sort="modified", limit=10)
        assert (newest["total"], len(newest["files"])) == (OF_A_KIND * 9 // 10, 10)
        every = await desk.done("glob", pattern="*.md", include_ignored=True, limit=1)
        shown = await desk.done("glob", pattern="*.md", limit=1)
        assert (every["total"], shown["total"]) == (OF_A_KIND, 100)


@settings(max_examples=50)
@given(test_engines.cases)
def test_both_engines_agree(case: test_engines.Case) -> None:
    test_engines.agree(case)


@settings(max_examples=120)
@given(test_ignoring.cases)
def test_a_walk_and_git_agree(case: test_ignoring.Case) -> None:
    test_ignoring.as_git(case)


@settings(max_examples=200)
@given(test_same_files.cases)
def test_both_engines_and_git_agree(case: test_same_files.Case) -> None:
    test_same_files.same_files(case)
