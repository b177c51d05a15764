"""Edits of a text: in order, all or nothing, with the line ends and the lines that they are told by."""

from __future__ import annotations

import re

from hypothesis import assume, given
from hypothesis import strategies as st

from handrail.toolsets.workspace.files.diff import UnchangedText
from handrail.toolsets.workspace.files.edits import AppliedEdit, Edit, EditedText, apply_edits
from tests.unit.toolsets.workspace.files.edit_cases import LINES, SEARCHED, SMALL, after, refused, tried


@given(SEARCHED, SMALL)
def test_replace_all_does_what_replace_does_wherever_the_search_stands_exactly(
    searched: tuple[str, str, str], new: str
) -> None:
    before, search, behind = searched
    assume(search != new)
    text = f"{before}{search}{behind}{search}"
    assert after(text, Edit(search, new, replace_all=True)) == text.replace(search, new)


@given(LINES, st.lists(st.tuples(st.sampled_from(["a", "b", "  a", "zz"]), SMALL), min_size=1, max_size=4))
def test_edits_are_applied_in_order_and_all_or_nothing(
    lines: list[str], given: list[tuple[str, str]]
) -> None:
    text = "\n".join(lines)
    edits = [Edit(search, new) for search, new in given]
    expected: EditedText | str = EditedText(text, (), UnchangedText())
    for edit in edits:
        if isinstance(expected, EditedText):
            expected = tried(expected.text, edit)
    outcome = tried(text, *edits)
    assert (outcome.text if isinstance(outcome, EditedText) else outcome) == (
        expected.text if isinstance(expected, EditedText) else expected
    )
    if isinstance(outcome, EditedText):
        front, back, ended = outcome.same
        assert ended == text.count("\n", 0, front)
        assert front + back <= min(len(text), len(outcome.text))
        assert (
            text[:front] == outcome.text[:front]
            and text[len(text) - back :] == outcome.text[len(outcome.text) - back :]
        )


def test_every_edit_that_cannot_be_done_is_told_at_once() -> None:
    edits = [
        Edit("one", "1"),
        Edit("zwei", "dos\ntres"),
        Edit("drei", "3"),
        Edit("tres", "3"),
        Edit("two", "2"),
    ]
    refusal = refused("one\ntwo\nthree\n", *edits)
    outcome = str(refusal)
    assert refusal.code == "NO_MATCH"
    assert "Edit 2 of 5: " in outcome
    assert "Edit 3 of 5: " in outcome
    assert "Edit 4" not in outcome, "it may well fit once edit 2 does"
    assert outcome.endswith("Nothing was changed: of the 5 edits of this call none was done.")


@given(SMALL.map(lambda text: text.replace("\n", "\r\n")), SMALL.filter(bool), SMALL)
def test_a_file_with_crlf_keeps_it_when_it_is_edited_with_plain_line_ends(
    text: str, search: str, new: str
) -> None:
    assume(search != new and text.count("\r\n") > 0)
    expected = tried(text.replace("\r\n", "\n"), Edit(search, new))
    outcome = tried(text, Edit(search, new))
    if isinstance(expected, EditedText):
        assert isinstance(outcome, EditedText)
        assert outcome.text == expected.text.replace("\n", "\r\n")
    else:
        assert outcome == expected


def test_in_a_file_of_both_line_ends_only_the_place_that_is_edited_changes() -> None:
    assert after("a\r\nb\nc\r\nd\n", Edit("c\nd", "c\ne\nd")) == "a\r\nb\nc\r\ne\r\nd\n"
    assert after("a\r\nb\nc\r\nd\n", Edit("b\nc", "b\nx\nc")) == "a\r\nb\nx\nc\r\nd\n"
    assert after("a\r\nb\nc\r\nd\n", Edit("a\nb\nc\nd", "A\nb\nc\nd")) == "A\r\nb\nc\r\nd\n"
    assert after("b\r\nc\r\nd\n", Edit("c\nd\n", "c\nd\ne\n")) == "b\r\nc\r\nd\ne\r\n"
    assert after("  b\r\n  c\n", Edit("b\nc\n", "b\nx\nc\n")) == "  b\r\n  x\r\n  c\n"


def test_crlf_in_the_search_finds_plain_line_ends_and_adds_no_other() -> None:
    assert after("a\nb\n", Edit("a\r\nb", "a\r\nc\r\nb")) == "a\nc\nb\n"


def test_a_carriage_return_can_be_taken_out_on_purpose() -> None:
    assert after("a\r\nb\r\n", Edit("a\r\n", "a\n")) == "a\nb\r\n"


def test_a_last_line_without_an_end_stays_without() -> None:
    assert after("x\n    one\n    two", Edit("one\ntwo\n", "one\nthree\n")) == "x\n    one\n    three"


def test_an_empty_search_fills_an_empty_file_and_no_other() -> None:
    assert after("", Edit("", "new\n")) == "new\n"
    assert refused("text\n", Edit("", "new\n")).code == "NO_MATCH"


def test_a_search_that_is_its_own_replacement_is_refused() -> None:
    assert refused("a\n", Edit("a", "a")).code == "NO_CHANGE"


@given(SMALL, st.text(alphabet="ab ", min_size=1, max_size=3), SMALL, st.text("ab \n", max_size=3))
def test_replacing_within_lines_tells_the_same_lines_as_replacing_lines_does(
    above: str, search: str, below: str, new: str
) -> None:
    assume(search != new)
    text = f"{above}{search}{below}"
    outcome = apply_edits(text, [Edit(search, new, replace_all=True)], "a.py")
    places = [at.start() for at in re.finditer(re.escape(search), text)]
    grown = new.count("\n")
    rows = [text.count("\n", 0, at) + 1 + nth * grown for nth, at in enumerate(places)]
    assert outcome.applied == (AppliedEdit("exact", len(places), tuple(rows[:20])),)


def test_millions_of_places_are_replaced_at_once() -> None:
    outcome = apply_edits("x" * 5_000_000, [Edit("x", "y", replace_all=True)], "a.txt")
    assert outcome.text == "y" * 5_000_000
    assert outcome.applied == (AppliedEdit("exact", 5_000_000, (1,) * 20),)


def test_places_that_overlap_are_several() -> None:
    assert refused("aaa", Edit("aa", "b")).code == "SEVERAL_MATCHES"
    assert after("aaa", Edit("aa", "b", replace_all=True)) == "ba"
    assert after("a\na\na\n", Edit("a\na\n", "b\n", replace_all=True)) == "b\na\n"
    assert after(" a\n a\n a\n", Edit("a \na\n", "b\n", replace_all=True)) == " b\n a\n"


def test_the_lines_told_are_those_of_the_text_after_all_edits() -> None:
    held = "".join(f"{number}\n" for number in range(1, 11))
    outcome = apply_edits(
        held, [Edit("8\n", "eight\n"), Edit("2\n", "2\n2a\n2b\n"), Edit("5\n", "")], "a.txt"
    )
    lines = outcome.text.split("\n")
    assert outcome.applied == (
        AppliedEdit("exact", 1, (9,)),
        AppliedEdit("exact", 1, (2,)),
        AppliedEdit("exact", 1, (7,)),
    )
    assert (lines[8], lines[1], lines[6]) == ("eight", "2", "6")
