"""Bytes as text and back, in every encoding there is."""

from __future__ import annotations

from contextlib import suppress
from encodings.aliases import aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import ToolError
from handrail.toolsets.workspace.file_content import (
    DecodedText,
    check_round_trip,
    codec_name,
    decode,
    decode_leniently,
    encode,
)

_NAMES = st.sampled_from(
    sorted({*aliases.values(), "utf-8-sig", "idna", "punycode", "undefined", "nonsense"})
)


@pytest.mark.req("BF-11")
@given(st.binary(max_size=60), _NAMES)
def test_what_is_read_for_a_change_is_written_back_byte_for_byte_or_refused(data: bytes, name: str) -> None:
    with suppress(ToolError):
        assert encode(check_round_trip(decode(data, name), data, "a.txt")) == data


@given(st.text(max_size=30), _NAMES)
def test_a_text_is_written_in_any_encoding_or_refused(text: str, name: str) -> None:
    with suppress(ToolError):
        assert isinstance(encode(DecodedText(text, codec_name(name))), bytes)


@given(st.binary(max_size=60))
def test_whatever_a_file_holds_can_be_looked_at(data: bytes) -> None:
    assert decode_leniently(data) is None or isinstance(decode_leniently(data), str)
