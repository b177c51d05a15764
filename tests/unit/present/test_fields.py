"""Field definitions: twelve kinds, their schemas and their checks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.define.validation import InvalidValue
from handrail.ext.errors import DefinitionError
from handrail.ext.forms import (
    STORAGE_TYPES,
    VARIANTS,
    FieldDefinition,
    FieldOption,
    fields_of,
    fields_schema,
    fields_validator,
)

GOOD: dict[str, Any] = {
    "text": "Ana",
    "number": 1.5,
    "boolean": True,
    "date": "2026-03-31",
    "enum": "a",
    "url": "https://example.com/x",
    "email": "ana@example.com",
    "phone": "+43 (1) 234-567",
    "media": "data:text/plain;name=a.txt;base64,YQ==",
    "relation": "rec-001",
    "object": {"city": "Wien"},
    "array": ["x"],
}
BAD: dict[str, Any] = {
    "text": 1,
    "number": "1",
    "boolean": "yes",
    "date": "2026-02-30",
    "enum": "z",
    "url": "not an address",
    "email": "ana",
    "phone": "call me",
    "media": "a.txt",
    "relation": 5,
    "object": {"town": "Wien"},
    "array": [5],
}


def field(kind: Any, **more: Any) -> FieldDefinition:
    needs: dict[str, dict[str, Any]] = {
        "enum": {"options": (FieldOption("a", "First"), FieldOption("b"))},
        "relation": {"target": "customer"},
        "object": {"fields": (FieldDefinition(name="city", type="text", required=True),)},
        "array": {"items": FieldDefinition(name="item", type="text")},
    }
    return FieldDefinition(name="it", type=kind, **{**needs.get(kind, {}), **more})


@pytest.mark.req("FD-01")
def test_there_are_twelve_kinds() -> None:
    assert (
        *("text", "number", "boolean", "date", "enum", "url", "email", "phone", "media", "relation"),
        *("object", "array"),
    ) == STORAGE_TYPES


@pytest.mark.req("FD-05", "FD-06")
@pytest.mark.parametrize("kind", STORAGE_TYPES)
def test_each_kind_takes_what_it_is_and_nothing_else(kind: str) -> None:
    validate = fields_validator([field(kind, required=True)])
    assert validate({"it": GOOD[kind]})["it"] == GOOD[kind]
    with pytest.raises(InvalidValue) as refused:
        validate({"it": BAD[kind]})
    assert refused.value.errors[0].path.split(".")[0] == "it"


@pytest.mark.req("FD-06")
def test_what_is_required_must_be_there_and_defaults_are_filled_in() -> None:
    validate = fields_validator(
        [field("text", required=True), FieldDefinition(name="n", type="number", default=3)]
    )
    assert validate({"it": "x"}) == {"it": "x", "n": 3}
    with pytest.raises(InvalidValue, match="it: is required"):
        validate({})


@pytest.mark.req("FD-06")
@pytest.mark.parametrize(
    ("kind", "short", "right", "long"),
    [("text", "a", "ab", "abcd"), ("number", 1, 2, 4), ("array", ["a"], ["a", "b"], ["a", "b", "c", "d"])],
)
def test_least_and_most_bound_numbers_lengths_and_counts(
    kind: str, short: Any, right: Any, long: Any
) -> None:
    validate = fields_validator([field(kind, min=2, max=3)])
    validate({"it": right})
    for wrong in (short, long):
        with pytest.raises(InvalidValue):
            validate({"it": wrong})


_LABELS = st.text("abc ", max_size=5).map(str.strip)


@st.composite
def definitions(draw: Any, name: str = "it", depth: int = 0) -> FieldDefinition:
    kinds = [kind for kind in STORAGE_TYPES if depth < 2 or kind not in ("object", "array")]
    kind = draw(st.sampled_from(kinds))
    more: dict[str, Any] = {
        "label": draw(_LABELS),
        "description": draw(_LABELS),
        "required": draw(st.booleans()) if depth == 0 else False,
        "variant": draw(st.sampled_from((None, *VARIANTS[kind]))),
    }
    if draw(st.booleans()):
        more["default"] = draw(st.sampled_from([None, 1, "x", [], {}]))
    if kind in ("text", "number", "array") and draw(st.booleans()):
        more |= {"min": draw(st.integers(0, 3)), "max": draw(st.integers(3, 9))}
    if kind == "enum":
        values = draw(st.lists(st.sampled_from(["a", "b", 1, None]), min_size=1, unique=True))
        more["options"] = tuple(FieldOption(value, draw(_LABELS)) for value in values)
    if kind == "relation":
        more["target"] = draw(st.sampled_from(["customer", "record"]))
    if kind == "object":
        names = draw(st.lists(st.sampled_from(["x", "y"]), unique=True))
        more["fields"] = tuple(draw(definitions(name=inner, depth=depth + 1)) for inner in names)
    if kind == "array":
        more["items"] = draw(definitions(name="item", depth=depth + 1))
    return FieldDefinition(name=name, type=kind, **more)


@pytest.mark.req("FD-06", "FD-01", "FD-02")
@given(definitions())
def test_a_field_becomes_a_schema_and_the_same_field_again(one: FieldDefinition) -> None:
    assert fields_of(fields_schema([one])) == (one,)


@pytest.mark.req("FD-01")
@given(definitions())
def test_a_field_becomes_data_and_the_same_field_again(one: FieldDefinition) -> None:
    assert FieldDefinition.from_dict(one.to_dict()) == one


@pytest.mark.req("FD-06")
def test_a_schema_of_somebody_elses_keeps_its_words() -> None:
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "number", "multipleOf": 5, "title": "N"},
            "s": {"type": "string", "examples": ["x"]},
        },
        "additionalProperties": False,
    }
    assert fields_schema(fields_of(schema)) == schema


@pytest.mark.req("FD-06")
def test_a_shape_that_is_no_field_is_refused_by_name() -> None:
    with pytest.raises(DefinitionError, match="which"):
        fields_of({"properties": {"which": {"anyOf": [{"type": "string"}, {"type": "number"}]}}})


@pytest.mark.req("FD-01", "FD-02")
@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"name": "a", "type": "colour"}, "is of no kind"),
        ({"name": "a", "type": "text", "variant": "slider"}, "cannot be shown as 'slider'"),
        ({"name": "a", "type": "enum"}, "needs options"),
        ({"name": "a", "type": "relation"}, "needs target"),
        ({"name": "a", "type": "array"}, "needs items"),
        ({"name": "a", "type": "number", "min": 3, "max": 2}, "more than its most"),
        ({"name": "a", "type": "text", "size": 3}, "does not know 'size'"),
        ({"name": "a", "type": "object", "fields": [{"name": "x", "type": "text"}] * 2}, "holds 'x' twice"),
    ],
)
def test_a_definition_that_cannot_be_is_refused(told: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        FieldDefinition.from_dict(told)
