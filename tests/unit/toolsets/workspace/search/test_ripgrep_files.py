"""Ripgrep lists the files that git would add, from any folder, and those that list_files shows."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.ext.tools import Signal
from handrail.toolsets.workspace import Workspace
from handrail.toolsets.workspace.search.finder import Finder, search_scope
from tests.unit.toolsets.workspace.search.file_trees import make_files, paths, rules, walked, write_rules
from tests.unit.toolsets.workspace.search.search_caller import open_search, ripgrep_program
from tests.unit.toolsets.workspace.search.test_gitignore import git, not_ignored

_FOLDERS = [".", "a", "b", "a/b", "b/a"]
_deep = st.lists(st.sampled_from(["a", "b", "ab", "a.c"]), min_size=2, max_size=4).map("/".join)
_plain = st.builds(
    lambda root, parts, folder: f"{root}{'/'.join(parts)}{folder}",
    st.sampled_from(["", "/"]),
    st.lists(st.sampled_from(["a", "b", "ab", "*.c", "a*", "**"]), min_size=1, max_size=2),
    st.sampled_from(["", "/"]),
)
"""The rules that people write: most of them hit something."""


class Case(NamedTuple):
    """A tree with rules in some of its folders, and others there that git does not know of."""

    files: set[str]
    rules: dict[str, str]
    others: dict[str, str]
    kind: str


cases = st.builds(
    Case,
    st.sets(_deep | paths, min_size=8, max_size=20),
    st.dictionaries(st.sampled_from(_FOLDERS), rules | _plain, min_size=1, max_size=3),
    st.dictionaries(st.sampled_from(_FOLDERS[:2]), rules | _plain.map("!{}".format), max_size=1),
    st.sampled_from([".ignore", ".rgignore"]),
)


def files(root: Path, start: str = ".", glob: str | None = None) -> list[str]:
    """The files that a search looks at."""
    workspace = Workspace(root)
    try:
        where = search_scope(workspace, start, glob)
        return sorted(Finder(workspace, ripgrep_program()).files(where, Signal()))
    finally:
        workspace.close()


def same_files(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_files(root, sorted(case.files))
        write_rules(root, case.rules)
        git(root, "init", "-q", "--template=")
        assert files(root) == sorted(walked(root)) == not_ignored(root)
        write_rules(root, case.others, case.kind)
        for start in _FOLDERS:
            if (root / start).is_dir():
                assert files(root, start) == sorted(walked(root, start))


@pytest.mark.req("BF-04", "BF-05", "BF-06")
@settings(max_examples=40)
@given(cases)
def test_ripgrep_lists_what_git_would_add_and_a_walk_comes_across(case: Case) -> None:
    same_files(case)


@pytest.mark.req("BF-04", "BF-05", "BF-06")
@pytest.mark.parametrize("start", [".", "front"])
async def test_rules_with_a_slash_count_in_folders_below(start: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["front/.env", "front/dist/app.js", "front/in/gen/a.js", "front/in/a.js"], "TODO\n")
    write_rules(tmp_path, {"front": "/dist\n/.env\nin/gen/\n"})
    async with open_search(tmp_path) as caller:
        assert await caller.output("grep", pattern="TODO", path=start) == "front/in/a.js:1: TODO"
        assert await caller.output("glob", pattern="*.js", path=start) == "front/in/a.js"


@pytest.mark.req("BF-04", "BF-05", "BF-06")
@pytest.mark.parametrize("start", [".", "src"])
@pytest.mark.parametrize("kind", [".ignore", ".rgignore"])
async def test_what_counts_more_than_a_gitignore_does_so_from_any_folder(
    start: str, kind: str, tmp_path: Path
) -> None:
    make_files(tmp_path, ["src/kept", "src/lost", "src/plain"], "hit\n")
    write_rules(tmp_path, {".": "!kept\nlost\n"}, kind)
    write_rules(tmp_path, {"src": "kept\n!lost\n"})
    async with open_search(tmp_path) as caller:
        assert await caller.output("glob", pattern="[klp]*", path=start) == "src/kept\nsrc/plain"
        found = await caller.output("grep", pattern="hit", path=start)
        assert found == "src/kept:1: hit\nsrc/plain:1: hit"


async def test_what_only_ripgrep_knows_is_searched_for_below_such_rules_too(tmp_path: Path) -> None:
    many = [f"src/{'long' * 50}{number}" for number in range(3000)]
    make_files(tmp_path, [*many, "src/lost"], "hit\n")
    write_rules(tmp_path, {".": "lost\n"}, ".ignore")
    async with open_search(tmp_path) as caller:
        found = await caller.done("grep", pattern=r"\p{Lowercase}it", path="src", output="files", limit=1)
        assert found["total_files"] == len(many)


@pytest.mark.req("BF-05", "BF-06")
async def test_names_that_end_with_a_dot_are_names_like_others(tmp_path: Path) -> None:
    make_files(tmp_path, ["notes.", "in/notes.", "in/notes.md", "in/other.", "out/notes."], "hit\n")
    write_rules(tmp_path, {".": "out/\n!other.\n"})
    async with open_search(tmp_path) as caller:
        for glob in ("notes.", "{notes.,x}"):
            assert await caller.output("glob", pattern=glob) == "in/notes.\nnotes."
        assert await caller.output("glob", pattern="notes*") == "in/notes.\nin/notes.md\nnotes."
        assert (await caller.done("glob", pattern="*"))["total"] == 5
        every = await caller.done("glob", pattern="notes.", include_ignored=True)
        assert [one["path"] for one in every["files"]] == ["in/notes.", "notes.", "out/notes."]
        found = await caller.output("grep", pattern="hit", glob="notes*", path="in")
        assert found == "in/notes.:1: hit\nin/notes.md:1: hit"


@pytest.mark.req("BF-05", "BF-06")
@pytest.mark.parametrize("folder", ["{a}", "[a]", "a b", "#a", "!a", "a\\b", "a*", "a."])
def test_rules_above_count_in_folders_of_any_name(folder: str, tmp_path: Path) -> None:
    make_files(tmp_path, [f"{folder}/in/lost", f"{folder}/in/kept"])
    write_rules(tmp_path, {folder: "/in/lost\n"})
    assert files(tmp_path, f"{folder}/in") == [f"{folder}/in/kept"]


@pytest.mark.req("BF-04", "BF-05")
@pytest.mark.parametrize("line", ["?.txt", "??.txt", "[é].txt", "[!a].txt", "*é*", "é.*", "**/é.txt"])
def test_to_rules_a_letter_is_as_many_bytes_as_it_has(line: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["é.txt", "a.txt", "ab.txt", "in/é.txt", "in/€.txt"])
    write_rules(tmp_path, {".": line})
    git(tmp_path, "init", "-q", "--template=")
    assert files(tmp_path) == not_ignored(tmp_path)


@pytest.mark.req("BF-04", "BF-05")
@pytest.mark.parametrize("folder", [".", "in"])
def test_a_mark_at_the_beginning_of_rules_is_no_part_of_them(folder: str, tmp_path: Path) -> None:
    make_files(tmp_path, [f"{folder}/lost/a", f"{folder}/kept", f"{folder}/lost.too"])
    write_rules(tmp_path, {folder: "\ufefflost/\n*.too\n.gitignore\n"})
    assert files(tmp_path, folder) == [str(Path(folder, "kept"))]
