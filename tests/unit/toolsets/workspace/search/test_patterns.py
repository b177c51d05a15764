"""Patterns of names mean what ripgrep takes them for."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.ext import ToolError
from handrail.toolsets.workspace.search.names import best
from handrail.toolsets.workspace.search.patterns import pattern_of
from tests.unit.toolsets.workspace.search.desk import program
from tests.unit.toolsets.workspace.search.trees import every_file, paths, plant

_names = st.sampled_from(
    ["a", "b", "*", "?", "*.c", "a*", "[ab]", "[!a]*", "{a,b}", "{a,*.c}", ".d", "A", "*b*"]
)
_globs = st.lists(_names | st.just("**"), min_size=1, max_size=4).map("/".join)


@pytest.mark.req("BF-05")
@settings(max_examples=25)
@given(st.sets(paths, min_size=1, max_size=12), st.lists(_globs, min_size=3, max_size=3))
def test_a_pattern_fits_what_ripgrep_finds_by_it(files: set[str], globs: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        plant(root, sorted(files))
        for glob in globs:
            command = [
                program("ripgrep") or "",
                "--no-config",
                "--files",
                "--hidden",
                "--no-ignore",
                "-g",
                glob,
            ]
            told = subprocess.run(command, cwd=root, capture_output=True, text=True).stdout.splitlines()
            pattern = pattern_of(glob)
            assert [path for path in every_file(root) if pattern.fits(path)] == sorted(told)


@pytest.mark.parametrize("glob", ["", "/", "../a", "a/../b", "{a,b", "[z-a]", "{a,b}" * 9])
def test_a_pattern_that_is_none_is_explained(glob: str) -> None:
    with pytest.raises(ToolError, match=r"Write it like") as raised:
        pattern_of(glob)
    assert raised.value.code == "INVALID_PATTERN"


def test_a_pattern_of_many_stars_says_no() -> None:
    """Within the time that any test has; trying all ways takes years."""
    assert not pattern_of("*a" * 20 + "b").fits("a" * 200)
    assert not pattern_of("**/" * 20 + "b").fits("a/" * 100 + "c")
    assert not pattern_of("**/a/" * 60 + "b").fits("a/" * 200 + "c")
    assert pattern_of("**/a/" * 60 + "**").fits("a/" * 200 + "c")
    assert best("a" * 30 + "b", ["a" * 200], 5) == ([], 0)


@pytest.mark.req("BF-07")
def test_the_best_name_comes_first() -> None:
    there = ["docs/user.md", "src/users/UserController.ts", "src/user.py", "lib/us/er.c", "a/user"]
    assert best("user", there, 9) == (
        ["a/user", "src/user.py", "docs/user.md", "src/users/UserController.ts", "lib/us/er.c"],
        5,
    )
    assert best("user contr", there, 9)[0] == ["src/users/UserController.ts"]
    assert best("UsrCtl", there, 9)[0] == ["src/users/UserController.ts"]
    assert best("user", there, 2) == (["a/user", "src/user.py"], 5)
    assert best("resu", there, 9) == (["src/users/UserController.ts"], 1)
