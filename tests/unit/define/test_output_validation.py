"""What a body promises to return: the schema of it, and what becomes of a broken promise."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Annotated, Any

import jsonschema_rs
import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from handrail import Handrail, Outcome, Result, Tool, define, tool
from handrail.core.define.validation import InvalidValue
from handrail.ext.compat import ToolResponse
from handrail.ext.forms import build_markdown_table


class Sum(BaseModel):
    total: Decimal
    day: dt.date = Field(alias="onDay")
    ratio: float = 0.5


class Row(TypedDict):
    name: str


def returning(annotation: Any, value: Any) -> Tool:
    """A tool that promises one thing and returns another."""

    def give():
        return value

    give.__annotations__ = {"return": annotation}
    return tool("give", level="read", description="Give a value.")(give)


async def given_by(annotation: Any, value: Any) -> Outcome:
    async with Handrail([returning(annotation, value)]) as hr:
        return await hr.call("give")


@pytest.mark.req("TD-08", "SC-05")
@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (list[Row], {"$defs": ..., "type": "array", "items": {"$ref": "#/$defs/Row"}}),
        (Annotated[int, {"any": "thing"}], {"type": "integer"}),
        (Annotated[str, Field(max_length=3)], {"type": "string", "maxLength": 3}),
    ],
)
def test_the_output_schema_follows_from_the_return_type(annotation: Any, schema: dict[str, Any]) -> None:
    made = returning(annotation, None).output_schema

    assert made is not None
    assert {**made, **{key: ... for key in made if key == "$defs"}} == schema


@pytest.mark.req("SC-05")
@pytest.mark.parametrize("annotation", [Sum, list[Row], dict[str, Sum], int | None, tuple[int, str]])
def test_an_output_schema_is_json_schema_2020_12(annotation: Any) -> None:
    schema = returning(annotation, None).output_schema

    assert schema is not None
    jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


@pytest.mark.req("SC-05")
async def test_what_comes_out_fits_the_schema_that_was_shown() -> None:
    for total in ("12.50", "1E+5", "-0.000001", "0"):
        out = await given_by(Sum, Sum(total=Decimal(total), onDay=dt.date(2024, 1, 2)))
        schema = returning(Sum, None).output_schema

        assert out.result.data == {"total": total, "onDay": "2024-01-02", "ratio": 0.5}
        assert schema is not None
        jsonschema_rs.validate(schema, out.result.data)


@pytest.mark.req("TD-08")
@pytest.mark.parametrize("annotation", [None, Any, Result, ToolResponse, Result | ToolResponse])
def test_an_envelope_promises_nothing_about_its_data(annotation: Any) -> None:
    assert returning(annotation, None).output_schema is None


@pytest.mark.req("TD-08")
async def test_a_type_beside_an_envelope_is_the_promise_for_the_data() -> None:
    promised = Sum | Result
    good = await given_by(promised, Result(data={"total": "1", "onDay": "2024-01-02"}, summary="Summed."))
    bad = await given_by(promised, Result(data={"total": "one"}))
    failed = await given_by(promised, Result.fail("no data"))

    assert returning(promised, None).output_schema == returning(Sum, None).output_schema
    assert (good.result.data["total"], good.result.summary) == ("1", "Summed.")
    assert (bad.code, failed.code) == ("INVALID_OUTPUT", "TOOL_FAILED")


@pytest.mark.req("TD-08")
@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (int, "many"),
        (Sum, {"total": "x", "onDay": "2024-01-02"}),
        (list[Row], [{"nam": "a"}]),
        (float, math.nan),
        (dict[str, float], {"a": math.inf}),
        (str, 5),
    ],
)
async def test_a_broken_promise_is_a_failure_that_names_the_author(annotation: Any, value: Any) -> None:
    out = await given_by(annotation, value)

    assert (out.status, out.code) == ("failed", "INVALID_OUTPUT")
    assert "tell its author" in (out.result.error or "")


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_number_that_is_none_breaks_the_promise_of_a_number(value: float) -> None:
    check = returning(list[float], None).check_output

    assert check is not None and check([0.5]) == [0.5]
    with pytest.raises(InvalidValue):
        check([value])


@pytest.mark.req("TD-08", "SC-10")
@pytest.mark.parametrize(
    ("value", "code"), [({"n": 1}, None), ({"n": "x"}, "INVALID_OUTPUT"), ({"n": math.nan}, "INVALID_OUTPUT")]
)
async def test_an_output_described_by_a_json_schema_is_checked_and_left_as_it_is(
    value: Any, code: str | None
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "number"}, "m": {"default": 1}}}
    give = define("give", description="Give.", level="read", outputSchema=schema, execute=lambda args: value)

    async with Handrail([give]) as hr:
        out = await hr.call("give")

    assert out.code == code
    assert code is not None or out.result.data == {"n": 1}


def test_rows_become_a_table_with_labels_and_a_total() -> None:
    rows: list[dict[str, Any]] = [{"name": "a|b", "unit_price": 1}, {"name": "c\nd"}]

    assert build_markdown_table(rows, heading="Prices", total=9, limit=2).splitlines() == [
        "## Prices",
        "",
        "| Name | Unit Price |",
        "| --- | --- |",
        "| a\\|b | 1 |",
        "| c d |  |",
        "... (9 total)",
    ]
    assert build_markdown_table([]) == "(0 total)"
