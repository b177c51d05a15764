"""Text: values come back from a database as they went in, and names fit into columns."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.store.codec import MAX_COLUMN_TEXT, STAND_IN_MARK, dump, fit_column, load

half = st.sampled_from(["\ud800", "\udfff", "\x00", "\n"])
"""Hypothesis makes no halves of surrogate pairs by itself."""
any_text = st.text(max_size=20) | st.lists(half | st.text(max_size=3), max_size=4).map("".join)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | any_text
names = any_text | st.sampled_from(["handrail:text", "handrail:pairs", "handrail:", "NaN"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.req("BY-13")
@given(values)
def test_whatever_json_can_say_and_some_that_it_cannot_comes_back(value: Any) -> None:
    text = dump(value)
    text.encode()
    assert "\x00" not in text
    assert load(text) == value
    json.loads(text, parse_constant=_refuse)


@given(values)
def test_what_is_read_is_written_as_the_same_bytes(value: Any) -> None:
    text = dump(value)
    assert dump(load(text)) == text


def _refuse(word: str) -> None:
    raise AssertionError(f"{word} is not JSON")


def test_not_a_number_comes_back() -> None:
    back = load(dump({"a": [math.nan, math.inf, -math.inf], "b": "NaN"}))
    assert math.isnan(back["a"][0]) and back["a"][1:] == [math.inf, -math.inf] and back["b"] == "NaN"


def test_numbers_of_any_length_come_back() -> None:
    for number in (10**30, -(10**4299), 10**4300, -(10**9000) + 7):
        assert load(dump({"n": [number, math.inf]})) == {"n": [number, math.inf]}
        assert load(dump([number])) == [number]


def test_the_kind_of_a_number_is_kept() -> None:
    back = load(dump([1, 1.0, -0.0, True, 5e-324, 1.7976931348623157e308]))
    assert [type(one) for one in back] == [int, float, float, bool, float, float]
    assert math.copysign(1, back[2]) == -1


def test_deep_values_come_back_and_endless_ones_are_cut() -> None:
    deep: list[Any] = []
    for _ in range(350):
        deep = [deep]
    assert load(dump(deep)) == deep
    endless: list[Any] = []
    endless.append(endless)
    assert "…" in dump(endless)


class Stubborn:
    def __str__(self) -> str:
        raise RuntimeError("no")


def test_what_is_no_json_is_told_in_its_words_and_never_raises() -> None:
    assert load(dump({"at": datetime(2026, 1, 2, tzinfo=UTC), 3: (1, 2)})) == {
        "at": "2026-01-02T00:00:00Z",
        "3": [1, 2],
    }
    assert load(dump({"x": Stubborn()})) == {"x": "<Stubborn>"}
    assert isinstance(load(dump(b"\xff\xfe")), str)


@given(any_text, any_text)
def test_names_fit_into_a_column_and_two_names_never_become_one(one: str, other: str) -> None:
    held = fit_column(one)
    assert len(held) <= MAX_COLUMN_TEXT and held.isprintable()
    assert (fit_column(other) == held) == (one == other)
    assert fit_column(held) != held if STAND_IN_MARK in held else held == one


def test_a_long_or_unprintable_name_is_held_by_proxy() -> None:
    for name in ("x" * 201, "a\x00b", "a\nb", "\ud800", f"a{STAND_IN_MARK}b"):
        assert STAND_IN_MARK in fit_column(name) and fit_column(name) == fit_column(name)
    for name in ("s1", "", "é ü 漢", "x" * 200):
        assert fit_column(name) is name
