"""Repair of nulls, wrappings, unions and whole shapes, and what stays an error."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from handrail.core.define.call import Repair
from handrail.core.guard.repair import repair
from tests.unit.guard.repair_schemas import (
    BOOLEAN,
    INTEGER,
    INTEGERS,
    NULL,
    NUMBER,
    POINT,
    STATUS,
    STRING,
    STRINGS,
    closed,
    either,
    exactly,
    repaired,
)


def test_null_text_becomes_null_where_text_is_not_wanted() -> None:
    assert repaired("null", either(INTEGER, NULL)) is None
    assert repaired("None", {"type": ["array", "null"], "items": STRING}) is None


def test_null_for_an_optional_parameter_is_left_out() -> None:
    args, repairs = repair(
        {"a": None, "b": None, "c": 1}, closed(a=INTEGER, b=either(INTEGER, NULL), c=INTEGER)
    )
    assert args == {"b": None, "c": 1}
    assert repairs == (Repair("a", "null left out", None, None),)


@pytest.mark.parametrize(
    "wrapped",
    [
        {"args": {"x": "1"}},
        {"parameters": {"X": 1}},
        {"move_to": {"x": 1}},
        {"input": '{"x": 1}'},
        {"y": None, "kwargs": {"x": 1}},
    ],
)
def test_wrapping_around_the_arguments_is_removed(wrapped: dict[str, Any]) -> None:
    args, repairs = repair(wrapped, POINT)
    assert exactly(args) == '{"x": 1}'
    assert any(one.path == "" and one.kind == "wrapping removed" for one in repairs)


def test_wrapping_around_no_arguments_is_removed_where_none_is_required() -> None:
    assert repair({"args": {}}, closed(a=STRING))[0] == {}
    assert repair({"args": {}}, POINT)[0] == {"args": {}}


@pytest.mark.parametrize(
    ("args", "schema"),
    [
        ({"args": {"x": 1}}, closed(args={"type": "object"}, x=INTEGER)),
        ({"Args": {"args": 1}}, {**closed(args={"type": "object"}), "required": ["Args"], "if": {}}),
        ({"args": {"z": 1}}, POINT),
        ({"args": {"x": 1}}, {**POINT, "additionalProperties": True}),
        ({"args": {"x": 1}, "more": 2}, POINT),
        ({"args": [{"x": 1}]}, POINT),
        ({"args": {"x": 1}}, {"anyOf": [POINT, closed(args={"type": "object"})]}),
    ],
)
def test_what_may_be_a_parameter_is_not_unwrapped(args: dict[str, Any], schema: dict[str, Any]) -> None:
    assert repair(args, schema) == (args, ())


def test_an_object_around_a_scalar_is_removed() -> None:
    assert repaired({"value": "5"}, INTEGER) == 5
    assert repaired({"p": "a"}, STRING) == "a"
    assert repaired({"value": "DONE"}, STATUS) == "done"
    assert repaired({"value": "NULL"}, either(STRING, NULL)) == "NULL"
    assert repaired({"value": "5"}, either(INTEGER, STRING)) == "5"
    assert repaired({"value": 5}, INTEGERS) == [5]
    assert repaired({"value": 5}, {"type": "array"}) == [{"value": 5}]


def test_the_branch_of_a_union_that_can_take_the_value_is_found() -> None:
    circle = {**closed(kind={"const": "circle"}, radius=NUMBER), "required": ["kind", "radius"]}
    square = {**closed(kind={"const": "square"}, side=NUMBER), "required": ["kind", "side"]}
    shape = {"oneOf": [circle, square]}
    assert repaired({"Kind": "SQUARE", "side": "2"}, shape) == {"kind": "square", "side": 2}
    assert repaired({"kind": "circle", "side": "2"}, shape) == {"kind": "circle", "side": "2"}


def test_a_branch_whose_required_property_is_absent_does_not_count() -> None:
    whole = {**closed(a=INTEGER), "required": ["a"]}
    other = {**closed(a=BOOLEAN, b=INTEGER), "required": ["b"]}
    assert exactly(repaired({"a": "1"}, either(whole, other))) == '{"a": 1}'


def test_references_and_all_of_are_followed() -> None:
    schema = {
        "allOf": [{"$ref": "#/$defs/a~1b"}, {"properties": {"n": {"$ref": "#/$defs/list/0"}}}],
        "$defs": {"a/b": closed(s=STRING), "list": [INTEGER]},
    }
    assert repair({"s": 5, "n": "6"}, schema)[0] == {"s": "5", "n": 6}


def test_one_part_that_refuses_other_keys_is_enough() -> None:
    schema = {"allOf": [closed(name=STRING), {"additionalProperties": True}]}
    assert repair({"Name": "a"}, schema)[0] == {"name": "a"}


def test_additional_pattern_and_prefix_values_are_repaired() -> None:
    assert repaired({"a": "1"}, {"type": "object", "additionalProperties": INTEGER}) == {"a": 1}
    assert repaired({"n_a": "1", "b": "1"}, {"type": "object", "patternProperties": {"^n_": INTEGER}}) == {
        "n_a": 1,
        "b": "1",
    }
    assert repaired(["1", 2, "3"], {"type": "array", "prefixItems": [INTEGER, STRING]}) == [1, "2", "3"]


def test_a_recursive_schema_is_followed() -> None:
    tree = {**closed(size=INTEGER, parts={"type": "array", "items": {"$ref": "#"}}), "required": ["size"]}
    args, repairs = repair({"size": 1, "parts": {"size": "2", "Parts": '[{"size": "3"}]'}}, tree)
    assert args == {"size": 1, "parts": [{"size": 2, "parts": [{"size": 3}]}]}
    assert repairs[-1] == Repair("parts.0.parts.0.size", "text as number", "3", 3)


DEEP_JSON = "[" * 200 + "]" * 200
STAYS_WRONG = [
    ("maybe", BOOLEAN),
    ("yes", BOOLEAN),
    ("", BOOLEAN),
    (2, BOOLEAN),
    (1.0, BOOLEAN),
    ("007", INTEGER),
    ("1_000", INTEGER),
    ("1e3", INTEGER),
    ("1.5", INTEGER),
    ("1.000", INTEGER),
    ("٣", INTEGER),
    ("0x10", INTEGER),
    ("", INTEGER),
    (1.5, INTEGER),
    (2.0**60, INTEGER),
    (True, INTEGER),
    ("9" * 5000, INTEGER),
    ("nan", NUMBER),
    ("Infinity", NUMBER),
    ("1e999", NUMBER),
    ("0.1000000000000000000001", NUMBER),
    ("12345678901234567890", NUMBER),
    (".5", NUMBER),
    ("5.", NUMBER),
    ([1], STRING),
    ({"a": 1}, STRING),
    ({"value": [1]}, STRING),
    ({"value": 1, "unit": "s"}, INTEGER),
    ({"other": 1}, INTEGER),
    (None, STRING),
    (float("inf"), STRING),
    ({"value": 5}, either(POINT, INTEGER)),
    ({"value": None}, either(INTEGER, NULL)),
    ({"value": {"value": 5}}, INTEGER),
    ("b", {"type": "array", "enum": [["a"]]}),
    ("null", INTEGER),
    ("nil", either(INTEGER, NULL)),
    ("a,b", STRINGS),
    ("a;b", STRINGS),
    ("a\nb", STRINGS),
    ("1,2", INTEGERS),
    ("", STRINGS),
    ("none", STRINGS),
    ('["a"', STRINGS),
    ("['a']", STRINGS),
    (None, STRINGS),
    ("x", INTEGERS),
    ([1, 2], {"type": "array", "items": INTEGERS}),
    (5, {"type": "array", "items": INTEGERS}),
    (5, {"type": "array", "prefixItems": [INTEGER, INTEGER]}),
    ("[NaN]", {"type": "array"}),
    ("[1e999]", {"type": "array"}),
    ('{"x": 1, "x": 2}', POINT),
    ('{"x": 1} {"x": 2}', POINT),
    ('["\\ud800"]', STRINGS),
    (DEEP_JSON, {"type": "array"}),
    ("[1]", POINT),
    ("UTC 5", {"enum": ["UTC-5", "UTC+5"]}),
    ("-name", {"enum": ["name", "date"]}),
    ("1-0", {"enum": ["10"]}),
    ("x -1", {"enum": ["x 1"]}),
    ("A B", {"enum": ["a-b", "a_b"]}),
    ("don", STATUS),
    ("1", {"enum": [1, True]}),
    ("", STATUS),
    ("1", either(INTEGER, BOOLEAN)),
    (1, either(STRING, BOOLEAN)),
    ("1", {"type": ["integer", "boolean"]}),
    ({"a": "1"}, either(closed(a=INTEGER), closed(a=BOOLEAN))),
    ("5", False),
]


@pytest.mark.req("IV-07")
@pytest.mark.parametrize(("value", "schema"), STAYS_WRONG)
def test_what_is_wrong_or_doubtful_stays_an_error(value: Any, schema: Any) -> None:
    args, repairs = repair({"p": value}, {**closed(p=schema), "required": ["p"]})
    assert exactly(args) == exactly({"p": value})
    assert repairs == ()


@pytest.mark.parametrize("schema", [INTEGER, {"type": "array"}, either(INTEGER, STRINGS), {"type": 5}])
def test_arguments_stay_an_object_whatever_the_schema_says(schema: dict[str, Any]) -> None:
    assert repair({"value": 5}, schema) == ({"value": 5}, ())


@pytest.mark.req("BY-16")
def test_every_repair_is_recorded_in_the_order_it_was_made() -> None:
    schema = closed(tags=INTEGERS, user_id=INTEGER)
    _, repairs = repair({"Tags": '["1"]', "user_id": "2"}, schema)
    assert repairs == (
        Repair("tags", "parameter name", "Tags", "tags"),
        Repair("tags", "JSON text", '["1"]', ["1"]),
        Repair("tags.0", "text as number", "1", 1),
        Repair("user_id", "text as number", "2", 2),
    )


def test_the_input_is_not_changed() -> None:
    args = {"tags": ["1", {"x": 1}], "point": {"X": "1", "y": None}}
    before = copy.deepcopy(args)
    after, _ = repair(args, closed(tags=INTEGERS, point=POINT))
    assert after["point"] == {"x": 1}
    assert args == before


@pytest.mark.parametrize("kind", ["lists", "objects"])
def test_data_nested_thousands_deep_is_no_danger(kind: str) -> None:
    anything = {"anyOf": [{"type": "array", "items": {"$ref": "#/properties/p"}}, POINT, {"$ref": "#"}]}
    value: Any = "x"
    for _ in range(20_000):
        value = [value] if kind == "lists" else {"p": value}
    args, repairs = repair({"p": value, "n": "1"}, closed(p=anything, n=INTEGER))
    assert args["p"] is value
    assert [one.path for one in repairs] == ["n"]
    while isinstance(value, (list, dict)):  # freed level by level: Python frees a deep value recursively
        value = value.pop() if isinstance(value, list) else value.pop("p")


@pytest.mark.parametrize(
    "loop",
    [
        {"$ref": "#/properties/p"},
        {"allOf": [{"$ref": "#/properties/p"}, {"$ref": "#/properties/p"}]},
        {"anyOf": [{"$ref": "#/properties/p"}, {"$ref": "#/properties/p"}]},
        {"anyOf": [{"type": "array", "items": {"$ref": "#/properties/p"}}] * 3},
    ],
)
def test_a_schema_that_goes_in_circles_ends(loop: dict[str, Any]) -> None:
    assert repair({"p": [[[["x", 1]]]], "n": "1"}, closed(p=loop, n=INTEGER))[0]["n"] == 1


def test_unions_of_unions_do_not_run_away() -> None:
    loop = {"anyOf": [{"type": "array", "items": {"$ref": "#/properties/p"}} for _ in range(4)]}
    value: Any = "x"
    for _ in range(18):
        value = [value]
    assert repair({"p": value}, closed(p=loop))[0] == {"p": value}


def test_a_pattern_that_backtracks_is_not_run() -> None:
    args = {"a" * 60 + "!": "1"}
    assert repair(args, {"properties": {}, "patternProperties": {"(a+)+$": INTEGER}}) == (args, ())


def test_a_resource_of_its_own_inside_the_schema_is_left_alone() -> None:
    inner = {
        "$id": "urn:inner",
        "type": "object",
        "properties": {"v": {"$ref": "#/$defs/k"}},
        "$defs": {"k": {"type": ["integer", "string"]}},
    }
    schema = {
        "type": "object",
        "properties": {"inner": inner, "n": {"type": "integer"}},
        "$defs": {"k": {"type": "string"}},
    }
    repaired, repairs = repair({"inner": {"v": 5}, "n": "3"}, schema)
    assert repaired == {"inner": {"v": 5}, "n": 3}
    assert [one.path for one in repairs] == ["n"]
