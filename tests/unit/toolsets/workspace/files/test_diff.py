"""The diff of a change: right, small and cheap."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.toolsets.workspace.files.diff import diff

_LINES = st.lists(st.sampled_from(["a", "b", "c", "", "  d", "e\r"]), max_size=40)
_TEXTS = st.tuples(_LINES, st.booleans()).map(lambda one: "\n".join(one[0]) + ("\n" if one[1] else ""))


def _patched(before: str, patch: str) -> str:
    """The text after a unified diff, by the book."""
    held = before.split("\n")
    closed = held[-1] == ""
    if closed:
        held.pop()
    change: list[str] = []
    at = 0
    open_end = not closed and bool(before)
    mark = ""
    for line in patch.split("\n")[2:]:
        if hunk := re.match(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@$", line):
            start = int(hunk[1]) - (1 if hunk[2] != "0" else 0)
            change += held[at:start]
            at = start
            continue
        if line.startswith("\\"):
            if mark in "+ ":
                open_end = True
            elif mark == "-":
                open_end = False
            continue
        mark = line[0]
        if mark in " -":
            assert held[at] == line[1:]
            at += 1
        if mark in " +":
            change.append(line[1:])
    change += held[at:]
    return "\n".join(change) + ("" if open_end or not change else "\n")


@given(_TEXTS, _TEXTS)
def test_a_diff_turns_the_text_before_into_the_text_after(before: str, after: str) -> None:
    change = diff(before, after, "a.txt")
    assert (change.text == "") == (before == after)
    if change.text:
        assert _patched(before, change.text) == after


@given(_TEXTS, st.integers(0, 40), _LINES)
def test_a_diff_counts_the_lines_it_shows(before: str, at: int, more: list[str]) -> None:
    lines = before.split("\n")
    change = diff(before, "\n".join([*lines[:at], *more, *lines[at:]]), "a.txt")
    shown = change.text.split("\n")[2:]
    assert change.added == sum(line.startswith("+") for line in shown)
    assert change.removed == sum(line.startswith("-") for line in shown)


def test_a_change_is_shown_with_three_lines_around_it_and_its_line_numbers() -> None:
    before = "".join(f"line {number}\n" for number in range(1, 101))
    change = diff(before, before.replace("line 50\n", "line fifty\n"), "src/a.txt")
    assert change.text.split("\n") == [
        "--- a/src/a.txt",
        "+++ b/src/a.txt",
        "@@ -47,7 +47,7 @@",
        " line 47",
        " line 48",
        " line 49",
        "-line 50",
        "+line fifty",
        " line 51",
        " line 52",
        " line 53",
    ]
    assert (change.added, change.removed) == (1, 1)


def test_a_large_diff_is_bounded_and_says_how_much_is_left_out() -> None:
    before = "".join(f"{number}\n" for number in range(100_000))
    after = "".join(f"{number} x\n" for number in range(100_000))
    change = diff(before, after, "a.txt")
    assert (change.added, change.removed) == (100_000, 100_000)
    assert len(change.text) < 15_000
    assert re.search(r"\[\d+ more lines of this diff are left out\]$", change.text)


@pytest.mark.req("BF-03")
def test_changes_that_are_far_apart_are_each_shown_and_nothing_between_them() -> None:
    lines = [f"{row}\n" if row % 3 else "\n" for row in range(9_000)]
    after = ["import os\n", *lines[:4_000], *lines[4_001:8_500], "new\n", *lines[8_501:]]
    change = diff("".join(lines), "".join(after), "a.py")
    assert (change.added, change.removed) == (2, 2)
    assert change.text.count("@@ -") == 3 and len(change.text.splitlines()) < 30
    assert _patched("".join(lines), change.text) == "".join(after)


@given(st.lists(st.tuples(st.integers(0, 5_999), st.integers(0, 3)), max_size=6), st.integers(2, 9))
@settings(max_examples=30)
def test_long_texts_are_compared_as_short_ones_are(changes: list[tuple[int, int]], same: int) -> None:
    lines = [f"line {row}" if row % same else "same" for row in range(6_000)]
    after = list(lines)
    for row, kind in changes:
        after[row : row + kind] = ["new", f"line {row * 2}"][:kind]
    before, now = "\n".join(lines), "\n".join(after)
    change = diff(before, now, "a.txt")
    if change.text and "left out" not in change.text:
        assert _patched(before, change.text) == now
    assert change.added - change.removed == len(after) - len(lines)
    assert change.added <= 3 * len(changes)


def test_texts_of_one_line_many_times_are_told_in_no_time() -> None:
    change = diff("same\n" * 50_000, "same\nother\n" * 40_000, "a.txt")
    assert change.added - change.removed == 30_000


def test_a_very_long_line_is_cut_in_a_diff() -> None:
    change = diff("x\n", "y" * 1_000_000 + "\n", "a.txt")
    assert len(change.text) < 2_000
    assert "more characters]" in change.text


def test_the_same_text_has_no_diff() -> None:
    assert diff("a\n", "a\n", "a.txt").text == ""


def test_a_file_that_comes_or_goes_begins_at_line_zero() -> None:
    assert diff("", "a\n", "a.txt").text == "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a"
    assert diff("a\nb\n", "", "a.txt").text == "--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b"
