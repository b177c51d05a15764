"""Edits by search and replace: where they match, and that they do all or nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from handrail.ext import ToolError
from handrail.toolsets.workspace.files.diff import Same
from handrail.toolsets.workspace.files.editing import Applied, Edit, Edited, apply
from handrail.toolsets.workspace.files.likeness import Likeness
from handrail.toolsets.workspace.files.matching import begins_in_indentation, exact, whitespace

_CODE = """def total(prices):
    result = 0
    for price in prices:
        result += price
    return result


def average(prices):
    if not prices:
        return None
    return total(prices) / len(prices)
"""
_ALMOST = """def total(prices):
    result = 0.0
    for price in prices:
        result += price
    return result
"""
_SMALL = st.text(alphabet="ab \n\t", max_size=40)
_WORDS = ["a", "b", "  a", "    a", "\ta", "b  "]
_LINES = st.lists(st.sampled_from([*_WORDS, ""]), max_size=12)
_SOME_LINES = st.builds(
    lambda above, line, below: [*above, line, *below], _LINES, st.sampled_from(_WORDS), _LINES
)
"""At least one of them says something."""


def _after(text: str, *edits: Edit) -> str:
    return apply(text, edits, "a.py").text


def _way(text: str, *edits: Edit) -> list[str]:
    return [one.way for one in apply(text, edits, "a.py").applied]


def _tried(text: str, *edits: Edit) -> Edited | str:
    """The text after the edits, or the code of the refusal."""
    try:
        return apply(text, edits, "a.py")
    except ToolError as error:
        return error.code


def _refused(text: str, *edits: Edit) -> ToolError:
    with pytest.raises(ToolError) as refusal:
        apply(text, edits, "a.py")
    return refusal.value


_SEARCHED = st.tuples(_SMALL, st.text(alphabet="ab \n", min_size=1, max_size=4), _SMALL)
"""A text, what to search in it, and a text around it."""


@pytest.mark.req("BF-03")
@given(_SEARCHED, _SMALL)
def test_an_exact_search_that_fits_one_place_does_what_replace_does(
    searched: tuple[str, str, str], new: str
) -> None:
    before, search, after = searched
    text = f"{before}{search}{after}"
    assume(search != new and len(list(exact(text, search))) == 1)
    assume(not begins_in_indentation(text, text.find(search), search, new))
    assert _after(text, Edit(search, new)) == text.replace(search, new)


@given(_SEARCHED, _SMALL)
def test_replace_all_does_what_replace_does_wherever_the_search_stands_exactly(
    searched: tuple[str, str, str], new: str
) -> None:
    before, search, after = searched
    assume(search != new)
    text = f"{before}{search}{after}{search}"
    assert _after(text, Edit(search, new, replace_all=True)) == text.replace(search, new)


@given(_LINES, _SOME_LINES)
def test_a_search_that_fits_several_places_is_never_taken_for_one(
    lines: list[str], wanted: list[str]
) -> None:
    text, search = "\n".join(lines), "\n".join(wanted)
    fits = len(list(exact(text, search))) or len(list(whitespace(text, search)))
    told = _tried(text, Edit(search, "new"))
    if fits == 1:
        assert isinstance(told, Edited)
    elif fits > 1:
        assert told == "SEVERAL_MATCHES"
    else:
        assert told == "NO_MATCH" or (isinstance(told, Edited) and told.applied[0].way == "anchored")


@given(_LINES, st.lists(st.tuples(st.sampled_from(["a", "b", "  a", "zz"]), _SMALL), min_size=1, max_size=4))
def test_edits_are_applied_in_order_and_all_or_nothing(
    lines: list[str], given: list[tuple[str, str]]
) -> None:
    text = "\n".join(lines)
    edits = [Edit(search, new) for search, new in given]
    expected: Edited | str = Edited(text, (), Same())
    for edit in edits:
        if isinstance(expected, Edited):
            expected = _tried(expected.text, edit)
    told = _tried(text, *edits)
    assert (told.text if isinstance(told, Edited) else told) == (
        expected.text if isinstance(expected, Edited) else expected
    )
    if isinstance(told, Edited):
        front, back, ended = told.same
        assert ended == text.count("\n", 0, front)
        assert front + back <= min(len(text), len(told.text))
        assert (
            text[:front] == told.text[:front]
            and text[len(text) - back :] == told.text[len(told.text) - back :]
        )


@pytest.mark.parametrize("shift", ["    ", "\t", "        "])
def test_new_lines_are_indented_like_the_lines_that_were_found(shift: str) -> None:
    held = "".join(f"{shift}{line}\n" if line else "\n" for line in _CODE.split("\n")[:-1])
    edit = Edit(
        "for price in prices:\n    result += price\n",
        "for price in prices:\n    if price:\n        result += price\n",
    )
    told = _after(held, edit)
    assert (
        f"{shift}    for price in prices:\n{shift}        if price:\n{shift}            result += price\n"
        in told
    )
    assert _way(held, edit) == ["whitespace"]


def test_a_search_that_is_indented_too_far_is_taken_back() -> None:
    edit = Edit(
        "        result = 0\n        for price in prices:\n",
        "        result = 1\n        for price in prices:\n",
    )
    assert _after(_CODE, edit) == _CODE.replace("result = 0", "result = 1")


def test_spaces_find_tabs_and_the_new_lines_have_tabs() -> None:
    held = _CODE.replace("    ", "\t")
    edit = Edit(
        "    for price in prices:\n        result += price",
        "    for price in prices:\n        pass\n        go()",
    )
    assert "\tfor price in prices:\n\t\tpass\n\t\tgo()\n" in _after(held, edit)


def test_trailing_blanks_do_not_matter_and_stay_on_lines_that_are_not_changed() -> None:
    held = "one  \ntwo\t\nthree\n"
    assert _after(held, Edit("one\ntwo\n", "one\n2\n")) == "one  \n2\nthree\n"


def test_lines_that_are_shifted_unevenly_do_not_match() -> None:
    assert _refused("  a\n      b\n", Edit("a\nb", "c")).code == "NO_MATCH"


def test_a_long_block_is_found_by_its_first_and_last_lines_when_its_middle_is_alike() -> None:
    edit = Edit(
        _ALMOST,
        _ALMOST.replace("+= price", "+= price.net"),
    )
    assert _way(_CODE, edit) == ["anchored"]
    assert _after(_CODE, edit) == _CODE.replace("+= price\n", "+= price.net\n")


def test_a_block_whose_middle_is_another_is_not_found_by_its_first_and_last_lines() -> None:
    edit = Edit("def total(prices):\n    import sys\n    x = 1\n    y = 2\n    return result\n", "gone\n")
    assert _refused(_CODE, edit).code == "NO_MATCH"


def test_a_block_is_not_found_by_its_ends_when_most_of_its_lines_differ_if_only_a_little() -> None:
    search = _CODE.split("return result")[0].replace("result", "results").replace("price in", "prices in")
    assert _refused(_CODE, Edit(f"{search}return result\n", "gone\n")).code == "NO_MATCH"


def test_two_blocks_that_are_alike_are_told_apart_by_nobody() -> None:
    block = "begin\n  one = 1\n  two = 2\n  three = {}\nend\n"
    held = block.format(3) + block.format(4)
    assert _refused(held, Edit(block.format("three"), "x\n")).code == "SEVERAL_MATCHES"


_LIST = """[
  {
    "name": "alpha",
    "enabled": true,
    "size": 3
  },
  {
    "name": "beta",
    "enabled": true,
    "size": 3,
    "extra": 1
  },
]
"""


@pytest.mark.req("BF-03")
@pytest.mark.parametrize("name", ["beta", "betta"])
def test_a_block_that_begins_and_ends_like_others_is_not_taken_for_the_one_that_was_meant(name: str) -> None:
    search = f'  {{\n    "name": "{name}",\n    "enabled": true,\n    "size": 3\n  }},\n'
    edit = Edit(search, search.replace("true", "false"))
    refusal = _refused(_LIST, edit)
    assert refusal.code == "NO_MATCH"
    assert "lines 7 to 11" in str(refusal)


@pytest.mark.parametrize(
    "lines", [["{", "one", "two", "three", "last"], ["first", "one", "two", "three", "}"]]
)
def test_a_block_is_found_by_likeness_when_one_of_its_ends_stands_nowhere_else(lines: list[str]) -> None:
    held = "\n".join(["{", "}", *lines, "{", "}"])
    search = "\n".join(lines).replace("three", "thre")
    assert _after(held, Edit(search, search.replace("one", "1"))) == held.replace("one", "1")


def test_a_line_that_stands_elsewhere_is_not_meant_for_one_that_is_like_it() -> None:
    held = "first\none\ntwo\nthree = 3\nlast\nthree = 4\n"
    search = "first\none\ntwo\nthree = 4\nlast\n"
    assert _refused(held, Edit(search, "gone\n")).code == "NO_MATCH"
    other = Edit(search, search.replace("one", "1"))
    assert _way(held.replace("three = 4", ""), other) == ["anchored"]


@pytest.mark.req("BF-03")
def test_a_line_that_the_file_has_otherwise_is_never_replaced_by_likeness() -> None:
    held = "class Limits:\n    cpu = 2000\n    memory = 512\n    disk = 10\n"
    search = held.replace("2000", "1000")
    refusal = _refused(held, Edit(search, search.replace("1000", "1500")))
    assert refusal.code == "NO_MATCH"
    assert "line 2: search has `    cpu = 1000`, the file has `    cpu = 2000`" in str(refusal)
    told = apply(held, [Edit(search, search.replace("512", "256"))], "a.py")
    assert told.text == held.replace("512", "256")
    assert told.applied == (Applied("anchored", 1, (1,), (("    cpu = 1000", "    cpu = 2000"),)),)


def test_a_line_that_is_typed_otherwise_and_says_the_same_may_be_replaced() -> None:
    held = "begin\n  say( 'hello', 1 - 2 )\n  two\n  three\nend\n"
    search = "begin\n  say(‘hello’, 1 – 2)\n  two\n  three\nend\n"
    assert _after(held, Edit(search, "begin\n  go()\n  two\n  three\nend\n")) == (
        "begin\n  go()\n  two\n  three\nend\n"
    )


_NESTED = "class A:\n    def f(self):\n        x = 1\n        y = 2\n        return x\n"


@pytest.mark.parametrize(
    ("search", "replace", "way", "instead"),
    [
        ("    y = 2\n", "    y = 2\n    z = 3\n", "whitespace", "        y = 2\n        z = 3\n"),
        ("    y = 2\n", "    y = 2\n        z = 3\n", "exact", "        y = 2\n        z = 3\n"),
        ("    y = 2\n", "    y = 3\n", "exact", "        y = 3\n"),
        ("    y = ", "    y =\n ", "exact", "        y =\n 2\n"),
        ("y = 2\n", "y = 2\n    z = 3\n", "exact", "        y = 2\n    z = 3\n"),
    ],
)
def test_a_search_with_less_indentation_than_its_line_shifts_the_new_lines(
    search: str, replace: str, way: str, instead: str
) -> None:
    edit = Edit(search, replace)
    assert _way(_NESTED, edit) == [way]
    assert _after(_NESTED, edit) == _NESTED.replace("        y = 2\n", instead)


def test_a_part_of_a_line_is_not_taken_for_another_line() -> None:
    held = "        y = 2 + 3\n  y = 2\n"
    told = _after(held, Edit("    y = 2", "    y = 2\n    z = 3"))
    assert told == "        y = 2\n    z = 3 + 3\n  y = 2\n"


@pytest.mark.parametrize(
    ("held", "search", "replace", "told"),
    [
        (
            "\tx := 1\n\ty := 2\n",
            "x := 1\ny := 2",
            "if q {\n    x := 1\n}\ny := 2",
            "\tif q {\n\t\tx := 1\n\t}\n\ty := 2\n",
        ),
        (
            "\treturn 1\n",
            "        return 1\n",
            "        if q:\n                return 2\n",
            "\tif q:\n\t\treturn 2\n",
        ),
        ("\tx\n\ty\n", "x\ny", "x\n\tz\ny", "\tx\n\t\tz\n\ty\n"),
    ],
)
def test_new_lines_have_the_tabs_of_the_file(held: str, search: str, replace: str, told: str) -> None:
    assert _after(held, Edit(search, replace)) == told


def test_a_block_is_not_found_by_its_ends_when_one_of_its_lines_is_another() -> None:
    held = "first\none\ntwo\nthree\nreturn result\nlast\n"
    search = held.replace("return result", "x = 1")
    assert _refused(held, Edit(search, "gone\n")).code == "NO_MATCH"


def test_a_short_block_is_not_found_by_its_ends() -> None:
    assert _refused("first\n  one\nlast\n", Edit("first\none\nlast\n", "gone\n")).code == "NO_MATCH"
    assert _way("first\n  one\ntwo\nlast\n", Edit("first\none\ntwo\nlast\n", "gone\n")) == ["anchored"]


def test_lines_that_are_deleted_leave_no_blanks_of_theirs() -> None:
    assert _after("a \n  \nb\nc\n", Edit("a\n\nb\n", "")) == "c\n"


def test_a_search_that_is_like_too_many_places_replaces_none_of_them() -> None:
    held = "a \nb \n" * 70_000
    assert _refused(held, Edit("a\nb\na", "c", replace_all=True)).code == "SEVERAL_MATCHES"


def test_how_alike_lines_are_is_told_until_the_work_is_spent() -> None:
    likeness = Likeness(work=120)
    assert likeness("one = 1", "one = 2") > 0.8
    assert not likeness.spent
    assert likeness("one two three", "one two four") == 0.0
    assert likeness.spent
    assert likeness("same", "same") == 1.0


def test_long_lines_are_compared_without_more_work_than_their_length() -> None:
    likeness = Likeness(work=400)
    assert likeness("ab " * 60 + "x", "ab " * 60 + "y") > 0.9
    assert likeness("ab" * 90, "cd" * 90) == 0.0
    assert not likeness.spent


def test_a_block_is_not_taken_when_there_are_too_many_to_compare() -> None:
    held = "".join(f"{{\n{'ab' * 55}{row}\nsame\n}}\n" for row in range(400))
    refusal = _refused(held, Edit(f"{{\n{'ba' * 55}\nsame\n}}\n", "gone\n"))
    assert refusal.code == "SEVERAL_MATCHES"


def test_every_edit_that_cannot_be_done_is_told_at_once() -> None:
    edits = [
        Edit("one", "1"),
        Edit("zwei", "dos\ntres"),
        Edit("drei", "3"),
        Edit("tres", "3"),
        Edit("two", "2"),
    ]
    refusal = _refused("one\ntwo\nthree\n", *edits)
    told = str(refusal)
    assert refusal.code == "NO_MATCH"
    assert "Edit 2 of 5: " in told
    assert "Edit 3 of 5: " in told
    assert "Edit 4" not in told, "it may well fit once edit 2 does"
    assert told.endswith("Nothing was changed: of the 5 edits of this call none was done.")


def test_replace_all_is_never_done_by_likeness() -> None:
    edit = Edit(
        _ALMOST,
        "",
        True,
    )
    assert _refused(_CODE, edit).code == "NO_MATCH"


@given(_SMALL.map(lambda text: text.replace("\n", "\r\n")), _SMALL.filter(bool), _SMALL)
def test_a_file_with_crlf_keeps_it_when_it_is_edited_with_plain_line_ends(
    text: str, search: str, new: str
) -> None:
    assume(search != new and text.count("\r\n") > 0)
    expected = _tried(text.replace("\r\n", "\n"), Edit(search, new))
    told = _tried(text, Edit(search, new))
    if isinstance(expected, Edited):
        assert isinstance(told, Edited)
        assert told.text == expected.text.replace("\n", "\r\n")
    else:
        assert told == expected


def test_in_a_file_of_both_line_ends_only_the_place_that_is_edited_changes() -> None:
    assert _after("a\r\nb\nc\r\nd\n", Edit("c\nd", "c\ne\nd")) == "a\r\nb\nc\r\ne\r\nd\n"
    assert _after("a\r\nb\nc\r\nd\n", Edit("b\nc", "b\nx\nc")) == "a\r\nb\nx\nc\r\nd\n"
    assert _after("a\r\nb\nc\r\nd\n", Edit("a\nb\nc\nd", "A\nb\nc\nd")) == "A\r\nb\nc\r\nd\n"
    assert _after("b\r\nc\r\nd\n", Edit("c\nd\n", "c\nd\ne\n")) == "b\r\nc\r\nd\ne\r\n"
    assert _after("  b\r\n  c\n", Edit("b\nc\n", "b\nx\nc\n")) == "  b\r\n  x\r\n  c\n"


def test_crlf_in_the_search_finds_plain_line_ends_and_adds_no_other() -> None:
    assert _after("a\nb\n", Edit("a\r\nb", "a\r\nc\r\nb")) == "a\nc\nb\n"


def test_a_carriage_return_can_be_taken_out_on_purpose() -> None:
    assert _after("a\r\nb\r\n", Edit("a\r\n", "a\n")) == "a\nb\r\n"


def test_a_last_line_without_an_end_stays_without() -> None:
    assert _after("x\n    one\n    two", Edit("one\ntwo\n", "one\nthree\n")) == "x\n    one\n    three"


def test_an_empty_search_fills_an_empty_file_and_no_other() -> None:
    assert _after("", Edit("", "new\n")) == "new\n"
    assert _refused("text\n", Edit("", "new\n")).code == "NO_MATCH"


def test_a_search_that_is_its_own_replacement_is_refused() -> None:
    assert _refused("a\n", Edit("a", "a")).code == "NO_CHANGE"


@given(_SMALL, st.text(alphabet="ab ", min_size=1, max_size=3), _SMALL, st.text("ab \n", max_size=3))
def test_replacing_within_lines_tells_the_same_lines_as_replacing_lines_does(
    above: str, search: str, below: str, new: str
) -> None:
    assume(search != new)
    text = f"{above}{search}{below}"
    told = apply(text, [Edit(search, new, replace_all=True)], "a.py")
    places = [at.start() for at in re.finditer(re.escape(search), text)]
    grown = new.count("\n")
    rows = [text.count("\n", 0, at) + 1 + nth * grown for nth, at in enumerate(places)]
    assert told.applied == (Applied("exact", len(places), tuple(rows[:20])),)


def test_millions_of_places_are_replaced_at_once() -> None:
    told = apply("x" * 5_000_000, [Edit("x", "y", replace_all=True)], "a.txt")
    assert told.text == "y" * 5_000_000
    assert told.applied == (Applied("exact", 5_000_000, (1,) * 20),)


def test_places_that_overlap_are_several() -> None:
    assert _refused("aaa", Edit("aa", "b")).code == "SEVERAL_MATCHES"
    assert _after("aaa", Edit("aa", "b", replace_all=True)) == "ba"
    assert _after("a\na\na\n", Edit("a\na\n", "b\n", replace_all=True)) == "b\na\n"
    assert _after(" a\n a\n a\n", Edit("a \na\n", "b\n", replace_all=True)) == " b\n a\n"


def test_the_lines_told_are_those_of_the_text_after_all_edits() -> None:
    held = "".join(f"{number}\n" for number in range(1, 11))
    told = apply(held, [Edit("8\n", "eight\n"), Edit("2\n", "2\n2a\n2b\n"), Edit("5\n", "")], "a.txt")
    lines = told.text.split("\n")
    assert told.applied == (Applied("exact", 1, (9,)), Applied("exact", 1, (2,)), Applied("exact", 1, (7,)))
    assert (lines[8], lines[1], lines[6]) == ("eight", "2", "6")
