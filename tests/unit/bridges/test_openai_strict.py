"""Strict mode is promised for exactly those schemas that can be promised as they are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.bridges.openai import fits_strict

TEXT = {"type": "string"}


def closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def nested(depth: int) -> dict[str, Any]:
    return closed(a=nested(depth - 1)) if depth else closed()


FITS: dict[str, dict[str, Any]] = {
    "nothing": closed(),
    "scalars": closed(a=TEXT, b={"type": "integer", "minimum": 1, "description": "How many."}),
    "nullable": closed(a={"type": ["string", "null"]}, b={"anyOf": [TEXT, {"type": "null"}]}),
    "choices": closed(a={"type": "string", "enum": ["x", "y"]}, b={"type": "string", "const": "z"}),
    "lists": closed(a={"type": "array", "items": closed(b=TEXT), "minItems": 1}),
    "formats": closed(a={"type": "string", "format": "date-time", "pattern": "^2"}),
    "references": {**closed(a={"$ref": "#/$defs/A"}), "$defs": {"A": closed(next={"$ref": "#/$defs/A"})}},
    "itself": closed(a={"anyOf": [{"$ref": "#"}, {"type": "null"}]}),
    "nine deep": nested(9),
}
DOES_NOT: dict[str, dict[str, Any]] = {
    "an optional property": {**closed(a=TEXT), "required": []},
    "open to others": {**closed(a=TEXT), "additionalProperties": True},
    "silent on others": {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
    "a default": closed(a={"type": "integer", "default": 3}),
    "a keyword that is not taken": closed(a={"type": "string", "minLength": 2}),
    "an unknown format": closed(a={"type": "string", "format": "uri"}),
    "no type": closed(a={}),
    "an open object inside": closed(a={"type": "object"}),
    "an open object in a list": closed(a={"type": "array", "items": {"type": "object"}}),
    "a list of anything": closed(a={"type": "array"}),
    "one of": closed(a={"oneOf": [TEXT]}),
    "any of at the top": {**closed(a=TEXT), "anyOf": [closed(a=TEXT)]},
    "words beside a reference": {
        **closed(a={"$ref": "#/$defs/A", "description": "x"}),
        "$defs": {"A": closed()},
    },
    "a reference to nothing": closed(a={"$ref": "#/$defs/B"}),
    "a reference elsewhere": closed(a={"$ref": "https://example.com/a.json"}),
    "an open definition": {**closed(), "$defs": {"A": {"type": "object"}}},
    "not an object": {"type": "string"},
    "eleven deep": nested(11),
    "too many choices": closed(a={"type": "string", "enum": [str(one) for one in range(1_001)]}),
}


@pytest.mark.req("AB-08")
@pytest.mark.parametrize("name", FITS)
def test_it_fits(name: str) -> None:
    assert fits_strict(FITS[name])


@pytest.mark.req("AB-08")
@pytest.mark.parametrize("name", DOES_NOT)
def test_it_does_not_fit(name: str) -> None:
    assert not fits_strict(DOES_NOT[name])


@pytest.mark.req("AB-08")
@pytest.mark.parametrize("part", [TEXT, {"$ref": "#/$defs/text"}], ids=["plain", "referred"])
def test_the_properties_of_all_objects_together_are_bounded(part: dict[str, Any]) -> None:
    def schema(count: int) -> dict[str, Any]:
        return closed(**{f"p{at}": part for at in range(count)}) | {"$defs": {"text": TEXT}}

    assert fits_strict(schema(5_000))
    assert not fits_strict(schema(5_001))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from("type properties required items anyOf $ref enum format $defs".split()),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.req("AB-08")
@given(more=st.dictionaries(st.sampled_from(["$defs", "properties", "required", "enum"]), anything))
def test_no_schema_however_odd_makes_it_fail(more: dict[str, Any]) -> None:
    fits_strict({"type": "object", **more})
    fits_strict(closed(a=more))
