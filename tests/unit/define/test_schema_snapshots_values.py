"""Exactly what a model is shown of dates, decimals, constraints, maps and keys of one's own."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from typing import Annotated, Any

import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel, ConfigDict, Field, SecretStr
from typing_extensions import TypedDict

from handrail import Handrail, Tool, from_json_schema, tool


async def shown(made: Tool) -> Any:
    """The parameters of a tool as they go to a provider."""
    async with Handrail([made]) as hr:
        [exported] = await hr.export("openai")
        [other] = await hr.export("anthropic")
    assert other["input_schema"] == exported["function"]["parameters"]
    return exported["function"]["parameters"]


@pytest.mark.req("SC-02")
async def test_dates_decimals_and_other_types_that_are_text_in_json() -> None:
    @tool("book", level="read")
    def book(
        day: dt.date,
        at: dt.datetime,
        time: dt.time,
        length: dt.timedelta,
        price: Decimal,
        share: Annotated[Decimal, Field(ge=0, le=1, decimal_places=2)],
        id: uuid.UUID,
        tags: set[str],
        corner: tuple[int, int],
        secret: SecretStr,
        raw: bytes = b"",
        optional_price: Decimal | None = None,
    ) -> str:
        """Book a room."""
        return str(day)

    assert await shown(book) == snapshot(
        {
            "type": "object",
            "properties": {
                "day": {"format": "date", "type": "string"},
                "at": {"format": "date-time", "type": "string"},
                "time": {"format": "time", "type": "string"},
                "length": {"format": "duration", "type": "string"},
                "price": {"anyOf": [{"type": "number"}, {"pattern": "^-?\\d+(\\.\\d+)?$", "type": "string"}]},
                "share": {
                    "anyOf": [
                        {"maximum": 1.0, "minimum": 0.0, "type": "number"},
                        {"pattern": "^-?\\d+(\\.\\d{1,2})?$", "type": "string"},
                    ]
                },
                "id": {"format": "uuid", "type": "string"},
                "tags": {"items": {"type": "string"}, "type": "array", "uniqueItems": True},
                "corner": {
                    "maxItems": 2,
                    "minItems": 2,
                    "prefixItems": [{"type": "integer"}, {"type": "integer"}],
                    "type": "array",
                },
                "secret": {"format": "password", "type": "string", "writeOnly": True},
                "raw": {"default": "", "format": "binary", "type": "string"},
                "optional_price": {
                    "anyOf": [
                        {"type": "number"},
                        {"pattern": "^-?\\d+(\\.\\d+)?$", "type": "string"},
                        {"type": "null"},
                    ],
                    "default": None,
                },
            },
            "additionalProperties": False,
            "required": ["day", "at", "time", "length", "price", "share", "id", "tags", "corner", "secret"],
        }
    )


@pytest.mark.req("SC-02")
async def test_constraints() -> None:
    @tool("order", level="read")
    def order(
        amount: Annotated[int, Field(gt=0, lt=100, multiple_of=5)],
        code: Annotated[str, Field(min_length=2, max_length=8, pattern="^[A-Z]+$")],
        items: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1, max_length=3)],
        ratio: Annotated[float, Field(ge=0.0, le=1.0)] = 0.5,
        note: Annotated[str | None, Field(description="Anything else.", examples=["ring twice"])] = None,
    ) -> str:
        """Order something."""
        return code

    assert await shown(order) == snapshot(
        {
            "type": "object",
            "properties": {
                "amount": {
                    "exclusiveMaximum": 100,
                    "exclusiveMinimum": 0,
                    "multipleOf": 5,
                    "type": "integer",
                },
                "code": {"maxLength": 8, "minLength": 2, "pattern": "^[A-Z]+$", "type": "string"},
                "items": {
                    "items": {"minLength": 1, "type": "string"},
                    "maxItems": 3,
                    "minItems": 1,
                    "type": "array",
                },
                "ratio": {"default": 0.5, "maximum": 1.0, "minimum": 0.0, "type": "number"},
                "note": {
                    "anyOf": [{"type": "string"}, {"type": "null"}],
                    "default": None,
                    "description": "Anything else.",
                    "examples": ["ring twice"],
                },
            },
            "additionalProperties": False,
            "required": ["amount", "code", "items"],
        }
    )


@pytest.mark.req("SC-04")
async def test_extra_keys_survive() -> None:
    class Assignment(BaseModel):
        model_config = ConfigDict(json_schema_extra={"x-group": "people"})

        who: str = Field(json_schema_extra={"x-entity-type": "contact", "x-entity-select": "single"})

    @tool("assign", level="read")
    def assign(
        assignment: Assignment,
        company: Annotated[str, Field(json_schema_extra={"x-entity-type": "company"})],
    ) -> str:
        """Assign somebody."""
        return company

    assert await shown(assign) == snapshot(
        {
            "type": "object",
            "properties": {
                "assignment": {"$ref": "#/$defs/Assignment"},
                "company": {"type": "string", "x-entity-type": "company"},
            },
            "$defs": {
                "Assignment": {
                    "additionalProperties": False,
                    "properties": {
                        "who": {"type": "string", "x-entity-select": "single", "x-entity-type": "contact"}
                    },
                    "required": ["who"],
                    "type": "object",
                    "x-group": "people",
                }
            },
            "additionalProperties": False,
            "required": ["assignment", "company"],
        }
    )


@pytest.mark.req("SC-02")
async def test_typed_dicts_open_models_and_maps() -> None:
    class Point(TypedDict, total=False):
        x: int
        y: int

    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")

        name: str

    @tool("draw", level="read")
    def draw(point: Point, thing: Open, sizes: dict[str, int], anything: Any = None) -> str:
        """Draw something."""
        return thing.name

    assert await shown(draw) == snapshot(
        {
            "type": "object",
            "properties": {
                "point": {"$ref": "#/$defs/Point"},
                "thing": {"$ref": "#/$defs/Open"},
                "sizes": {"additionalProperties": {"type": "integer"}, "type": "object"},
                "anything": {"default": None},
            },
            "$defs": {
                "Open": {
                    "additionalProperties": True,
                    "properties": {"name": {"type": "string"}},
                    "required": ["name"],
                    "type": "object",
                },
                "Point": {
                    "additionalProperties": False,
                    "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
                    "type": "object",
                },
            },
            "additionalProperties": False,
            "required": ["point", "thing", "sizes"],
        }
    )


@pytest.mark.req("SC-04", "TD-07")
async def test_a_foreign_schema_is_shown_as_it_came() -> None:
    foreign = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://example.com/search",
        "type": "object",
        "title": "Search",
        "properties": {
            "company": {"type": "string", "x-entity-type": "company"},
            "within": {"$ref": "#/$defs/range"},
        },
        "required": ["company"],
        "$defs": {"range": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}]}},
    }
    made = from_json_schema("search", foreign, len, description="Search.", level="read")

    assert await shown(made) == snapshot(
        {
            "type": "object",
            "properties": {
                "company": {"type": "string", "x-entity-type": "company"},
                "within": {"$ref": "#/$defs/range"},
            },
            "title": "Search",
            "required": ["company"],
            "$defs": {"range": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}]}},
        }
    )
