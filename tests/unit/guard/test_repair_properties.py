"""Repair holds for any schema and any arguments, with jsonschema_rs as the judge of what is valid."""

from __future__ import annotations

import copy
import json
import re
from decimal import Decimal
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from handrail.core.guard.repair import repair

NODE = {
    "type": "object",
    "properties": {
        "label": {"type": "string"},
        "weight": {"type": "integer"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
    },
    "required": ["label"],
    "additionalProperties": False,
}
NAMES = ["user_id", "max results", "dueDate", "name", "line-2", "tags"]
WORDS = ["low", "in_progress", "Very High", "utf-8", "x1"]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(
        ["1", "0", "true", "-5", "1.50", "1e2", "null", "[1]", '{"name": 1}', "a,b", "Low", "30s"]
    ),
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*NAMES, "Name", "USER_ID", "value", "args", "label", "Weight"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
arguments = anything.map(lambda value: value if isinstance(value, dict) else {"name": value})


@st.composite
def schemas(draw: st.DrawFn, depth: int = 2) -> dict[str, Any]:
    """A schema of one place, nullable now and then."""
    kinds = ["integer", "number", "boolean", "string", "words", "numbers", "const", "node"]
    kind = draw(st.sampled_from(kinds + ["array", "object", "nullable"] * (depth > 0) * 2))
    match kind:
        case "words":
            return {"enum": draw(st.lists(st.sampled_from(WORDS), min_size=1, unique=True))}
        case "numbers":
            return {"enum": draw(st.lists(st.integers(2, 9), min_size=1, unique=True))}
        case "const":
            return {"const": draw(st.sampled_from(WORDS))}
        case "node":
            return {"$ref": "#/$defs/node"}
        case "array":
            return {"type": "array", "items": draw(schemas(depth - 1))}
        case "object":
            return draw(objects(depth - 1))
        case "nullable":
            inner = draw(schemas(depth - 1).filter(lambda schema: not nullable(schema)))
            return {draw(st.sampled_from(["anyOf", "oneOf"])): [inner, {"type": "null"}]}
        case _:
            return {"type": kind, "description": draw(st.sampled_from(["", "in seconds", "e.g. 1,000"]))}


@st.composite
def objects(draw: st.DrawFn, depth: int = 2) -> dict[str, Any]:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: draw(schemas(depth)) for name in names},
        "required": draw(st.lists(st.sampled_from(names), unique=True)),
        "additionalProperties": False,
    }
    return {"allOf": [schema]} if draw(st.integers(0, 5)) == 0 else schema


roots = objects().map(lambda schema: {**schema, "$defs": {"node": NODE}})

mixed = st.dictionaries(
    st.sampled_from(NAMES),
    st.lists(schemas(depth=1), min_size=2, max_size=3).map(lambda branches: {"anyOf": branches}),
    min_size=1,
    max_size=3,
).map(lambda properties: {"type": "object", "properties": properties, "$defs": {"node": NODE}})
"""Unions of anything with anything, where much can be read in two ways."""


def plain(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without the one reference and the one allOf that the strategies make."""
    if "$ref" in schema:
        return NODE
    return schema["allOf"][0] if "allOf" in schema else schema


def nullable(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The branch beside null."""
    branches: list[dict[str, Any]] = schema.get("anyOf") or schema.get("oneOf") or []
    return branches[0] if branches else None


def valid(draw: st.DrawFn, schema: dict[str, Any], depth: int = 0) -> Any:
    """A value that the schema accepts."""
    if inner := nullable(schema):
        return None if draw(st.booleans()) else valid(draw, inner, depth)
    schema = plain(schema)
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    match schema.get("type"):
        case None:
            return schema["const"]
        case "integer":
            return draw(st.integers())
        case "number":
            return draw(st.integers(-1000, 1000) | st.floats(allow_nan=False, allow_infinity=False))
        case "boolean":
            return draw(st.booleans())
        case "string":
            return draw(st.text(max_size=6) | st.sampled_from(["5", "true", "null", "[1]", "{}", "abc"]))
        case "array":
            count = 0 if depth > 5 else draw(st.integers(0, 2))
            return [valid(draw, schema["items"], depth + 1) for _ in range(count)]
    return {
        name: valid(draw, inner, depth + 1)
        for name, inner in schema["properties"].items()
        if name in schema["required"] or draw(st.booleans())
    }


@st.composite
def calls(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A schema and arguments that are valid for it."""
    schema = draw(roots)
    value = valid(draw, schema)
    assert jsonschema_rs.Draft202012Validator(schema).is_valid(value)
    return schema, value


def damaged(draw: st.DrawFn, value: Any, schema: dict[str, Any], in_list: bool = False) -> Any:
    """The value as a weak model might send it."""
    if inner := nullable(schema):
        if value is not None:
            return damaged(draw, value, inner, in_list)
        is_text = plain(inner).get("type", "string") == "string"
        return None if is_text else draw(st.sampled_from([None, "null", " None"]))
    schema = plain(schema)
    if isinstance(value, dict):
        value = damaged_object(draw, value, schema)
        return draw(st.sampled_from([value, value, json.dumps(value), json.dumps(value, indent=1)]))
    if isinstance(value, list):
        value = [damaged(draw, one, schema["items"], in_list=True) for one in value]
        alone = (
            value if len(value) == 1 and not in_list and may_stand_alone(value[0], schema["items"]) else []
        )
        return draw(st.sampled_from([value, json.dumps(value), *alone]))
    sent = draw(st.sampled_from([value, *damaged_scalars(value, schema)]))
    return {"value": sent} if draw(st.integers(0, 9)) == 0 else sent


def damaged_scalars(value: Any, schema: dict[str, Any]) -> list[Any]:
    match schema.get("type"):
        case None if isinstance(value, str):
            return [
                value.upper(),
                value.swapcase(),
                f" {value} ",
                value.replace("_", " "),
                value.replace(" ", ""),
            ]
        case "integer":
            texts = [str(value), f" {value}\n", f"{value}.0"] if abs(value) < 10**90 else []
            return [*texts, float(value)] if abs(value) <= 2**53 else texts
        case "boolean":
            return [str(value), str(value).lower(), int(value), str(int(value))]
        case "string":
            return [5, -1.5, True]
    return [repr(value)]


def damaged_object(draw: st.DrawFn, value: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    sent: dict[str, Any] = {}
    for name, inner in schema["properties"].items():
        spellings = [name, name, name.upper(), name.replace("_", "-"), name.replace(" ", "")]
        spelling = draw(st.sampled_from(spellings))
        if name in value:
            sent[spelling] = damaged(draw, value[name], inner)
        elif not nullable(inner) and draw(st.booleans()):
            sent[spelling] = None
    return sent


def may_stand_alone(item: Any, schema: dict[str, Any]) -> bool:
    """Whether nobody could take the item for several, for none or for a list of its own."""
    if not isinstance(item, str):
        return item is not None and not isinstance(item, list)
    if plain(nullable(schema) or schema).get("type") == "object":
        return item.startswith("{")
    return bool(re.fullmatch(r"[\w .+-]*\w[\w .+-]*", item)) and item.strip().lower() not in ("null", "none")


@st.composite
def weak_calls(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A schema, valid arguments, and the same as a weak model might send them."""
    schema, value = draw(calls())
    sent = damaged_object(draw, value, plain(schema))
    if sent and draw(st.integers(0, 4)) == 0:
        sent = {
            draw(st.sampled_from(["args", "input", "do_it"])): draw(st.sampled_from([sent, json.dumps(sent)]))
        }
    return schema, value, sent


def bare(text: str) -> str:
    return re.sub(r"[\s_-]", "", text).casefold()


def number_in(text: str) -> Decimal:
    return Decimal(re.sub(r"[^0-9.+-]", "", text))


def is_same_choice(before: Any, after: Any) -> bool:
    if isinstance(before, str) and isinstance(after, str):
        return bare(before) == bare(after)
    return bare(str(before)) in (bare(str(after)), bare(json.dumps(after)), "none", "1" if after else "0")


LOSSLESS = {
    "text as number": lambda before, after: Decimal(before.strip()) == Decimal(repr(after)),
    "whole number": lambda before, after: float(after) == before and isinstance(after, int),
    "text as boolean": lambda before, after: before.strip().lower() in (str(after).lower(), str(int(after))),
    "number as boolean": lambda before, after: int(after) == before and isinstance(after, bool),
    "text as null": lambda before, after: after is None and before.strip().lower() in ("null", "none"),
    "number as text": lambda before, after: json.loads(after) == before,
    "boolean as text": lambda before, after: json.loads(after) is before,
    "JSON text": lambda before, after: json.loads(before) == after,
    "one value as list": lambda before, after: after == [before],
    "null left out": lambda before, after: before is None,
    "choice spelling": is_same_choice,
    "parameter name": lambda before, after: bare(before) == bare(after),
    "wrapping removed": lambda before, after: list(before.values()) in ([after], [json.dumps(after)]),
    "unit left out": lambda before, after: number_in(before) == Decimal(repr(after)),
    "separators left out": lambda before, after: number_in(before) == Decimal(repr(after)),
}


def exactly(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@given(calls())
def test_valid_arguments_are_unchanged(call: tuple[dict[str, Any], dict[str, Any]]) -> None:
    schema, value = call
    args, repairs = repair(value, schema)
    assert exactly(args) == exactly(value)
    assert repairs == ()


@pytest.mark.req("IV-07")
@given(calls(), anything, st.data())
def test_fields_that_fit_never_change_when_another_is_broken(
    call: tuple[dict[str, Any], dict[str, Any]], broken: Any, data: st.DataObject
) -> None:
    schema, value = call
    assume(value)
    name = data.draw(st.sampled_from(sorted(value)))
    args, repairs = repair({**value, name: broken}, schema)
    assert all(one.path == "" or one.path.split(".")[0] == name for one in repairs)
    if not any(one.path == "" for one in repairs):
        others = {key: inner for key, inner in value.items() if key != name}
        assert exactly({key: inner for key, inner in args.items() if key != name}) == exactly(others)


@pytest.mark.req("IV-07")
@example(
    {"properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}}, {"a": 2.0**53 + 2, "b": "?"}
)
@given(mixed, arguments)
def test_a_field_that_its_union_accepts_never_changes(schema: dict[str, Any], args: dict[str, Any]) -> None:
    after, _ = repair(args, schema)
    for name, inner in schema["properties"].items():
        judge = jsonschema_rs.Draft202012Validator({**inner, "$defs": {"node": NODE}})
        if name in args and judge.is_valid(args[name]):
            assert after[name] == args[name]


@given(roots | mixed, arguments)
@settings(max_examples=150)
def test_a_second_repair_changes_nothing(schema: dict[str, Any], args: dict[str, Any]) -> None:
    once, _ = repair(args, schema)
    twice, repairs = repair(once, schema)
    assert exactly(twice) == exactly(once)
    assert repairs == ()


@pytest.mark.req("IV-05")
@pytest.mark.req("IV-06")
@pytest.mark.req("BY-16")
@given(weak_calls())
@settings(max_examples=150)
def test_what_a_weak_model_sends_becomes_valid(
    call: tuple[dict[str, Any], dict[str, Any], dict[str, Any]],
) -> None:
    schema, _, sent = call
    args, repairs = repair(sent, schema)
    judge = jsonschema_rs.Draft202012Validator(schema)
    assert judge.is_valid(args), (sent, args, list(judge.iter_errors(args)))
    assert bool(repairs) == (exactly(args) != exactly(sent))


@given(roots | mixed, arguments, weak_calls())
@settings(max_examples=150)
def test_every_repair_can_be_read_backwards(
    schema: dict[str, Any],
    args: dict[str, Any],
    call: tuple[dict[str, Any], dict[str, Any], dict[str, Any]],
) -> None:
    for one in (*repair(args, schema)[1], *repair(call[2], call[0])[1]):
        assert LOSSLESS[one.kind](one.before, one.after), one


@given(st.from_regex(r"\s?[+-]?[0-9]{1,25}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?\s?", fullmatch=True))
@settings(max_examples=150)
def test_number_text_keeps_its_exact_value(text: str) -> None:
    for wanted in ("integer", "number"):
        args, repairs = repair({"n": text}, {"properties": {"n": {"type": wanted}}})
        if repairs:
            assert Decimal(text.strip()) == Decimal(repr(args["n"]))
        else:
            assert args == {"n": text}


KEYWORDS = (
    "type properties required enum const items prefixItems anyOf oneOf allOf $ref additionalProperties "
    "patternProperties description examples x-aliases $defs name node"
).split()
values_of_keywords = anything | st.sampled_from(
    [
        "object",
        "array",
        "integer",
        "#",
        "#/properties/name",
        "#/nowhere",
        "#/anyOf/0",
        "https://x",
        ["a"],
        {"[": {}},
        {"(a+)+$": {}},
    ]
)
strange_schemas = st.recursive(
    values_of_keywords,
    lambda inner: st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4) | st.lists(inner, max_size=3),
    max_leaves=12,
).map(lambda schema: schema if isinstance(schema, dict) else {"properties": {"name": schema}})


@given(roots | mixed | strange_schemas, arguments)
@settings(max_examples=250)
def test_no_schema_and_no_arguments_raise_or_are_changed(
    schema: dict[str, Any], args: dict[str, Any]
) -> None:
    schema_before, args_before = copy.deepcopy(schema), copy.deepcopy(args)
    after, repairs = repair(args, schema, {"name": ["title"]})
    assert (exactly(args), exactly(schema)) == (exactly(args_before), exactly(schema_before))
    assert bool(repairs) == (exactly(after) != exactly(args))
