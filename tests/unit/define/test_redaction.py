"""Which arguments are secret, how records are masked, and how a secret is kept out of text."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretBytes, SecretStr

from handrail.core.define.call import Repair
from handrail.core.define.redaction import (
    MASK,
    drop_paths,
    mask_paths,
    mask_refused_arguments,
    mask_repairs,
    masked_values,
    redact_values,
    restore_masked,
    secret_paths,
)

PASSWORD = {"type": "string", "format": "password"}


class Login(BaseModel):
    user: str
    password: SecretStr


class Everything(BaseModel):
    plain: str
    token: SecretStr
    key: SecretBytes | None = None
    marked: str = Field(json_schema_extra={"x-secret": True})
    written: int = Field(json_schema_extra={"writeOnly": True})
    logins: list[Login] = []
    by_name: dict[str, Login] = {}
    headers: dict[str, SecretStr] = {}
    pair: tuple[str, SecretStr] | None = None
    best: Login | None = None


class Node(BaseModel):
    name: str
    token: SecretStr
    children: list["Node"] = []
    left: "Node | None" = None


@pytest.mark.req("BY-19")
def test_passwords_write_only_and_marked_properties_are_secret_wherever_they_stand() -> None:
    found = secret_paths(Everything.model_json_schema())
    assert found == {
        "token",
        "key",
        "marked",
        "written",
        "logins.*.password",
        "by_name.*.password",
        "headers.*",
        "pair.*",
        "best.password",
    }


@pytest.mark.req("BY-19")
@pytest.mark.parametrize(
    ("schema", "value", "shown"),
    [
        ({"properties": {"a.b": PASSWORD}}, {"a.b": "x", "a": {"b": "y"}}, {"a.b": MASK, "a": {"b": "y"}}),
        ({"properties": {"*": PASSWORD}}, {"*": "x", "a": "y"}, {"*": MASK, "a": "y"}),
        ({"properties": {"~1": PASSWORD}}, {"~1": "x", ".": "y"}, {"~1": MASK, ".": "y"}),
        ({"additionalProperties": PASSWORD}, {"a": "x"}, {"a": MASK}),
        ({"patternProperties": {"^s_": PASSWORD}}, {"s_a": "x"}, {"s_a": MASK}),
        ({"properties": {"a": {"prefixItems": [{}, PASSWORD]}}}, {"a": [1, "x"]}, {"a": [MASK, MASK]}),
        ({"properties": {"a": {"items": [PASSWORD]}}}, {"a": ["x"]}, {"a": [MASK]}),
        ({"if": {}, "then": {"properties": {"a": PASSWORD}}}, {"a": "x"}, {"a": MASK}),
        ({"oneOf": [{"properties": {"a": PASSWORD}}, {}]}, {"a": "x"}, {"a": MASK}),
        ({"dependentSchemas": {"b": {"properties": {"a": PASSWORD}}}}, {"a": "x"}, {"a": MASK}),
        ({"properties": {"a": {"$ref": "#/$defs/s"}}, "$defs": {"s": PASSWORD}}, {"a": "x"}, {"a": MASK}),
        ({"properties": {"a": {"anyOf": [PASSWORD, {"type": "object"}]}}}, {"a": {"b": "x"}}, {"a": MASK}),
        ({"properties": {"a": PASSWORD}}, {"a": None}, {"a": None}),
        ({"properties": {"a": {"type": "string"}}}, {"a": "x"}, {"a": "x"}),
        ({"properties": {"writeOnly": {"type": "string"}}}, {"writeOnly": "x"}, {"writeOnly": "x"}),
    ],
)
def test_any_schema_says_what_to_mask(schema: dict[str, Any], value: Any, shown: Any) -> None:
    before = json.dumps(value)
    assert mask_paths(value, secret_paths({"type": "object", **schema})) == shown
    assert json.dumps(value) == before, "the arguments themselves stay as they are"


@pytest.mark.req("BY-19")
@given(st.integers(0, 60))
def test_a_schema_that_refers_to_itself_is_masked_at_any_depth(depth: int) -> None:
    value: dict[str, Any] = {"name": "leaf", "token": "hunter2"}
    for level in range(depth):
        value = {"name": f"n{level}", "token": "hunter2", "children": [value], "left": value}
        value["left"] = None if level % 2 else {"name": "x", "token": "hunter2"}
    shown = json.dumps(mask_paths(value, secret_paths(Node.model_json_schema())))
    assert "hunter2" not in shown and "leaf" in shown


@pytest.mark.req("BY-19")
def test_a_schema_with_very_many_ways_is_read_in_no_time_and_still_masked() -> None:
    names = "abcdefghijklmnopqrstuvwxyz"
    schema: dict[str, Any] = {"type": "object", "properties": {name: {"$ref": "#"} for name in names}}
    assert secret_paths(schema) == frozenset()
    schema["properties"]["pin"] = PASSWORD
    schema["properties"]["keys"] = {"type": "object", "additionalProperties": PASSWORD}
    value: dict[str, Any] = {"pin": "hunter2", "keys": {"k": "hunter2"}}
    for name in names:
        value = {name: value, "pin": "hunter2"}
    assert "hunter2" not in json.dumps(mask_paths(value, secret_paths(schema)))


@pytest.mark.req("BY-19", "BY-16")
@pytest.mark.parametrize(
    ("path", "before", "after", "hidden"),
    [
        ("pin", 4711, "4711", True),
        ("pin.value", "4711", 4711, True),
        ("", '{"pin": "4711"}', {"pin": "4711"}, True),
        ("", {"args": {"pin": "4711"}}, {"pin": "4711"}, True),
        ("rows", {"pw": "4711"}, [{"pw": "4711"}], True),
        ("rows", '[{"pw": "4711"}]', [{"pw": "4711"}], True),
        ("rows.0", '{"pw": "4711"}', {"pw": "4711"}, True),
        ("rows.0.pw", 4711, "4711", True),
        ("rows.0.count", "5", 5, False),
        ("count", "5", 5, False),
        ("tags", "a", ["a"], False),
    ],
)
def test_a_repair_shows_nothing_of_a_secret_nor_of_what_holds_one(
    path: str, before: Any, after: Any, hidden: bool
) -> None:
    repair = Repair(path, "some kind", before, after)
    shown = Repair(path, "some kind", MASK, MASK) if hidden else repair
    assert mask_repairs((repair,), ["pin", "rows.*.pw"]) == (shown,)
    assert mask_repairs((repair,), []) == (repair,)


@pytest.mark.req("BY-19", "BY-16")
def test_a_repaired_name_is_no_secret_and_a_schema_without_end_hides_only_what_can_hold_one() -> None:
    renamed = Repair("pin", "parameter name", "PIN", "pin")
    count, box = Repair("left.count", "text as number", "5", 5), Repair("left", "JSON text", "{}", {})
    assert mask_repairs((renamed, count, box), ["**.pin"]) == (
        renamed,
        count,
        Repair("left", "JSON text", MASK, MASK),
    )


@pytest.mark.req("BY-19")
@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ({"user": 5, "pin": "4711"}, {"user": 5, "pin": MASK}),
        ({"user": "ana", "PIN": "4711"}, {"user": "ana", "PIN": MASK}),
        ({"user": "ana", "rows": {"x": "4711"}}, {"user": "ana", "rows": MASK}),
        ({"rows": '[{"pw": "4711"}]'}, {"rows": MASK}),
        ({"rows": "none", "user": {"a": float("nan")}}, {"rows": "none", "user": {"a": None}}),
        ({"user": {1}}, {"user": [1]}),
        ('{"pin": "4711"}', None),
        (["4711"], None),
        (None, None),
    ],
)
def test_refused_arguments_show_only_what_is_known_to_be_no_secret(raw: Any, shown: Any) -> None:
    rows = {"type": "array", "items": {"type": "object", "properties": {"pw": PASSWORD}}}
    schema = {"type": "object", "properties": {"user": {}, "pin": PASSWORD, "rows": rows}}
    assert mask_refused_arguments(raw, schema, secret_paths(schema)) == shown


@pytest.mark.req("EV-05", "EV-16")
def test_refused_arguments_are_recorded_as_a_private_copy_that_is_json() -> None:
    raw: dict[str, Any] = {"list": [1], "thing": object}
    shown = mask_refused_arguments(raw, {"type": "object"}, ())
    raw["list"].append(2)
    assert shown == {"list": [1], "thing": "<class 'object'>"}
    raw["self"] = raw
    assert mask_refused_arguments(raw, {"type": "object"}, ()) is None


ROWS = [{"user": "ana", "pw": "one"}, {"user": "bo", "pw": "two"}, {"user": "cy", "pw": "three"}]
SHOWN = [{"user": row["user"], "pw": MASK} for row in ROWS]


@pytest.mark.req("BY-19")
@pytest.mark.parametrize(
    ("edited", "original", "meant"),
    [
        ({"a": "b", "pw": MASK}, {"a": "a", "pw": "one"}, {"a": "b", "pw": "one"}),
        ({"pw": "new"}, {"pw": "one"}, {"pw": "new"}),
        ({"pw": MASK}, {}, {"pw": None}),
        (SHOWN, ROWS, ROWS),
        (SHOWN[::-1], ROWS, ROWS[::-1]),
        (SHOWN[1:], ROWS, ROWS[1:]),
        ([*SHOWN, {"user": "di", "pw": "four"}], ROWS, [*ROWS, {"user": "di", "pw": "four"}]),
        ([{"user": "new", "pw": MASK}, *SHOWN[1:]], ROWS, [{"user": "new", "pw": "one"}, *ROWS[1:]]),
        ([*SHOWN, {"user": "di", "pw": MASK}], ROWS, [*ROWS, {"user": "di", "pw": None}]),
        ([MASK, MASK], ["one", "two"], ["one", "two"]),
        ([MASK], ["one", "two"], ["one"]),
    ],
)
def test_a_mask_left_alone_is_the_value_it_stands_for(edited: Any, original: Any, meant: Any) -> None:
    assert restore_masked({"rows": edited}, {"rows": original}) == {"rows": meant}


@pytest.mark.req("BY-19")
@given(
    st.lists(st.fixed_dictionaries({"user": st.text(), "pw": st.text().filter(lambda pw: pw != MASK)})),
    st.randoms(),
)
def test_no_edit_of_rows_ever_sends_a_mask_or_gives_one_the_secret_of_another(rows: Any, random: Any) -> None:
    shown = mask_paths({"rows": rows}, ["rows.*.pw"])["rows"]
    kept = [row for row in shown if random.random() < 0.7]
    random.shuffle(kept)
    for row in restore_masked({"rows": kept}, {"rows": rows})["rows"]:
        assert row["pw"] != MASK
        assert row["pw"] is None or row["pw"] in [one["pw"] for one in rows if one["user"] == row["user"]]


texts = st.text(min_size=1)
nests = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=12,
)


def holding(secret: str) -> st.SearchStrategy[Any]:
    """JSON values with the secret somewhere inside."""
    spelled = st.sampled_from([secret, json.dumps(secret), repr(secret), quote(secret)])
    written = st.tuples(st.text(), spelled, st.text()).map("".join)
    return st.recursive(
        written,
        lambda inner: (
            st.tuples(nests, inner).map(list)
            | st.tuples(texts, inner).map(lambda pair: {pair[0]: pair[1]})
            | st.tuples(written, nests).map(lambda pair: {pair[0]: pair[1]})
        ),
        max_leaves=4,
    )


def texts_of(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in texts_of(part)]
    if isinstance(value, list):
        return [text for part in value for text in texts_of(part)]
    return [str(value)]


@pytest.mark.req("BY-19")
@given(st.data(), st.text(min_size=3, max_size=20), st.text(max_size=3))
def test_no_nesting_and_no_usual_spelling_hides_a_secret(data: Any, secret: str, more: str) -> None:
    assume(MASK not in secret and secret not in MASK)
    value = data.draw(holding(secret))
    left = texts_of(redact_values(value, {secret, secret + more}))
    assert not any(secret in text for text in left)
    spelled = {json.dumps(secret)[1:-1], repr(secret)[1:-1], quote(secret, safe="")}
    assert not any(form in text for text in left for form in spelled)


@pytest.mark.req("BY-19")
def test_the_longer_secret_is_masked_whole() -> None:
    assert redact_values("abcdef", {"abc", "abcdef"}) == MASK
    assert redact_values({"pin": 4711, "id": 47110, "ok": True}, {"4711", "True"}) == {
        "pin": MASK,
        "id": 47110,
        "ok": True,
    }
    assert redact_values(["a"], {""}) == ["a"]


_NAMES = st.sampled_from(["a", "b", "a.b", "*", "0"])
_ARGS = st.dictionaries(
    _NAMES,
    st.recursive(
        st.just(0), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner), max_leaves=8
    ),
)
_PATHS = st.frozensets(
    st.sampled_from(["a", "b", "a~1b", "~2", "*.a", "a.*", "a.b", "**.b", "a.**.a", "*.*", "a.*.b"])
)


@given(_ARGS, _PATHS)
def test_what_is_left_out_is_what_would_be_masked(args: dict[str, Any], paths: frozenset[str]) -> None:
    told = _numbered(args, count())
    kept, left_out = drop_paths(told, paths)
    secret = set(masked_values(told, mask_paths(told, paths)))
    assert set(_leaves(kept)) == set(_leaves(told)) - secret
    assert bool(secret) <= bool(left_out)
    assert told == _numbered(args, count())


def test_items_of_lists_and_what_is_null_are_left_out_and_kept_like_the_values_of_objects() -> None:
    args = {"keys": ["a", None, "b"], "by": {"x": {"pin": "1"}, "y": {"pin": None}}, "page": 3}
    assert drop_paths(args, ["keys.*", "by.*.pin"]) == (
        {"keys": [None], "by": {"x": {}, "y": {"pin": None}}, "page": 3},
        ("by.x.pin", "keys.0", "keys.2"),
    )


def _numbered(value: Any, numbers: Iterator[int]) -> Any:
    """The same, with a text of its own in the place of each leaf."""
    if isinstance(value, dict):
        return {name: _numbered(part, numbers) for name, part in value.items()}
    if isinstance(value, list):
        return [_numbered(part, numbers) for part in value]
    return f"leaf {next(numbers)}"


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _leaves(part)
