"""Pages of files: the same lines whether the file is read as a whole or by chunks."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import ToolError
from handrail.toolsets.workspace.files.pages import PageLimits, page_of_file, page_of_text

_TEXTS = st.lists(st.text(alphabet="aé€😀\r\t x", max_size=8), max_size=16).map("\n".join)


@pytest.mark.req("BF-01")
@given(
    _TEXTS,
    st.integers(1, 12),
    st.integers(1, 8),
    st.integers(10, 80),
    st.integers(1, 9),
    st.sampled_from(["utf-8", "utf-16-le", "utf-32-be"]),
)
def test_a_page_by_chunks_is_the_page_of_the_whole(
    text: str, first: int, count: int, characters: int, chunk: int, encoding: str
) -> None:
    bounds = PageLimits(first, count, characters)
    everything = page_of_text(text, bounds)
    page = page_of_file(io.BytesIO(text.encode(encoding)), encoding, bounds, chunk)
    assert (list(page.lines), page.first, page.total) == (
        list(everything.lines),
        everything.first,
        everything.total,
    )


@given(_TEXTS, st.integers(1, 12), st.integers(1, 8))
def test_a_page_has_the_lines_that_were_asked_for(text: str, first: int, count: int) -> None:
    page = page_of_text(text, PageLimits(first, count))
    lines = text.removesuffix("\n").split("\n") if text else []
    assert page.lines == lines[first - 1 : first - 1 + count]
    assert page.total == len(lines)
    assert page.more == (bool(lines) and page.last < len(lines))


@pytest.mark.req("BF-01")
def test_pages_follow_each_other_without_a_gap() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 1_001))
    seen: list[str] = []
    first = 1
    while True:
        page = page_of_file(io.BytesIO(text.encode()), "utf-8", PageLimits(first, 2_000, 500), 64)
        seen += page.lines
        if not page.more:
            break
        first = page.last + 1
    assert "".join(f"{line}\n" for line in seen) == text


def test_a_long_line_is_cut_and_only_its_beginning_is_kept() -> None:
    data = b"first\n" + b"x" * 1_000_000 + b"\nlast\n"
    page = page_of_file(io.BytesIO(data), "utf-8", PageLimits(), 4_096)
    assert page.lines[0] == "first"
    assert page.lines[1] == "x" * 2_000 + "… [cut: this line has 1000000 bytes]"
    assert page.lines[2] == "last"
    text = page_of_text(data.decode(), PageLimits())
    assert text.lines[1] == "x" * 2_000 + "… [cut: this line has 1000000 characters]"


def test_a_long_line_is_not_cut_inside_a_character() -> None:
    page = page_of_file(io.BytesIO("€".encode() * 100_000), "utf-8", PageLimits(), 1_000)
    assert page.lines[0].startswith("€" * 2_000 + "…")


@pytest.mark.req("BF-11")
def test_bytes_that_do_not_fit_are_named_with_their_line() -> None:
    with pytest.raises(ToolError) as refusal:
        page_of_file(io.BytesIO(b"a\nb\nna\xefve\n"), "utf-8", PageLimits(), 4)
    assert refusal.value.code == "WRONG_ENCODING"
    assert "the byte 0xEF (line 3, byte 3 of it) does not fit" in str(refusal.value)


def test_bytes_that_do_not_fit_outside_of_the_page_do_not_matter() -> None:
    data = io.BytesIO(b"\xff\n" + b"fine\n" + b"\xff\n")
    assert page_of_file(data, "utf-8", PageLimits(2, 1), 2).lines == ["fine"]


@pytest.mark.parametrize("chunk", [1, 2, 3, 4, 100])
def test_a_last_line_without_an_end_counts_wherever_a_chunk_ends(chunk: int) -> None:
    page = page_of_file(io.BytesIO(b"a\nb\nc"), "utf-8", PageLimits(1, 1), chunk)
    assert (page.lines, page.total, page.more) == (["a"], 3, True)
