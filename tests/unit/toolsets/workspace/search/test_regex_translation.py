"""One dialect, spelled for each engine."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import ToolError
from handrail.toolsets.workspace.search.query import translate_regex


@pytest.mark.req("BF-06")
@pytest.mark.parametrize(
    ("pattern", "ripgrep", "python"),
    [
        (r"f\(x\) {$", r"f\(x\) \{$", r"f\(x\) \{$"),
        ("a{2}b{,3}c{x}", r"a{2}b{0,3}c\{x\}", r"a{2}b{0,3}c\{x\}"),
        (r"\"a\/b\"", '"a/b"', '"a/b"'),
        (r"\<word\>", r"\bword\b", r"\bword\b"),
        (r"\Aend\z", "^end$", "^end$"),
        (r"end\Z", "end$", "end$"),
        (r"[\z]", r"[\z]", None),
        ("[[]x", r"[\[]x", r"[\[]x"),
        ("(?<n>a)", "(?P<n>a)", "(?P<n>a)"),
        (r"\x{41}\u{e9}\U{42}", r"\x{41}\x{e9}\x{42}", "AéB"),
        (r"\N{BULLET}+", None, r"\N{BULLET}+"),
        (r"(?x)a\ b[ #]", r"(?x)a\x20b[\x20\x23]", r"(?x)a\x20b[ #]"),
        (r"\S\B", r"\S\B", r"[^\s\udc80-\udcff](?!\b|[\udc80-\udcff])(?<![\udc80-\udcff])"),
        ("[^-a]", "[^-a]", r"[^\udc80-\udcff-a]"),
        (r"[\s\S]*", r"[\s\S]*", r"(?:(?![\udc80-\udcff])[\s\S])*"),
        (r"[^\S]", r"[^\S]", r"[^\udc80-\udcff\S]"),
        ("a(?!b)", None, "a(?!b)"),
        (r"(a)\1", None, r"(a)\1"),
        ("a++b", None, "a++b"),
        (r"\p{Greek}", r"\p{Greek}", None),
        ("[[:alpha:]]", "[[:alpha:]]", None),
        ("[a-z&&b]", "[a-z&&b]", None),
        ("a(?i)b", "a(?i)b", None),
    ],
)
def test_what_each_engine_is_given(pattern: str, ripgrep: str | None, python: str | None) -> None:
    assert translate_regex(pattern)[:2] == (ripgrep, python)


@pytest.mark.parametrize("pattern", [r"\x{d800}", r"\u{110000}", r"\U{ffffffff}"])
def test_a_character_that_no_text_has_is_refused(pattern: str) -> None:
    with pytest.raises(ToolError, match="no text has"):
        translate_regex(pattern)


def test_what_both_are_needed_for_is_refused() -> None:
    with pytest.raises(ToolError, match="mixes"):
        translate_regex(r"\p{Greek}(?=a)")


_CHARACTERS = r"ab\()[]{}|?*+^$.-&~<>:=!,#01dnpPwxzZé "


@given(st.text(_CHARACTERS, max_size=12))
def test_any_text_is_read_or_explained(pattern: str) -> None:
    try:
        read = translate_regex(pattern)
    except ToolError as error:
        message = error.code
    else:
        message = "read" if read.ripgrep is not None or read.python is not None else "nothing"
        re.compile(read.python or "")
    assert message in ("read", "INVALID_PATTERN")


@given(st.text(_CHARACTERS, min_size=1, max_size=12))
def test_what_is_literal_fits_itself(text: str) -> None:
    literal = translate_regex(text, literal=True)
    assert literal.ripgrep == text
    assert literal.python is not None and re.fullmatch(literal.python, text)
