"""Defaults and examples in a schema are values that the schema itself takes."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretStr

from handrail import Handrail, from_json_schema, tool
from tests.unit.conformance.conformant_tool import findings, good, schema

TOLD = {"description": "Told."}


@pytest.mark.req("CF-01")
@pytest.mark.parametrize("key", ["default", "examples", "example"])
@pytest.mark.parametrize(
    ("part", "value"),
    [
        ({"type": "integer"}, "ten"),
        ({"type": "integer"}, None),
        ({"type": "integer", "maximum": 5}, 9),
        ({"type": "string", "minLength": 4}, "bad"),
        ({"enum": ["low", "high"]}, "hi"),
        ({"type": "array", "items": {"type": "integer"}}, ["1"]),
        ({"$ref": "#/$defs/small"}, 7),
        ({"$ref": "#/properties/other"}, 7),
        ({"anyOf": [{"$ref": "#/$defs/small"}, {"type": "null"}]}, 7),
    ],
)
def test_a_value_that_its_own_schema_refuses_is_found(part: dict[str, Any], value: Any, key: str) -> None:
    carried = {key: [value] if key == "examples" else value}
    given = {
        **schema(part={**part, **carried, **TOLD}, other={"type": "string", **TOLD}),
        "$defs": {"small": {"type": "integer", "maximum": 3}},
    }

    [finding] = findings(good(input=given))

    assert (finding.rule, finding.level) == ("default" if key == "default" else "example", "error")
    assert re.match(r"(the default|an example) of part does not fit its own schema: .", finding.message)


@pytest.mark.req("CF-01")
def test_values_are_checked_wherever_they_are() -> None:
    bad = {"type": "integer", "default": "x", **TOLD}
    given = {
        **schema(
            deep=schema(inner=bad) | TOLD,
            rows={"type": "array", "items": schema(cell=bad), **TOLD},
            shared={"$ref": "#/$defs/Shared"},
        ),
        "$defs": {"Shared": schema(part=bad) | TOLD},
        "examples": [{"deep": 1}],
    }

    told = findings(good(input=given))

    assert [one.rule for one in told] == ["default", "default", "default", "example"]
    for path, finding in zip(
        ("deep.inner", "rows[].cell", "Shared.part", "the input as a whole"), told, strict=True
    ):
        assert path in finding.message


@pytest.mark.req("CF-01")
def test_a_name_with_slashes_and_spaces_is_found_again() -> None:
    given = schema(**{"a/b ~c%": {"type": "integer", "default": "x", **TOLD}})

    assert [one.rule for one in findings(good(input=given), "default")] == ["default"]


@pytest.mark.req("CF-01")
@pytest.mark.parametrize("draft", ["http://json-schema.org/draft-07/schema#", None])
@pytest.mark.parametrize("own", ["https://example.org/tool.json", None])
def test_a_schema_with_a_draft_and_an_address_of_its_own_is_checked(
    draft: str | None, own: str | None
) -> None:
    given: dict[str, Any] = {
        "type": "object",
        "properties": {
            "good": {"$ref": f"{own or ''}#/definitions/small"},
            "bad": {"allOf": [{"$ref": f"{own or ''}#/definitions/small"}], "default": 7},
        },
        "definitions": {"small": {"type": "integer", "maximum": 3, "default": 2}},
    }
    given |= {"$schema": draft} if draft else {}
    given |= {"$id": own} if own else {}

    [finding] = findings(good(input=given), "default")

    assert "bad" in finding.message


@pytest.mark.req("CF-01")
def test_a_value_is_held_against_the_draft_that_the_schema_names() -> None:
    above_zero = {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "default": 0, **TOLD}
    older = {"$schema": "http://json-schema.org/draft-04/schema#", **schema(part=above_zero)}

    assert [one.rule for one in findings(good(input=older))] == ["default"]


@pytest.mark.req("CF-01")
def test_what_needs_a_document_that_is_not_at_hand_is_left_alone() -> None:
    far = "https://example.org/small.json"
    made = from_json_schema(
        "data.search",
        schema(near={"type": "integer", "default": "x", **TOLD}, far={"$ref": far, "default": "x", **TOLD}),
        dict,
        description="Search the records of a region, newest first.",
        level="read",
        resources={far: {"type": "integer"}},
    )

    assert [one.message.partition(" does")[0] for one in findings(made, "default")] == ["the default of near"]


class Colour(Enum):
    RED = "red"


class Inner(BaseModel):
    count: int = 3


class Kinds(BaseModel):
    day: dt.date = dt.date(2026, 5, 1)
    moment: dt.datetime = dt.datetime(2026, 5, 1, 9, 0)  # noqa: DTZ001
    hour: dt.time = dt.time(9)
    span: dt.timedelta = dt.timedelta(hours=1)
    price: Decimal = Decimal("1.50")
    colour: Colour = Colour.RED
    key: UUID = UUID(int=7)
    pin: SecretStr = SecretStr("4711")
    tags: set[str] = Field({"a"}, examples=[["a"]])
    inner: Inner = Inner(count=5)
    nothing: int | None = None
    raw: bytes = b"x"
    limit: int = Field(10, ge=1, examples=[1, 2])


@pytest.mark.req("CF-01")
def test_the_defaults_of_python_types_are_values_of_theirs() -> None:
    assert findings(good(input=Kinds), "default", "example") == []


@pytest.mark.req("CF-01")
def test_a_default_that_its_annotation_does_not_allow_is_found() -> None:
    @tool("data.search", level="read")
    def search(limit: int = "ten", page: Annotated[int, Field(ge=1)] = 0) -> str:  # type: ignore[assignment]
        """Search the records of a region, newest first."""
        return ""

    assert len(findings(search, "default")) == 2


scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3)


@pytest.mark.req("CF-01")
@given(
    kind=st.sampled_from(["integer", "string", "boolean", "null"]),
    default=scalars | st.lists(scalars, max_size=2),
)
async def test_a_default_is_found_exactly_when_a_caller_could_not_send_it(kind: str, default: Any) -> None:
    made = good(input=schema(part={"type": kind, "default": default, **TOLD}))
    async with Handrail([made], repair=False) as hr:
        sent = await hr.call("data.search", {"part": default})

    assert bool(findings(made)) == (sent.code == "INVALID_PARAM")
