"""What a caller hands over is copied; what JSON cannot carry is refused, never raised."""

from __future__ import annotations

import enum
import json
import math
import types
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from handrail import Handrail, Tool, from_json_schema, tool
from handrail.core.define.json_values import MAX_DEPTH, NotJson, copy_object, copy_value
from handrail.core.define.validation import display_value

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def nested(depth: int) -> list[Any]:
    outer: list[Any] = []
    inner = outer
    for _ in range(depth - 1):
        inner.append([])
        inner = inner[0]
    return outer


@tool("plain", level="read")
def plain(p: str = "", n: int = 0) -> str:
    """Take text and a number."""
    return p


@tool("mixed", level="read")
def mixed(p: str | list[Any] | dict[str, Any] = "", n: float = 0, when: set[str] | None = None) -> str:
    """Take anything."""
    return "taken"


class Input(BaseModel):
    p: Any = None
    n: Any = None


modelled = tool("modelled", level="read", input=Input, description="Take anything.")(lambda args: "taken")
raw = from_json_schema(
    "raw", {"type": "object"}, lambda args: "taken", description="Take anything.", level="read"
)


@given(st.dictionaries(st.text(), json_values))
def test_a_json_object_is_copied_as_it_is(given_object: dict[str, Any]) -> None:
    copied = copy_object(given_object)

    assert json.dumps(copied) == json.dumps(given_object)
    assert copied is not given_object


def test_a_later_change_does_not_reach_the_copy() -> None:
    given_object: dict[str, Any] = {"list": [1], "object": {"a": {}}}
    copied = copy_object(given_object)

    given_object["list"].append(2)
    given_object["object"]["a"]["b"] = 1

    assert copied == {"list": [1], "object": {"a": {}}}


def test_members_of_enumerations_tuples_and_read_only_maps_become_plain_json() -> None:
    class Colour(str, enum.Enum):  # noqa: UP042
        RED = "red"

    class Number(enum.IntEnum):
        ONE = 1

    copied = copy_object(
        {"a": Colour.RED, Colour.RED: Number.ONE, "t": (1, 2), "m": types.MappingProxyType({"x": 1})}
    )

    assert copied == {"a": "red", "red": 1, "t": [1, 2], "m": {"x": 1}}
    assert {type(part) for part in [*copied, copied["a"], copied["red"]]} == {str, int}


def in_itself() -> list[Any]:
    inside: list[Any] = []
    inside.append(inside)
    return inside


class Hostile(dict[str, Any]):
    """A map that does not let itself be read."""

    def items(self) -> Any:
        raise LookupError("not for you")


class Nobody:
    """An object that does not say what it is."""

    def __getattribute__(self, name: str) -> Any:
        raise LookupError("not for you")


NOT_JSON: dict[str, Any] = {
    "half a surrogate pair": "\ud800",
    "half a surrogate pair inside": ["\udfffabc"],
    "half a surrogate pair as a name": {"\ud800": 1},
    "not a number": math.nan,
    "infinity": [math.inf],
    "an integer beyond every float": 10**400,
    "an integer that cannot be printed": -(10**5000),
    "ten thousand lists in each other": nested(10_000),
    "a list in itself": in_itself(),
    "a name that is no text": {1: 2},
    "bytes": b"abc",
    "an object": object(),
    "a set": {1},
    "a map that cannot be read": Hostile(a=1),
    "an object that cannot be asked": Nobody(),
}


@pytest.mark.parametrize("what", NOT_JSON)
@pytest.mark.parametrize("made", [plain, mixed, modelled, raw], ids=lambda made: made.id)
@pytest.mark.parametrize("repair", [True, False])
async def test_what_is_not_json_is_an_invalid_parameter_for_every_kind_of_tool(
    what: str, made: Tool, repair: bool
) -> None:
    async with Handrail([made], repair=repair) as hr:
        out = await hr.call(made.id, {"p": NOT_JSON[what]})

    assert (out.status, out.code) == ("refused", "INVALID_PARAM")
    out.to_model().encode()


@pytest.mark.parametrize("made", [plain, mixed, modelled, raw], ids=lambda made: made.id)
@pytest.mark.parametrize("name", ["\ud800", 5, None], ids=["surrogate", "number", "null"])
async def test_a_name_that_is_not_json_is_an_invalid_parameter(made: Tool, name: Any) -> None:
    async with Handrail([made]) as hr:
        out = await hr.call(made.id, {name: 1})

    assert (out.status, out.code) == ("refused", "INVALID_PARAM")


@pytest.mark.parametrize("made", [plain, mixed, modelled, raw], ids=lambda made: made.id)
@pytest.mark.parametrize(
    "text",
    ['{"p": "\\ud800"}', '{"n": NaN}', '{"n": 1e999}', '{"n": ' + "9" * 5000 + "}", "[" * 100_000],
    ids=["surrogate", "nan", "infinity", "huge", "deep"],
)
async def test_text_that_is_not_json_is_an_invalid_parameter(made: Tool, text: str) -> None:
    async with Handrail([made]) as hr:
        out = await hr.call(made.id, text)

    assert (out.status, out.code) == ("refused", "INVALID_PARAM")


@pytest.mark.parametrize("made", [plain, mixed, modelled, raw], ids=lambda made: made.id)
@pytest.mark.parametrize("given_text", ["Grüße", "日本語", "👍", "\x00", "e\u0301"], ids=range(5))
async def test_every_other_text_is_taken(made: Tool, given_text: str) -> None:
    async with Handrail([made]) as hr:
        assert (await hr.call(made.id, {"p": given_text})).status == "completed"


def test_a_large_number_that_a_float_reaches_is_taken() -> None:
    assert copy_value(10**300) == 10**300
    assert copy_object({"n": -(10**300)}) == {"n": -(10**300)}
    for beyond in (10**309, -(10**309)):
        with pytest.raises(NotJson, match="too large"):
            copy_object({"n": beyond})


def test_a_nesting_at_the_limit_is_taken_and_one_more_refused() -> None:
    assert copy_value(nested(MAX_DEPTH)) == nested(MAX_DEPTH)
    with pytest.raises(NotJson, match="levels deep"):
        copy_value(nested(MAX_DEPTH + 2))


def test_a_refusal_names_the_place() -> None:
    with pytest.raises(NotJson) as refused:
        copy_object({"a": {"b": [1, math.nan]}})

    assert (refused.value.path, str(refused.value)) == (
        "a.b.1",
        "a.b.1: nan is not a JSON number; leave it out or send null",
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("abc", "'abc' (text)"),
        (None, "None (null)"),
        (True, "True (boolean)"),
        ({}, "{} (object)"),
        ([1], "[1] (list)"),
        ("x" * 100, "'" + "x" * 79 + "… (text)"),
        (10**5000, "a value too large to show (int)"),
    ],
    ids=["text", "null", "boolean", "object", "list", "long", "huge"],
)
def test_a_value_is_shown_in_few_words(value: Any, text: str) -> None:
    assert display_value(value) == text
