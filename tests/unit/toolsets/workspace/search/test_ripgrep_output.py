"""Records: what ripgrep prints is taken in any pieces, and long lines take no room."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import ToolError
from handrail.toolsets.workspace.search.process import OutputBuffer
from handrail.toolsets.workspace.search.query import SearchLine
from handrail.toolsets.workspace.search.ripgrep import OutputParser

PRINTED = (
    b"/dev/fd/7\x001\x00-before\n"
    b"/dev/fd/7\x002\x00:5\x00:x\xc3\xa9 hit\r\n"
    b"/dev/fd/12\x0030\x00:12:no column\n"
    b"/dev/fd/12\x0031\x00:5001\x00:" + b"a" * 5000 + b"hit" + b"b" * 5000 + b"\n"
)
LINES = [
    (7, SearchLine(1, "before", -1)),
    (7, SearchLine(2, "xé hit", 3)),
    (12, SearchLine(30, "12:no column", 0)),
    (12, SearchLine(31, "a" * 1600 + "hit" + "b" * 1597, 1600)),
]


@pytest.mark.req("BF-06")
@given(st.lists(st.integers(0, len(PRINTED)), max_size=8))
def test_lines_are_the_same_in_whichever_pieces_they_come(cuts: list[int]) -> None:
    found: list[tuple[int, SearchLine]] = []
    records = OutputParser(lambda fd, line: found.append((fd, line)))
    places = [0, *sorted(cuts), len(PRINTED)]
    for begin, end in pairwise(places):
        records.take(PRINTED[begin:end])
    assert found == LINES


@pytest.mark.req("BF-06")
def test_a_long_line_takes_no_room() -> None:
    found: list[tuple[int, SearchLine]] = []
    records = OutputParser(lambda fd, line: found.append((fd, line)))
    piece = b"x" * 100_000
    records.take(b"/dev/fd/7\x001\x00:3000001\x00:")
    tracemalloc.start()
    try:
        for _ in range(60):
            records.take(piece)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
    records.take(b"\n")
    assert [(fd, len(line.text), line.at) for fd, line in found] == [(7, 3200, 1600)]


def test_too_many_names_are_refused_and_not_cut() -> None:
    collected = OutputBuffer(most=5)
    collected.take(b"12345")
    with pytest.raises(ToolError) as raised:
        collected.take(b"6")
    assert raised.value.code == "TOO_LARGE"
