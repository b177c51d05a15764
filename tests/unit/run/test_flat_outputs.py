"""The short way for a flat object that a body returns agrees with the long way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Tool, tool
from handrail.core.run.normalise import normalise


class Colour(Enum):
    RED = "red"


def undeclared():
    """Return something."""


def bare() -> dict:
    """Return an object."""
    return {}


def any_object() -> dict[str, Any]:
    """Return an object."""
    return {}


def numbers() -> dict[str, int]:
    """Return an object of numbers."""
    return {}


def defined(body: Callable[..., Any]) -> Tool:
    return tool(body.__name__, level="read")(body)


OPEN = [defined(body) for body in (undeclared, bare, any_object)]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters())
KEYS = st.sampled_from(["success", "error", "output", "title", "data", "summary", "code"]) | st.text(
    max_size=3
)


@pytest.mark.parametrize("subject", OPEN, ids=lambda subject: subject.id)
@given(value=st.dictionaries(KEYS, SCALARS, max_size=4))
def test_a_flat_object_becomes_the_same_result_either_way(subject: Tool, value: dict[str, Any]) -> None:
    assert subject.any_object
    assert normalise(value, subject) == normalise(value, replace(subject, any_object=False))


@pytest.mark.parametrize("subject", OPEN, ids=lambda subject: subject.id)
@pytest.mark.parametrize(
    "value",
    [
        {"colour": Colour.RED},
        {"list": [1, {"a": 2}]},
        {"error": "gone"},
        {"success": True, "data": 1},
        {"success": False},
        {"output": "text", "title": "a title"},
        {"text": "\ud800"},
        {1: "a"},
    ],
    ids=repr,
)
def test_what_is_not_flat_or_may_be_an_envelope_goes_the_long_way(
    subject: Tool, value: dict[Any, Any]
) -> None:
    assert normalise(value, subject) == normalise(value, replace(subject, any_object=False))


def test_later_changes_of_the_object_do_not_reach_the_result() -> None:
    returned = {"number": 7}
    result = normalise(returned, OPEN[2])
    returned["number"] = 8

    assert result.data == {"number": 7}


def test_an_object_of_a_narrower_type_is_checked() -> None:
    assert not defined(numbers).any_object
    assert normalise({"a": "text"}, defined(numbers)).code == "INVALID_OUTPUT"
