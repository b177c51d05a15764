"""What a command prints is kept within bounds, and no character is torn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.toolsets.workspace.shell.run import BoundedOutput


@pytest.mark.req("BF-12")
@given(st.lists(st.binary(max_size=40)), st.integers(2, 200))
def test_beginning_and_end_are_kept_whatever_the_pieces(pieces: list[bytes], most: int):
    printed = BoundedOutput(most)
    for piece in pieces:
        printed.add(piece)
    everything = b"".join(pieces)
    assert printed.total == len(everything)
    assert printed.missing == max(0, len(everything) - most // 2 * 2)
    if not printed.missing:
        assert printed.text() == everything.decode(errors="replace")
    else:
        assert f"[{printed.missing:,} bytes left out here]" in printed.text()


@pytest.mark.req("BF-12")
@given(st.text(min_size=1, max_size=300), st.integers(2, 100), st.integers(1, 7))
def test_no_character_is_cut_in_two(text: str, most: int, step: int):
    data = text.encode(errors="ignore")
    printed = BoundedOutput(most)
    for at in range(0, len(data), step):
        printed.add(data[at : at + step])
    shown = printed.text()
    assert shown.count("\ufffd") == data.decode().count("\ufffd") or printed.missing
    if printed.missing:
        head, _, tail = shown.partition(f"\n[{printed.missing:,} bytes left out here]\n")
        assert data.decode().startswith(head) and data.decode().endswith(tail)


def test_bytes_that_are_no_text_become_a_sign_and_colours_stay():
    printed = BoundedOutput()
    printed.add(b"\xff\x1b[31mred\x1b[0m\x00")
    assert printed.text() == "\ufffd\x1b[31mred\x1b[0m\x00"
