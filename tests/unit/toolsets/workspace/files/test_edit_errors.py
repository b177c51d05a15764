"""What a model reads when its edit found nothing, or too much: enough to be right the next time."""

from __future__ import annotations

import pytest

from handrail import ToolError
from handrail.toolsets.workspace.files.edits import Edit, apply_edits

_CODE = """class Shop:
    def open(self):
        print("open")

    def close(self):
\tprint('Closed – for today')
        return None
"""


def _said(text: str, *edits: Edit) -> str:
    with pytest.raises(ToolError) as refusal:
        apply_edits(text, edits, "shop.py")
    return str(refusal.value)


@pytest.mark.req("BF-11")
def test_no_match_names_the_nearest_lines_and_what_differs() -> None:
    output = _said(_CODE, Edit('def Open(self):\n        print("open")', "x"))
    assert "not in shop.py (7 lines)" in output
    assert "lines 2 to 3 (99 % alike):" in output
    assert '     3\t        print("open")' in output
    assert (
        "line 2 in blanks and case: search has `def Open(self):`, the file has `    def open(self):`"
        in output
    )


@pytest.mark.parametrize(
    ("search", "reason"),
    [
        ("        print('open')", "kinds of quotes"),
        ("\tprint('Closed - for today')", "kinds of dashes"),
        ("        Return None", "case"),
        ("return  None", "blanks"),
        ("Print( “open” )", "blanks and kinds of quotes and case"),
    ],
)
def test_the_kind_of_difference_is_named(search: str, reason: str) -> None:
    assert f"in {reason}: search has" in _said(_CODE, Edit(search, "x"))


def test_a_difference_that_is_no_kind_shows_both_lines() -> None:
    output = _said(_CODE, Edit('    def opens(this):\n        print("open")\n', "x"))
    assert "line 2: search has `    def opens(this):`, the file has `    def open(self):`" in output


def test_line_numbers_in_the_search_are_recognised() -> None:
    output = _said(_CODE, Edit('     2\t    def open(self):\n     3\t        print("open")', "x"))
    assert "begins with line numbers" in output
    assert "lines 2 to 3 (99 % alike)" in output
    assert "begins with line numbers" in _said("a\n\nb\n", Edit("     1\ta\n     2\n     3\tc", "x"))
    assert "begins with line numbers" not in _said("a\n", Edit("1\n2", "x"))


def test_no_line_is_shown_after_the_last_one() -> None:
    output = _said("a\nb\na\n", Edit("a", "x"))
    assert "     3\ta" in output and "     4\t" not in output


def test_escaped_line_ends_and_entities_are_recognised() -> None:
    assert "write real line ends" in _said(_CODE, Edit("class Shop:\\n    def open", "x"))
    assert "HTML entities" in _said("if a < b:\n", Edit("if a &lt; b:", "x"))


def test_an_earlier_edit_of_the_same_call_is_named_as_the_reason() -> None:
    output = _said(_CODE, Edit("class Shop", "class Store"), Edit("class Shop", "class Mall"))
    assert output.startswith("Edit 2 of 2: ")
    assert "an earlier edit of the same call has replaced it" in output


@pytest.mark.req("BF-11")
def test_several_matches_are_shown_with_their_lines_and_neighbours() -> None:
    output = _said("a = 1\nreturn\nb = 2\nreturn\n", Edit("return", "yield"))
    assert "fits 2 places in shop.py:" in output
    assert "line 2:\n     1\ta = 1\n     2\treturn\n     3\tb = 2" in output
    assert "line 4:\n     3\tb = 2\n     4\treturn" in output
    assert "replace_all" in output


def test_of_many_matches_only_some_are_shown() -> None:
    output = _said("x\n" * 100_000, Edit("x", "y"))
    assert "10 or more places" in output
    assert len(output) < 2_000


def test_an_explanation_is_short_whatever_the_file_holds() -> None:
    output = _said("\n".join(["word " * 10_000] * 50), Edit("\n".join(["ward " * 5_000] * 80), "y"))
    assert len(output) < 8_000


def test_nothing_alike_says_so() -> None:
    assert "Nothing like it was found" in _said(_CODE, Edit("zzzzz", "y"))


def test_several_places_in_one_line_are_shown_once() -> None:
    output = _said("a, a, a\nb\n", Edit("a", "x"))
    assert output.count("a, a, a") == 1
    assert "line 1, 3 times:" in output
    assert "Add more of its line to search" in output


def test_blocks_found_by_likeness_are_not_offered_to_be_replaced_altogether() -> None:
    block = "begin\n  one = 1\n  two = 2\n  three = {}\nend\n"
    output = _said(block.format(3) + block.format(4), Edit(block.format("three"), "x\n"))
    assert "replace_all" not in output
    assert "Copy the lines of the one you mean exactly" in output


@pytest.mark.req("BF-11")
@pytest.mark.parametrize(
    ("search", "message"),
    [
        ("def open(self):\n    ...\n    return None", "leaves lines out with dots"),
        ("def open(self):\n    # ... as before\n    return None", "leaves lines out with dots"),
        (r"def .*open\(self\)", "not as a regular expression"),
        ("if x &lt; 3", "HTML entities"),
        (r"def open(self):\n  print", "write real line ends"),
    ],
)
def test_what_models_write_by_habit_is_named(search: str, message: str) -> None:
    assert message in _said(_CODE, Edit(search, "x"))


@pytest.mark.parametrize("search", ["def opens(self):", "print(1)...", "a.b(c)"])
def test_no_habit_is_seen_where_there_is_none(search: str) -> None:
    output = _said(_CODE, Edit(search, "x"))
    assert "dots" not in output
    assert "regular" not in output
