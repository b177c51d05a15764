"""Patterns of names mean what ripgrep takes them for."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail import ToolError
from handrail.toolsets.workspace.search.glob_patterns import compile_glob
from handrail.toolsets.workspace.search.search_files import best_paths
from tests.unit.toolsets.workspace.search.file_trees import every_file, make_files, paths
from tests.unit.toolsets.workspace.search.search_caller import ripgrep_program

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
        make_files(root, sorted(files))
        for glob in globs:
            command = [
                ripgrep_program(),
                "--no-config",
                "--files",
                "--hidden",
                "--no-ignore",
                "-g",
                glob,
            ]
            listed = subprocess.run(command, cwd=root, capture_output=True, text=True).stdout.splitlines()
            pattern = compile_glob(glob)
            assert [path for path in every_file(root) if pattern.fits(path)] == sorted(listed)


@pytest.mark.parametrize("glob", ["", "/", "../a", "a/../b", "{a,b", "[z-a]", "{a,b}" * 9])
def test_a_pattern_that_is_none_is_explained(glob: str) -> None:
    with pytest.raises(ToolError, match=r"Write it like") as raised:
        compile_glob(glob)
    assert raised.value.code == "INVALID_PATTERN"


def test_a_pattern_of_many_stars_says_no() -> None:
    """Within the time that any test has; trying all ways takes years."""
    assert not compile_glob("*a" * 20 + "b").fits("a" * 200)
    assert not compile_glob("**/" * 20 + "b").fits("a/" * 100 + "c")
    assert not compile_glob("**/a/" * 60 + "b").fits("a/" * 200 + "c")
    assert compile_glob("**/a/" * 60 + "**").fits("a/" * 200 + "c")
    assert best_paths("a" * 30 + "b", ["a" * 200], 5) == ([], 0)


@pytest.mark.req("BF-07")
def test_the_best_name_comes_first() -> None:
    there = ["docs/user.md", "src/users/UserController.ts", "src/user.py", "lib/us/er.c", "a/user"]
    assert best_paths("user", there, 9) == (
        ["a/user", "src/user.py", "docs/user.md", "src/users/UserController.ts", "lib/us/er.c"],
        5,
    )
    assert best_paths("user contr", there, 9)[0] == ["src/users/UserController.ts"]
    assert best_paths("UsrCtl", there, 9)[0] == ["src/users/UserController.ts"]
    assert best_paths("user", there, 2) == (["a/user", "src/user.py"], 5)
    assert best_paths("resu", there, 9) == (["src/users/UserController.ts"], 1)
