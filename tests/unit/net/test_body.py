"""What comes packed is unpacked as a whole, and never more of it than is allowed."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import ToolError
from handrail.net.body import Decompressor


@pytest.mark.fault("F25")
@given(
    st.binary(max_size=2000),
    st.sampled_from(["gzip", "deflate", "raw", ""]),
    st.integers(1, 50),
    st.integers(1, 2000),
)
def test_an_unpacker_gives_the_whole_or_nothing(body: bytes, way: str, step: int, most: int) -> None:
    packed = {"gzip": gzip.compress(body), "deflate": zlib.compress(body), "": body}.get(way)
    packed = zlib.compress(body, wbits=-15) if packed is None else packed
    unpacker = Decompressor("deflate" if way == "raw" else way, most)
    if len(body) > most:
        with pytest.raises(ToolError, match="larger than"):
            feed(unpacker, packed, step)
        assert len(unpacker._kept) <= most + step
    else:
        assert feed(unpacker, packed, step) == body


@pytest.mark.fault("F25")
@pytest.mark.parametrize("way", ["gzip", "deflate"])
def test_no_more_of_a_bomb_is_unpacked_than_is_allowed(way: str) -> None:
    bomb = {"gzip": gzip.compress(bytes(5_000_000)), "deflate": zlib.compress(bytes(5_000_000))}[way]
    unpacker = Decompressor(way, 1000)
    with pytest.raises(ToolError):
        unpacker.feed(bomb)

    assert len(unpacker._kept) == 1001


def feed(unpacker: Decompressor, packed: bytes, step: int) -> bytes:
    for at in range(0, len(packed), step):
        unpacker.feed(packed[at : at + step])
    return unpacker.done()


@pytest.mark.req("BT-05")
@given(st.lists(st.binary(max_size=50), min_size=1, max_size=5), st.binary(max_size=5), st.integers(1, 60))
def test_gzip_in_several_members_is_read_to_its_end(bodies: list[bytes], behind: bytes, step: int) -> None:
    packed = b"".join(map(gzip.compress, bodies))
    if not behind.startswith(b"\x1f\x8b"):
        packed += behind

    assert feed(Decompressor("gzip", 1000), packed, step) == b"".join(bodies)


@pytest.mark.fault("F25")
def test_members_without_end_are_given_up() -> None:
    with pytest.raises(ToolError, match="cannot be unpacked"):
        feed(Decompressor("gzip", 1000), gzip.compress(b"") * 2000, 9999)


def test_a_member_that_breaks_off_is_no_whole() -> None:
    packed = gzip.compress(b"first") + gzip.compress(b"second")
    for lost in range(1, len(gzip.compress(b"second")) - 2):
        with pytest.raises(ToolError, match="cannot be unpacked"):
            feed(Decompressor("gzip", 1000), packed[:-lost], 7)
