"""Foreign schemas in the shape providers take: an object with its properties at the top."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import Handrail, from_json_schema
from handrail.core.define.schema import provider_schema

ADDRESS = {"type": "object", "properties": {"street": {"type": "string"}}, "required": ["street"]}
NAMED = {"properties": {"name": {"type": "string"}}, "required": ["name"]}


@pytest.mark.req("SC-06", "TD-07")
def test_a_reference_at_the_top_is_followed_and_the_definitions_are_kept() -> None:
    schema = {"$ref": "#/$defs/address", "$defs": {"address": ADDRESS}}

    assert provider_schema(schema) == {**ADDRESS, "$defs": {"address": ADDRESS}}


@pytest.mark.req("SC-06")
def test_older_definitions_are_kept_under_their_older_name() -> None:
    schema = {
        "$ref": "#/definitions/person",
        "definitions": {
            "address": ADDRESS,
            "person": {"type": "object", "properties": {"home": {"$ref": "#/definitions/address"}}},
        },
    }

    assert provider_schema(schema) == {
        "type": "object",
        "properties": {"home": {"$ref": "#/definitions/address"}},
        "definitions": schema["definitions"],
    }


@pytest.mark.req("SC-06")
def test_what_stands_beside_a_reference_is_added_to_it() -> None:
    schema = {
        "$ref": "#/$defs/address",
        **NAMED,
        "description": "Who and where.",
        "$defs": {"address": ADDRESS},
    }

    shown = provider_schema(schema)

    assert list(shown["properties"]) == ["street", "name"]
    assert shown["required"] == ["street", "name"]
    assert shown["description"] == "Who and where."


@pytest.mark.req("SC-06")
@pytest.mark.parametrize(
    "ref",
    ["#/$defs/a~1b", "#/$defs/a%7E1b", "#home", "#/x-parts/0"],
    ids=["escaped", "percent-encoded", "anchor", "in a list"],
)
def test_references_are_followed_in_every_spelling(ref: str) -> None:
    target = {**ADDRESS, "$anchor": "home"}

    assert (
        "street"
        in provider_schema({"$ref": ref, "$defs": {"a/b": target}, "x-parts": [target]})["properties"]
    )


@pytest.mark.req("SC-06")
def test_every_part_of_an_allof_is_shown() -> None:
    schema = {"type": "object", "allOf": [{"$ref": "#/$defs/address"}, NAMED], "$defs": {"address": ADDRESS}}

    assert provider_schema(schema) == {
        "type": "object",
        "properties": {"street": {"type": "string"}, "name": {"type": "string"}},
        "required": ["street", "name"],
        "$defs": {"address": ADDRESS},
    }


@pytest.mark.req("SC-06")
@pytest.mark.parametrize("key", ["oneOf", "anyOf"])
def test_the_branches_of_a_union_are_shown_together(key: str) -> None:
    mail = {"properties": {"by": {"const": "mail"}, "to": {"type": "string"}}, "required": ["by", "to"]}
    call = {
        "properties": {"by": {"const": "call"}, "number": {"type": "string"}},
        "required": ["by", "number"],
    }

    shown = provider_schema({"type": "object", key: [mail, call]})

    assert shown == {
        "type": "object",
        "properties": {
            "by": {"anyOf": [{"const": "mail"}, {"const": "call"}]},
            "to": {"type": "string"},
            "number": {"type": "string"},
        },
        "required": ["by"],
    }


@pytest.mark.req("SC-06")
def test_what_only_a_validator_can_read_is_left_out_and_still_enforced() -> None:
    schema = {
        "type": ["object", "null"],
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "if": {"required": ["a"]},
        "then": {"required": ["b"]},
        "not": {"required": ["c"]},
    }

    assert provider_schema(schema) == {"type": "object", "properties": schema["properties"]}


@pytest.mark.req("SC-06", "SC-10")
async def test_a_union_at_the_top_is_enforced_although_a_model_sees_it_flat() -> None:
    mail = {"properties": {"by": {"const": "mail"}, "to": {"type": "string"}}, "required": ["by", "to"]}
    call = {
        "properties": {"by": {"const": "call"}, "number": {"type": "string"}},
        "required": ["by", "number"],
    }
    reach = from_json_schema(
        "reach", {"type": "object", "oneOf": [mail, call]}, dict, description="Reach somebody.", level="read"
    )

    async with Handrail([reach]) as hr:
        fits = await hr.call("reach", {"by": "mail", "to": "ann@example.com"})
        mixed = await hr.call("reach", {"by": "call", "to": "ann@example.com"})

    assert (fits.status, mixed.code) == ("completed", "INVALID_PARAM")


@pytest.mark.req("SC-06")
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "allOf": [{"$ref": "#"}, {"$ref": "#"}], **NAMED},
        {"anyOf": [{"$ref": "#"}, {"oneOf": [{"$ref": "#"}, NAMED]}]},
        {
            "$ref": "#/$defs/0",
            "$defs": {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(60)}
            | {"60": NAMED},
        },
    ],
    ids=["itself", "itself in a union", "sixty layers"],
)
def test_a_schema_that_refers_to_itself_is_shown_in_finite_time(schema: Any) -> None:
    assert list(provider_schema(schema)["properties"]) == ["name"]
