"""Edits by search and replace: where they match, and that they do all or nothing."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from handrail.toolsets.workspace.files.edits import AppliedEdit, Edit, EditedText, apply_edits
from handrail.toolsets.workspace.files.text_match import (
    LineSimilarity,
    begins_in_indentation,
    exact_matches,
    whitespace_matches,
)
from tests.unit.toolsets.workspace.files.edit_cases import (
    LINES,
    SEARCHED,
    SMALL,
    WORDS,
    after,
    refused,
    tried,
)

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
_SOME_LINES = st.builds(
    lambda above, line, below: [*above, line, *below], LINES, st.sampled_from(WORDS), LINES
)
"""At least one of them says something."""


def _way(text: str, *edits: Edit) -> list[str]:
    return [one.way for one in apply_edits(text, edits, "a.py").applied]


@pytest.mark.req("BF-03")
@given(SEARCHED, SMALL)
def test_an_exact_search_that_fits_one_place_does_what_replace_does(
    searched: tuple[str, str, str], new: str
) -> None:
    before, search, behind = searched
    text = f"{before}{search}{behind}"
    assume(search != new and len(list(exact_matches(text, search))) == 1)
    assume(not begins_in_indentation(text, text.find(search), search, new))
    assert after(text, Edit(search, new)) == text.replace(search, new)


@given(LINES, _SOME_LINES)
def test_a_search_that_fits_several_places_is_never_taken_for_one(
    lines: list[str], expected: list[str]
) -> None:
    text, search = "\n".join(lines), "\n".join(expected)
    fits = len(list(exact_matches(text, search))) or len(list(whitespace_matches(text, search)))
    outcome = tried(text, Edit(search, "new"))
    if fits == 1:
        assert isinstance(outcome, EditedText)
    elif fits > 1:
        assert outcome == "SEVERAL_MATCHES"
    else:
        assert outcome == "NO_MATCH" or (
            isinstance(outcome, EditedText) and outcome.applied[0].way == "anchored"
        )


@pytest.mark.parametrize("shift", ["    ", "\t", "        "])
def test_new_lines_are_indented_like_the_lines_that_were_found(shift: str) -> None:
    held = "".join(f"{shift}{line}\n" if line else "\n" for line in _CODE.split("\n")[:-1])
    edit = Edit(
        "for price in prices:\n    result += price\n",
        "for price in prices:\n    if price:\n        result += price\n",
    )
    outcome = after(held, edit)
    assert (
        f"{shift}    for price in prices:\n{shift}        if price:\n{shift}            result += price\n"
        in outcome
    )
    assert _way(held, edit) == ["whitespace"]


def test_a_search_that_is_indented_too_far_is_taken_back() -> None:
    edit = Edit(
        "        result = 0\n        for price in prices:\n",
        "        result = 1\n        for price in prices:\n",
    )
    assert after(_CODE, edit) == _CODE.replace("result = 0", "result = 1")


def test_spaces_find_tabs_and_the_new_lines_have_tabs() -> None:
    held = _CODE.replace("    ", "\t")
    edit = Edit(
        "    for price in prices:\n        result += price",
        "    for price in prices:\n        pass\n        go()",
    )
    assert "\tfor price in prices:\n\t\tpass\n\t\tgo()\n" in after(held, edit)


def test_trailing_blanks_do_not_matter_and_stay_on_lines_that_are_not_changed() -> None:
    held = "one  \ntwo\t\nthree\n"
    assert after(held, Edit("one\ntwo\n", "one\n2\n")) == "one  \n2\nthree\n"


def test_lines_that_are_shifted_unevenly_do_not_match() -> None:
    assert refused("  a\n      b\n", Edit("a\nb", "c")).code == "NO_MATCH"


def test_a_long_block_is_found_by_its_first_and_last_lines_when_its_middle_is_alike() -> None:
    edit = Edit(
        _ALMOST,
        _ALMOST.replace("+= price", "+= price.net"),
    )
    assert _way(_CODE, edit) == ["anchored"]
    assert after(_CODE, edit) == _CODE.replace("+= price\n", "+= price.net\n")


def test_a_block_whose_middle_is_another_is_not_found_by_its_first_and_last_lines() -> None:
    edit = Edit("def total(prices):\n    import sys\n    x = 1\n    y = 2\n    return result\n", "gone\n")
    assert refused(_CODE, edit).code == "NO_MATCH"


def test_a_block_is_not_found_by_its_ends_when_most_of_its_lines_differ_if_only_a_little() -> None:
    search = _CODE.split("return result")[0].replace("result", "results").replace("price in", "prices in")
    assert refused(_CODE, Edit(f"{search}return result\n", "gone\n")).code == "NO_MATCH"


def test_two_blocks_that_are_alike_are_told_apart_by_nobody() -> None:
    block = "begin\n  one = 1\n  two = 2\n  three = {}\nend\n"
    held = block.format(3) + block.format(4)
    assert refused(held, Edit(block.format("three"), "x\n")).code == "SEVERAL_MATCHES"


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
    refusal = refused(_LIST, edit)
    assert refusal.code == "NO_MATCH"
    assert "lines 7 to 11" in str(refusal)


@pytest.mark.parametrize(
    "lines", [["{", "one", "two", "three", "last"], ["first", "one", "two", "three", "}"]]
)
def test_a_block_is_found_by_likeness_when_one_of_its_ends_stands_nowhere_else(lines: list[str]) -> None:
    held = "\n".join(["{", "}", *lines, "{", "}"])
    search = "\n".join(lines).replace("three", "thre")
    assert after(held, Edit(search, search.replace("one", "1"))) == held.replace("one", "1")


def test_a_line_that_stands_elsewhere_is_not_meant_for_one_that_is_like_it() -> None:
    held = "first\none\ntwo\nthree = 3\nlast\nthree = 4\n"
    search = "first\none\ntwo\nthree = 4\nlast\n"
    assert refused(held, Edit(search, "gone\n")).code == "NO_MATCH"
    other = Edit(search, search.replace("one", "1"))
    assert _way(held.replace("three = 4", ""), other) == ["anchored"]


@pytest.mark.req("BF-03")
def test_a_line_that_the_file_has_otherwise_is_never_replaced_by_likeness() -> None:
    held = "class Limits:\n    cpu = 2000\n    memory = 512\n    disk = 10\n"
    search = held.replace("2000", "1000")
    refusal = refused(held, Edit(search, search.replace("1000", "1500")))
    assert refusal.code == "NO_MATCH"
    assert "line 2: search has `    cpu = 1000`, the file has `    cpu = 2000`" in str(refusal)
    outcome = apply_edits(held, [Edit(search, search.replace("512", "256"))], "a.py")
    assert outcome.text == held.replace("512", "256")
    assert outcome.applied == (AppliedEdit("anchored", 1, (1,), (("    cpu = 1000", "    cpu = 2000"),)),)


def test_a_line_that_is_typed_otherwise_and_says_the_same_may_be_replaced() -> None:
    held = "begin\n  say( 'hello', 1 - 2 )\n  two\n  three\nend\n"
    search = "begin\n  say(‘hello’, 1 – 2)\n  two\n  three\nend\n"
    assert after(held, Edit(search, "begin\n  go()\n  two\n  three\nend\n")) == (
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
    assert after(_NESTED, edit) == _NESTED.replace("        y = 2\n", instead)


def test_a_part_of_a_line_is_not_taken_for_another_line() -> None:
    held = "        y = 2 + 3\n  y = 2\n"
    outcome = after(held, Edit("    y = 2", "    y = 2\n    z = 3"))
    assert outcome == "        y = 2\n    z = 3 + 3\n  y = 2\n"


@pytest.mark.parametrize(
    ("held", "search", "replace", "outcome"),
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
def test_new_lines_have_the_tabs_of_the_file(held: str, search: str, replace: str, outcome: str) -> None:
    assert after(held, Edit(search, replace)) == outcome


def test_a_block_is_not_found_by_its_ends_when_one_of_its_lines_is_another() -> None:
    held = "first\none\ntwo\nthree\nreturn result\nlast\n"
    search = held.replace("return result", "x = 1")
    assert refused(held, Edit(search, "gone\n")).code == "NO_MATCH"


def test_a_short_block_is_not_found_by_its_ends() -> None:
    assert refused("first\n  one\nlast\n", Edit("first\none\nlast\n", "gone\n")).code == "NO_MATCH"
    assert _way("first\n  one\ntwo\nlast\n", Edit("first\none\ntwo\nlast\n", "gone\n")) == ["anchored"]


def test_lines_that_are_deleted_leave_no_blanks_of_theirs() -> None:
    assert after("a \n  \nb\nc\n", Edit("a\n\nb\n", "")) == "c\n"


def test_a_search_that_is_like_too_many_places_replaces_none_of_them() -> None:
    held = "a \nb \n" * 70_000
    assert refused(held, Edit("a\nb\na", "c", replace_all=True)).code == "SEVERAL_MATCHES"


def test_how_alike_lines_are_is_told_until_the_work_is_spent() -> None:
    likeness = LineSimilarity(work=120)
    assert likeness("one = 1", "one = 2") > 0.8
    assert not likeness.spent
    assert likeness("one two three", "one two four") == 0.0
    assert likeness.spent
    assert likeness("same", "same") == 1.0


def test_long_lines_are_compared_without_more_work_than_their_length() -> None:
    likeness = LineSimilarity(work=400)
    assert likeness("ab " * 60 + "x", "ab " * 60 + "y") > 0.9
    assert likeness("ab" * 90, "cd" * 90) == 0.0
    assert not likeness.spent


def test_a_block_is_not_taken_when_there_are_too_many_to_compare() -> None:
    held = "".join(f"{{\n{'ab' * 55}{row}\nsame\n}}\n" for row in range(400))
    refusal = refused(held, Edit(f"{{\n{'ba' * 55}\nsame\n}}\n", "gone\n"))
    assert refusal.code == "SEVERAL_MATCHES"


def test_replace_all_is_never_done_by_likeness() -> None:
    edit = Edit(
        _ALMOST,
        "",
        True,
    )
    assert refused(_CODE, edit).code == "NO_MATCH"
