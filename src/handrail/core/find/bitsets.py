"""Planes: a number for each of thousands of things, added up for all of them at once.

A set of things is one big integer, the bit of a thing saying whether it is in. A number for each thing is
a list of such integers: plane i holds bit i of every number. Adding numbers and picking the largest are
then a few operations on big integers, which Python does at the speed of memory; no loop visits the
things.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

Bits = int
"""A set of things, by their bits."""
Planes = list[Bits]


def bits_of(slots: Iterable[int], size: int) -> Bits:
    """The set of the things at these slots."""
    buffer = bytearray(size // 8 + 1)
    for slot in slots:
        buffer[slot >> 3] |= 1 << (slot & 7)
    return int.from_bytes(buffer, "little")


def slots_of(bits: Bits) -> Iterator[int]:
    """The slots of the things in a set, in order."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def put(planes: Planes, number: int, bits: Bits) -> None:
    """Give a number to all in the set, none of which has one yet."""
    for plane in range(number.bit_length()):
        if plane == len(planes):
            planes.append(0)
        if number >> plane & 1:
            planes[plane] |= bits


def add(planes: Planes, more: Planes) -> None:
    """Add to each thing's number the one that it has in `more`."""
    planes += [0] * (len(more) - len(planes))
    carry = 0
    for plane, ours in enumerate(planes):
        theirs = more[plane] if plane < len(more) else 0
        if not theirs and not carry:
            continue
        half = ours ^ theirs
        planes[plane] = half ^ carry
        carry = ours & theirs | carry & half
    if carry:
        planes.append(carry)


def largest(planes: Planes, among: Bits, limit: int) -> Bits:
    """The things with the largest numbers, at most `limit` of them; of equal ones the first in order."""
    chosen, tied = 0, among
    for plane in reversed(planes):
        higher = tied & plane
        count = (chosen | higher).bit_count()
        if count > limit:
            tied = higher
        else:
            chosen |= higher
            tied ^= higher
    for slot in islice(slots_of(tied), limit - chosen.bit_count()):
        chosen |= 1 << slot
    return chosen
