"""What counts as JSON that can be written is what Python's own strict writer takes, no more and no less."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handrail.core.define.output_validation import check_json_writable

odd = st.sampled_from(["NaN", "Infinity", "\ud800", "1" * 5_000, "10**5000", "10**4300", "10**700"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | odd,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


def grown(data: Any) -> Any:
    """The same with numbers that are too long to be shown."""
    if isinstance(data, dict):
        return {name: grown(part) for name, part in data.items()}
    if isinstance(data, list):
        return list(map(grown, data))
    return 10 ** int(data[4:]) if isinstance(data, str) and data.startswith("10**") else data


def said(check: Any, data: Any) -> str | None:
    try:
        check(data)
    except ValueError as error:
        return str(error)
    return None


def deep(levels: int) -> Any:
    data: Any = float("nan")
    for _ in range(levels):
        data = [data]
    return data


@pytest.mark.req("SC-05")
@given(values)
@example({"NaN": 1.0})
@example({"a": [1, "x" * 317, "10**4300"]})
@example(["x" * 1_000, "10**4299", "10**4300"])
@example([float("inf")])
@example(deep(400))
def test_it_refuses_what_python_refuses_in_the_same_words(data: Any) -> None:
    data = grown(data)
    assert said(check_json_writable, data) == said(lambda given: json.dumps(given, allow_nan=False), data)


@pytest.mark.req("SC-05")
@pytest.mark.parametrize("before", range(0, 700, 7))
def test_a_number_too_long_to_write_is_found_wherever_it_stands(before: int) -> None:
    with pytest.raises(ValueError, match="digits"):
        check_json_writable(["x" * before, 10**4_300])
