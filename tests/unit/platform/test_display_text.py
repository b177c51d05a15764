"""Nothing that a tool or a caller writes can move the cursor, recolour the screen or hide from the eye."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.platform.display_text import (
    one_line,
    visible,
    visible_json,
    visible_json_line,
    visible_json_lines,
)

HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Grüße, 日本 👋", "Grüße, 日本 👋"),
        ("one\n\ttwo", "one\n\ttwo"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("over\rwritten\x08\x7f", "over\\x0dwritten\\x08\\x7f"),
        ("abc\u202edef\u2066", "abc\\u202edef\\u2066"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("half\ud800", "half\\ud800"),
        ("line\u2028end", "line\\u2028end"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("a\xa0b", "a\xa0b"),
        ("[bold]not bold[/bold]", "[bold]not bold[/bold]"),
    ],
)
def test_what_a_screen_would_not_show_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_no_hidden_character_is_left(text: str) -> None:
    left = {one for one in visible(text) if unicodedata.category(one) in HIDDEN} - set("\n\t\u200c\u200d")
    assert not left


def test_a_line_is_one_line() -> None:
    assert one_line("  a\n\tb\x1b[2J  c ") == "a b\\x1b[2J c"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(values, st.sampled_from([None, 2]))
def test_exact_shows_every_character_and_reads_back_the_same(value: object, indent: int | None) -> None:
    text = visible_json(value, indent)
    assert json.loads(text) == value
    assert all(one == "\n" or one.isprintable() for one in text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one two", '"one two"'),
        ("ls   ; rm", '"ls\\u0020\\u0020\\u0020; rm"'),
        ("if x:\n    y", '"if x:\\n    y"'),
        ("    y", '"    y"'),
        ("x\n" + " " * 300 + "rm", '"x\\n' + "\\u0020" * 300 + 'rm"'),
    ],
)
def test_blanks_in_a_row_are_written_out_but_for_indentation(text: str, shown: str) -> None:
    assert visible_json_line(text) == shown and json.loads(shown) == text


@given(st.text(st.sampled_from('\\n" a\n\t'), max_size=40))
def test_a_text_of_several_lines_goes_on_below_and_nothing_of_it_is_lost(text: str) -> None:
    shown = visible_json_lines({"a": text}, "  ")
    assert json.loads(shown.replace("\n  ", "")) == {"a": text}
    assert shown.count("\n") == text.count("\n") - text.endswith("\n")
