"""Numbers for many things at once, against the same done one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.find.bitsets import Planes, add, bits_of, largest, put, slots_of

NUMBERS = st.lists(st.integers(0, 300), min_size=1, max_size=70)


def planes_of(numbers: list[int]) -> Planes:
    planes: Planes = []
    for number in set(numbers):
        put(planes, number, bits_of((at for at, one in enumerate(numbers) if one == number), len(numbers)))
    return planes


def numbers_of(planes: Planes, size: int) -> list[int]:
    return [sum((bits >> at & 1) << plane for plane, bits in enumerate(planes)) for at in range(size)]


@given(st.sets(st.integers(0, 200)))
def test_slots_become_bits_and_bits_slots(slots: set[int]) -> None:
    assert list(slots_of(bits_of(slots, 201))) == sorted(slots)


@pytest.mark.req("BY-17")
@given(st.data(), st.lists(NUMBERS, min_size=1, max_size=4))
def test_sums_are_those_of_each_alone(data: st.DataObject, columns: list[list[int]]) -> None:
    size = min(map(len, columns))
    planes: Planes = []
    for column in columns:
        add(planes, planes_of(column[:size]))
    assert numbers_of(planes, size) == [sum(column[at] for column in columns) for at in range(size)]


@pytest.mark.req("BY-17")
@given(NUMBERS, st.integers(1, 80), st.data())
def test_the_largest_are_those_of_a_sort_and_the_first_of_equal_ones(
    numbers: list[int], limit: int, data: st.DataObject
) -> None:
    among = data.draw(st.sets(st.integers(0, len(numbers) - 1)))
    chosen = largest(planes_of(numbers), bits_of(among, len(numbers)), limit)
    expected = sorted(among, key=lambda at: (-numbers[at], at))[:limit]
    assert list(slots_of(chosen)) == sorted(expected)
