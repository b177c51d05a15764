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

from tests.unit.toolsets.workspace.search.trees import every_file, lay, paths, plant, rules, walked


def git(root: Path, *words: str, said: str = "", codes: tuple[int, ...] = (0,)) -> str:
    """What a git answers that knows no settings but its own."""
    env = {"PATH": os.environ["PATH"], "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    done = subprocess.run(["git", *words], cwd=root, input=said, capture_output=True, text=True, env=env)
    assert done.returncode in codes, done.stderr
    return done.stdout


def not_ignored(root: Path) -> list[str]:
    """The files that git would add."""
    return sorted(git(root, "ls-files", "-z", "--others", "--exclude-standard").split("\0")[:-1])


class Case(NamedTuple):
    """A tree with rules in some of its folders."""

    files: set[str]
    rules: dict[str, str]
    excluded: str


cases = st.builds(
    Case,
    st.sets(paths, min_size=1, max_size=14),
    st.dictionaries(st.sampled_from([".", "a", "b", "a/b", "ab"]), rules, min_size=1, max_size=3),
    rules,
)


def as_git(case: Case) -> None:
    """A walk comes across what git would add."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        plant(root, sorted(case.files))
        lay(root, case.rules)
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
    plant(tmp_path, ["a.log", "build/x", "src/a.py"])
    lay(tmp_path, {".": "*.log\nbuild/\n"})
    assert walked(tmp_path) == [".gitignore", "src/a.py"]
    assert walked(tmp_path, include_ignored=True) == every_file(tmp_path)


def test_an_ignore_file_counts_more_than_a_gitignore_further_down(tmp_path: Path) -> None:
    plant(tmp_path, ["src/a.log", "src/b.log", "src/c.txt"])
    lay(tmp_path, {".": "!a.log\nc.txt\n"}, ".ignore")
    lay(tmp_path, {"src": "*.log\n!c.txt\n"})
    assert walked(tmp_path) == [".ignore", "src/.gitignore", "src/a.log"]


def test_a_walk_from_further_down_knows_the_rules_above(tmp_path: Path) -> None:
    plant(tmp_path, ["src/in/a.log", "src/in/b.txt", "src/in/c.txt"])
    lay(tmp_path, {".": "*.log\n", "src": "/in/c.txt\n"})
    assert walked(tmp_path, "src/in") == ["src/in/b.txt"]


def test_lines_that_git_cannot_read_ignore_nothing(tmp_path: Path) -> None:
    plant(tmp_path, ["a", "z"])
    (tmp_path / ".gitignore").write_bytes(b"[z-a]\na\\\n\xff\xfe\n[\n")
    assert walked(tmp_path) == [".gitignore", "a", "z"]
