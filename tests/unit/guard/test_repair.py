"""What repair corrects, and what it must leave for the model to correct."""

from __future__ import annotations

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
    described,
    either,
    exactly,
    repaired,
)


@pytest.mark.req("IV-05")
@pytest.mark.parametrize(
    ("given", "wanted"),
    [("true", True), ("FALSE", False), (" True ", True), ("1", True), ("0", False), (1, True), (0, False)],
)
def test_words_and_digits_become_booleans(given: Any, wanted: bool) -> None:
    assert repaired(given, BOOLEAN) is wanted


@pytest.mark.req("IV-06")
@pytest.mark.parametrize(
    ("given", "wanted"), [(5, "5"), (-1.5, "-1.5"), (5.0, "5.0"), (True, "true"), (False, "false")]
)
def test_numbers_and_booleans_become_text(given: Any, wanted: str) -> None:
    assert repaired(given, STRING) == wanted


@pytest.mark.req("IV-07")
@pytest.mark.parametrize(
    ("given", "schema", "wanted"),
    [
        ("5", INTEGER, 5),
        (" -12\n", INTEGER, -12),
        ("+3", INTEGER, 3),
        ("5.0", INTEGER, 5),
        (5.0, INTEGER, 5),
        ("123456789012345678901234567890", INTEGER, 123456789012345678901234567890),
        ("5", NUMBER, 5),
        ("0.1", NUMBER, 0.1),
        ("1e3", NUMBER, 1000.0),
        ("-2.50", NUMBER, -2.5),
    ],
)
def test_texts_become_numbers(given: Any, schema: Any, wanted: Any) -> None:
    assert exactly(repaired(given, schema)) == exactly(wanted)


@pytest.mark.req("IV-07")
@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("5", STRING),
        ("true", STRING),
        ("null", either(STRING, NULL)),
        ("[1]", STRING),
        ("a", {}),
        (5, NUMBER),
        (0, INTEGER),
        (1, either(BOOLEAN, INTEGER)),
        (1, either({"type": "integer", "enum": [1.0]}, STRING)),
        ("5", either(INTEGER, STRING)),
        ("5", {"type": ["integer", "string"]}),
        (None, either(STRINGS, NULL)),
        ("done", STATUS),
        ({"X": "1"}, {"type": "object", "additionalProperties": {}}),
    ],
)
def test_what_fits_stays_although_another_field_is_repaired(value: Any, schema: Any) -> None:
    args, repairs = repair({"p": value, "n": "1"}, closed(p=schema, n=INTEGER))
    assert exactly(args) == exactly({"p": value, "n": 1})
    assert [one.path for one in repairs] == ["n"]


@pytest.mark.req("BY-16")
@pytest.mark.parametrize(
    ("given", "schema", "wanted"),
    [
        ('["a", "b"]', STRINGS, ["a", "b"]),
        (' {"x": "1"} ', POINT, {"x": 1}),
        ('["1", 2]', INTEGERS, [1, 2]),
        ('[{"x": 1}, "{\\"x\\": 2}"]', {"type": "array", "items": POINT}, [{"x": 1}, {"x": 2}]),
        ("[[1], [2]]", {"type": "array", "items": INTEGERS}, [[1], [2]]),
        ('{"x": 1}', either(POINT, NULL), {"x": 1}),
    ],
)
def test_json_in_text_is_parsed_and_repaired_inside(given: str, schema: Any, wanted: Any) -> None:
    assert exactly(repaired(given, schema)) == exactly(wanted)


@pytest.mark.req("BY-16")
@pytest.mark.parametrize(
    ("given", "schema", "wanted"),
    [
        ("a", STRINGS, ["a"]),
        (5, STRINGS, ["5"]),
        ("5", INTEGERS, [5]),
        ("DONE", {"type": "array", "items": STATUS}, ["done"]),
        ({"x": "1"}, {"type": "array", "items": POINT}, [{"x": 1}]),
        ('{"x": 1, "y": 2}', {"type": "array", "items": POINT}, [{"x": 1, "y": 2}]),
        ("a", {"type": "array"}, ["a"]),
        (7, either(INTEGERS, NULL), [7]),
    ],
)
def test_one_value_becomes_the_list_of_it(given: Any, schema: Any, wanted: Any) -> None:
    assert exactly(repaired(given, schema)) == exactly(wanted)


@pytest.mark.req("BY-16")
@pytest.mark.parametrize(
    ("given", "choices", "wanted"),
    [
        ("DONE", ["todo", "done"], "done"),
        (" done ", ["todo", "done"], "done"),
        ("In Progress", ["in_progress"], "in_progress"),
        ("inProgress", ["in-progress"], "in-progress"),
        ("UTF8", ["utf-8", "latin-1"], "utf-8"),
        ("utc-5", ["UTC-5", "UTC+5"], "UTC-5"),
        ("2", [1, 2, 3], 2),
        ("0.5", [0.5, 1], 0.5),
        (2, ["1", "2"], "2"),
        (True, ["True", "False"], "True"),
        ("true", [True], True),
        ("None", [1, None], None),
    ],
)
def test_choices_are_found_by_spelling(given: Any, choices: list[Any], wanted: Any) -> None:
    assert exactly(repaired(given, {"enum": choices})) == exactly(wanted)


@pytest.mark.req("BY-16")
def test_a_constant_is_found_by_spelling() -> None:
    assert repaired("Create", {"const": "create"}) == "create"


@pytest.mark.req("BY-16")
@pytest.mark.parametrize("given", ["userId", "USER_ID", "user-id", "User Id", "uid", "UID", "account"])
def test_names_are_found_by_spelling_and_alias(given: str) -> None:
    schema = closed(user_id={**INTEGER, "x-aliases": ["account", 5]}, other=STRING)
    args, repairs = repair({"other": "a", given: 7}, schema, {"user_id": ["uid"]})
    assert args == {"other": "a", "user_id": 7}
    assert repairs == (Repair("user_id", "parameter name", given, "user_id"),)


@pytest.mark.req("BY-16")
def test_names_are_found_at_every_level() -> None:
    schema = closed(items={"type": "array", "items": closed(unit_price=NUMBER)})
    args, repairs = repair({"items": [{"unitPrice": "1.5"}]}, schema, {"unit_price": ["cost"]})
    assert args == {"items": [{"unit_price": 1.5}]}
    assert [(one.path, one.kind) for one in repairs] == [
        ("items.0.unit_price", "parameter name"),
        ("items.0.unit_price", "text as number"),
    ]


@pytest.mark.req("BY-16")
def test_aliases_of_parameters_do_not_reach_into_them() -> None:
    schema = closed(item=closed(price=NUMBER))
    args = {"item": {"cost": 1}}
    assert repair(args, schema, {"price": ["cost"]}) == (args, ())


@pytest.mark.req("BY-16")
@pytest.mark.parametrize(
    ("args", "schema"),
    [
        ({"UserId": 1, "user-id": 2}, closed(user_id=INTEGER)),
        ({"UserId": 1, "user_id": 2}, closed(user_id=INTEGER)),
        ({"UserId": 1, "user_id": None}, closed(user_id=INTEGER)),
        ({"userid": 1}, closed(user_id=INTEGER, userId=INTEGER)),
        ({"Name": "a"}, {"properties": {"name": STRING}, "additionalProperties": True}),
        ({"Name": "a"}, {"properties": {"name": STRING}, "additionalProperties": STRING}),
        ({"Name": "a"}, {**closed(name=STRING), "patternProperties": {"^N": STRING}}),
        ({"Name": "a"}, {**closed(name=STRING), "patternProperties": {"^(N|M)": STRING}}),
        ({"Name": "a"}, {"properties": {"name": STRING}, "if": {}, "then": {"properties": {"Name": STRING}}}),
        ({"Name": "a"}, {"properties": {"name": STRING}, "$ref": "https://example.org/schema"}),
        ({"_name": "a"}, closed(name=STRING)),
        ({"line2": "a"}, closed(line1=STRING)),
    ],
)
def test_a_name_that_may_mean_something_else_stays(args: dict[str, Any], schema: dict[str, Any]) -> None:
    assert repair(args, schema) == (args, ())


@pytest.mark.parametrize(
    ("given", "description", "wanted"),
    [
        ("30s", "Timeout in seconds", 30),
        ("30 seconds", "Timeout (s)", 30),
        ("30 sec", "Timeout in seconds (min 1, max 60).", 30),
        ("1.5 h", "Duration in hours, e.g. 2", 1.5),
        ("5 minutes", "at most 10 min", 5),
        ("15 %", "Discount as a percentage", 15),
        ("$5", "Price in USD", 5),
        ("5 EUR", "Price (€)", 5),
        ("20°C", "Temperature in degrees Celsius", 20),
        ("10 MB", "Size in megabytes", 10),
        ("1,000", "Amount, e.g. 2,500", 1000),
        ("-12 000.5", "Amount, such as 10 000", -12000.5),
        ("$1,000", "Amount in dollars, like $20,000", 1000),
    ],
)
def test_units_and_separators_go_where_the_description_explains_them(
    given: str, description: str, wanted: float
) -> None:
    assert exactly(repaired(given, described(NUMBER, description))) == exactly(wanted)


def test_separators_may_be_explained_by_examples() -> None:
    assert repaired("1,000", {**INTEGER, "examples": ["25,000"]}) == 1000


def test_a_description_outside_the_union_counts() -> None:
    assert repaired("30s", described(either(INTEGER, NULL), "Seconds to wait")) == 30


@pytest.mark.parametrize(
    ("given", "description"),
    [
        ("30s", "Timeout"),
        ("30s", "Timeout in minutes"),
        ("30s", "Timeout in seconds or minutes"),
        ("30s", "Timeout of the item(s), e.g. 3"),
        ("30 s", "Requests per second"),
        ("2 hours", "Requests per hour"),
        ("5 min", "Timeout, min 1, max 10"),
        ("5 g", "Weight, e.g. 3"),
        ("5 m", "I'm the length"),
        ("5 m", "Speed in m/s"),
        ("5 m", "Area in square metres"),
        ("5M", "Length in m"),
        ("5Mb", "Size in MB"),
        ("$5", "Price in cents ($ / 100)"),
        ("$5", "Price in €"),
        ("$5 EUR", "Price in $ and never anything but $"),
        ("$5 kg", "Price in USD of a weight in kg"),
        ("5 USD", "Price in Canadian dollars"),
        ("5 apples", "Number of apples"),
        ("1h 30min", "Time in hours"),
        ("1,000", "Amount"),
        ("1,000", "Amount, e.g. 10 000"),
        ("1,00", "Amount, e.g. 1,000"),
        ("1,000,00", "Amount, e.g. 1,000"),
        ("007 s", "Seconds"),
    ],
)
def test_a_unit_or_separator_in_doubt_stays(given: str, description: str) -> None:
    assert repaired(given, described(NUMBER, description)) == given
