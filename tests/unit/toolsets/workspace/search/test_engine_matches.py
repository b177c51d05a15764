"""Both engines find the same: ripgrep, and Python where a pattern has what ripgrep does not know."""

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
from handrail.toolsets.workspace.search.query import MatchCounts, SearchLine, SearchQuery, translate_regex
from tests.unit.toolsets.workspace.search.file_trees import make_files, paths, rules, write_rules
from tests.unit.toolsets.workspace.search.search_caller import ENGINES, ripgrep_program

Found = tuple[MatchCounts, list[tuple[str, list[SearchLine]]]]


def found_by(
    engine: str,
    root: Path,
    pattern: str,
    path: str = ".",
    *,
    glob: str | None = None,
    include_ignored: bool = False,
    literal: bool = False,
    ignore_case: bool = False,
    around: tuple[int, int] = (0, 0),
) -> Found:
    """All that an engine finds."""
    workspace = Workspace(root)
    try:
        finder = Finder(workspace, ripgrep_program())
        expression = translate_regex(pattern, literal=literal)
        if engine == "python":
            expression = expression._replace(ripgrep=None)
        query = SearchQuery(expression, literal, ignore_case)
        where = search_scope(workspace, path, glob, include_ignored=include_ignored)
        tally, by = finder.search(query, where, Signal())
        found = finder.lines(by, query, list(tally.files), Signal(), around, 1000)
        return tally, [(path, [_placed(line) for line in lines]) for path, lines in found]
    finally:
        workspace.close()


def _placed(line: SearchLine) -> SearchLine:
    """Where a match of nothing stands is told by one engine alone; that it is one, by both."""
    return line._replace(at=min(line.at, 0))


_letters = st.sampled_from([*"abA_.{} é1-\t(ß#\udce9"])
_texts = st.lists(st.lists(_letters, max_size=6).map("".join), max_size=5).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n"]).map(lambda end: end.join(lines))
)
_atoms = st.sampled_from(
    r"a b A é . \w \d \s \S \W \D [\s\S] [^\w-] [#a] [ab] [^a] [a-c1] \. \{ { } ^ $ \b \A \z \" \- []a] [a[] "
    r"(?i:a) 1 \x61 \u{e9} \_".split()
)
_PLACES = ("^", "$", r"\b", r"\A", r"\z")
_repeats = st.sampled_from(["", "", "*", "+", "?", "{1,2}", "{2}", "{,2}", "*?"])


def _joined(pieces: list[tuple[str, str]]) -> str:
    return "".join(atom + ("" if atom in _PLACES else repeat) for atom, repeat in pieces)


_sequences = st.lists(st.tuples(_atoms, _repeats), min_size=1, max_size=4).map(_joined)
_patterns = st.one_of(
    _sequences, st.tuples(_sequences, _sequences).map("|".join), _sequences.map(lambda one: f"({one})+a")
)


class Case(NamedTuple):
    """A tree, and what is looked for in it."""

    files: dict[str, str]
    rules: dict[str, str]
    pattern: str
    ignore_case: bool
    literal: bool
    glob: str | None
    around: tuple[int, int]
    start: str


cases = st.builds(
    Case,
    st.dictionaries(paths, _texts, min_size=1, max_size=6),
    st.dictionaries(st.sampled_from([".", "a", "b"]), rules, max_size=2),
    _patterns,
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, None, "*.c", "a/**", "**/a*", "{a,b}/*"]),
    st.sampled_from([(0, 0), (1, 0), (1, 2)]),
    st.sampled_from([".", ".", "a", "b", "a/b"]),
)


def agree(case: Case) -> None:
    """Both engines find the same lines, in the same order, and count the same."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text in sorted(case.files.items()):
            make_files(root, [path], text.encode("utf-8", "surrogateescape"))
        write_rules(root, case.rules)
        ours, plain = (
            found_by(
                engine,
                root,
                case.pattern,
                case.start if (root / case.start).is_dir() else ".",
                glob=case.glob,
                literal=case.literal,
                ignore_case=case.ignore_case,
                around=case.around,
            )
            for engine in ENGINES
        )
        assert ours == plain


@pytest.mark.req("BF-06")
@settings(max_examples=12)
@given(cases)
def test_ripgrep_and_python_find_the_same_lines(case: Case) -> None:
    agree(case)
