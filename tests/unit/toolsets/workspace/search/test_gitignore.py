"""What a project ignores, as git itself sees it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.ext.errors import Aborted
from handrail.ext.tools import Signal
from handrail.toolsets.workspace import Workspace
from handrail.toolsets.workspace.search.walk import walk
from tests.unit.toolsets.workspace.search.file_trees import (
    every_file,
    make_files,
    paths,
    rules,
    walked,
    write_rules,
)
from tests.unit.toolsets.workspace.search.search_caller import open_search


def git(root: Path, *words: str, stdin: str = "", codes: tuple[int, ...] = (0,)) -> str:
    """What a git answers that knows no settings but its own."""
    env = {"PATH": os.environ["PATH"], "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    done = subprocess.run(["git", *words], cwd=root, input=stdin, capture_output=True, text=True, env=env)
    assert done.returncode in codes, done.stderr
    return done.stdout


def not_ignored(root: Path) -> list[str]:
    """The files that git would add."""
    return sorted(git(root, "ls-files", "-z", "--others", "--exclude-standard").split("\0")[:-1])


_odd = st.sampled_from(
    r"\a \* [ab\]] []a] [^a] [!]a] [a-] [--b] [b-a] [z-a] [[:upper:]] [![:alpha:]] [[:no:]] [[:a] [a/b] [ "
    r"*** ** **a *a*b ?* \? a\ \# \/ a\/b [\!a] [a-\c] . .* //".split(" ")
)
_odd_lines = st.builds(
    lambda no, root, parts, end: f"{no}{root}{'/'.join(parts)}{end}",
    st.sampled_from(["", "", "!", "\\!"]),
    st.sampled_from(["", "", "/", "**/"]),
    st.lists(_odd | st.sampled_from(["a", "b", "*"]), min_size=1, max_size=3),
    st.sampled_from(["", "", "/", "/**", " ", "\\ ", "  \r", "\t", "\\"]),
)
odd_rules = st.lists(_odd_lines, max_size=4).map("\n".join)
"""Lines that few people write and git reads all the same."""


class Case(NamedTuple):
    """A tree with rules in some of its folders."""

    files: set[str]
    rules: dict[str, str]
    excluded: str


cases = st.builds(
    Case,
    st.sets(paths, min_size=1, max_size=14),
    st.dictionaries(st.sampled_from([".", "a", "b", "a/b", "ab"]), rules | odd_rules, min_size=1, max_size=3),
    rules,
)


def as_git(case: Case) -> None:
    """A walk comes across what git would add."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_files(root, sorted(case.files))
        write_rules(root, case.rules)
        git(root, "init", "-q")
        (root / ".git/info").mkdir(exist_ok=True)
        (root / ".git/info/exclude").write_text(case.excluded)
        assert sorted(walked(root)) == not_ignored(root)


@pytest.mark.req("BF-04", "BF-05", "BF-06")
@settings(max_examples=25)
@given(cases)
def test_a_walk_comes_across_what_git_would_add(case: Case) -> None:
    as_git(case)


@pytest.mark.req("BF-04")
def test_what_is_ignored_is_there_for_whoever_asks(tmp_path: Path) -> None:
    make_files(tmp_path, ["a.log", "build/x", "src/a.py"])
    write_rules(tmp_path, {".": "*.log\nbuild/\n"})
    assert walked(tmp_path) == [".gitignore", "src/a.py"]
    assert walked(tmp_path, include_ignored=True) == every_file(tmp_path)


def test_an_ignore_file_counts_more_than_a_gitignore_further_down(tmp_path: Path) -> None:
    make_files(tmp_path, ["src/a.log", "src/b.log", "src/c.txt"])
    write_rules(tmp_path, {".": "!a.log\nc.txt\n"}, ".ignore")
    write_rules(tmp_path, {"src": "*.log\n!c.txt\n"})
    assert walked(tmp_path) == [".ignore", "src/.gitignore", "src/a.log"]


@pytest.mark.req("BF-04")
@pytest.mark.parametrize(
    "text",
    [
        "build/*\n!build/keep",
        "/*\n!/build/\n!/src/",
        "*\n!*/\n!keep",
        "build/**\n!build/keep",
        "build/?*\n!keep",
        "**/in/*\n!keep",
        "build/[!x]*\n!build/in/",
        "*/*\n!build/in\n!keep",
        "src/*/*\n!keep",
    ],
)
def test_what_is_in_a_folder_can_be_asked_back(text: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["keep", "x", "build/keep", "build/x", "build/in/keep", "build/in/x", "src/in/keep"])
    (tmp_path / ".gitignore").write_text(text)
    git(tmp_path, "init", "-q")
    assert sorted(walked(tmp_path)) == not_ignored(tmp_path)


@pytest.mark.req("BF-04")
async def test_what_counts_more_is_the_same_for_all_tools(tmp_path: Path) -> None:
    make_files(tmp_path, ["a.txt", "b.txt", "c.txt", "d.txt", "src/a.txt", "src/in/c.txt", "src/in/d.txt"])
    write_rules(tmp_path, {".": "a.txt\n!c.txt\n"}, ".rgignore")
    write_rules(tmp_path, {".": "!a.txt\nb.txt\n", "src": "!d.txt\n"}, ".ignore")
    write_rules(tmp_path, {".": "c.txt\n", "src": "d.txt\nc.txt\n"})
    async with open_search(tmp_path) as caller:
        found = (await caller.output("glob", pattern="*.txt")).split("\n")
        assert found == ["c.txt", "d.txt", "src/in/c.txt", "src/in/d.txt"]
        listed = await caller.output("list_files", glob="**/*.txt")
        assert [line.split(" ")[0] for line in listed.split("\n")] == found
        deeper = (await caller.output("glob", pattern="*.txt", path="src/in")).split("\n")
        assert deeper == ["src/in/c.txt", "src/in/d.txt"]


def test_a_walk_from_further_down_knows_the_rules_above(tmp_path: Path) -> None:
    make_files(tmp_path, ["src/in/a.log", "src/in/b.txt", "src/in/c.txt"])
    write_rules(tmp_path, {".": "*.log\n", "src": "/in/c.txt\n"})
    assert walked(tmp_path, "src/in") == ["src/in/b.txt"]


@pytest.mark.parametrize(
    "line",
    [
        "[z-a]",
        "a\\",
        "[",
        "[[:no:]]",
        "**a",
        "a**b",
        "[a/z]",
        "\\a",
        "z ",
        "z\\ ",
        "***",
        "[]z]",
        "z//",
        "#a",
        "\\#a",
    ],
)
def test_odd_lines_mean_what_they_mean_to_git(line: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["a", "z", "ab/z", "aab", "z ", "]", "no", "#a"])
    (tmp_path / ".gitignore").write_bytes(b"\xff\xfe\n" + line.encode())
    git(tmp_path, "init", "-q")
    assert sorted(walked(tmp_path)) == not_ignored(tmp_path)


@pytest.mark.req("BF-04")
@pytest.mark.parametrize(
    "line", ["*a" * 60 + "b", "**/a/" * 60 + "b", "/" + "**/a*a/" * 30, "[a]*" * 60 + "b"]
)
def test_no_line_keeps_a_walk_busy_for_ever(line: str, tmp_path: Path) -> None:
    deep = "/".join("a" * 120)
    make_files(tmp_path, ["a" * 200, f"{deep}/c"])
    (tmp_path / ".gitignore").write_text(line)
    assert walked(tmp_path) == [".gitignore", f"{deep}/c", "a" * 200]


def test_rules_are_read_from_files_alone_and_not_without_end(tmp_path: Path) -> None:
    make_files(tmp_path, ["root/a", "root/b", "root/in/a", "root/in/b"])
    (tmp_path / "outside").write_text("a\n")
    (tmp_path / "root/.gitignore").symlink_to(tmp_path / "outside")
    (tmp_path / "root/in/.gitignore").write_text(f"{'#' * 1_048_576}\nb\n")
    assert walked(tmp_path / "root") == ["a", "b", "in/.gitignore", "in/a", "in/b"]


def test_a_walk_ends_with_its_call(tmp_path: Path) -> None:
    make_files(tmp_path, ["a/b/c", "d"])
    workspace, signal = Workspace(tmp_path), Signal()
    try:
        found = walk(workspace, ".", signal)
        assert next(found).path == "a"
        signal.abort("test")
        with pytest.raises(Aborted):
            list(found)
    finally:
        workspace.close()
