"""Search over a hundred thousand files finds what ripgrep itself finds, by either engine."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from benchmarks.file_tree import NEEDLE, NEEDLES, OF_A_KIND, make_file_tree
from tests.unit.toolsets.workspace.search import test_engine_matches, test_gitignore, test_ripgrep_files
from tests.unit.toolsets.workspace.search.search_caller import ENGINES, open_search, ripgrep_program

IGNORED = "p3/\n*.md\n!p4/**/f3.md\n"
"""A tenth of the folders, and nearly all of one kind."""


@pytest.fixture(scope="module")
def forest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("forest")
    make_file_tree(root)
    (root / ".gitignore").write_text(IGNORED)
    yield root
    shutil.rmtree(root)


def ripgrep(root: Path, *words: str) -> list[str]:
    """What ripgrep itself says, in the order of lines."""
    command = [ripgrep_program(), "--no-config", "--no-require-git", *words]
    told = subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return sorted(told.stdout.splitlines())


@pytest.mark.req("BF-06")
@pytest.mark.parametrize("engine", ENGINES)
async def test_grep_finds_what_ripgrep_finds(engine: str, forest: Path) -> None:
    async with open_search(forest, engine) as caller:
        found: list[str] = []
        offset: int | None = 0
        while offset is not None:
            page: Any = await caller.done("grep", pattern=NEEDLE, limit=1000, offset=offset)
            found += [f"{one['path']}:{one['line']}:{one['text']}" for one in page["lines"]]
            offset = page["next_offset"]
        assert sorted(found) == ripgrep(forest, "-n", NEEDLE)
        assert page["total_lines"] == len(found) == NEEDLES * 9 // 10
        every = await caller.done("grep", pattern=NEEDLE, include_ignored=True, output="files", limit=1)
        assert every["total_files"] == NEEDLES and len(every["files"]) == 1


@pytest.mark.req("BF-05")
async def test_glob_finds_what_ripgrep_finds(forest: Path) -> None:
    async with open_search(forest) as caller:
        page = await caller.done("glob", pattern="p1/**/*.{py,go}", limit=2000)
        expected = [path for path in ripgrep(forest, "--files") if path.startswith("p1/")]
        expected = [path for path in expected if path.endswith((".py", ".go"))]
        assert [one["path"] for one in page["files"]] == expected
        assert page["total"] == len(expected) == 2000
        newest = await caller.done("glob", pattern="*.py", sort="modified", limit=10)
        assert (newest["total"], len(newest["files"])) == (OF_A_KIND * 9 // 10, 10)
        every = await caller.done("glob", pattern="*.md", include_ignored=True, limit=1)
        shown = await caller.done("glob", pattern="*.md", limit=1)
        assert (every["total"], shown["total"]) == (OF_A_KIND, 100)


@settings(max_examples=50)
@given(test_engine_matches.cases)
def test_both_engines_agree(case: test_engine_matches.Case) -> None:
    test_engine_matches.agree(case)


@settings(max_examples=120)
@given(test_gitignore.cases)
def test_a_walk_and_git_agree(case: test_gitignore.Case) -> None:
    test_gitignore.as_git(case)


@settings(max_examples=200)
@given(test_ripgrep_files.cases)
def test_ripgrep_a_walk_and_git_agree(case: test_ripgrep_files.Case) -> None:
    test_ripgrep_files.same_files(case)
