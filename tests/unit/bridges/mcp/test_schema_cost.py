"""Schemas of foreign servers: the usual ones are light, and one that never ends to be checked is not used."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.bridges.mcp import Server
from handrail.bridges.mcp.definitions import schema_cost, tool_of
from handrail.ext.errors import DefinitionError

AGAIN = {"$ref": "#/$defs/a"}


def doubling(times: int) -> dict[str, Any]:
    """Small as it is written, and 2 ** times as large with each reference written out."""
    steps = [{"allOf": [{"$ref": f"#/$defs/s{n}"}] * 2} for n in range(times)]
    defs = {"s0": {"type": "object"}, **{f"s{n}": one for n, one in enumerate(steps, 1)}}
    return {"type": "object", "$defs": defs, "$ref": f"#/$defs/s{times}"}


def recursive(a: Any) -> dict[str, Any]:
    return {"type": "object", "$defs": {"a": a}, "properties": {"a": AGAIN}}


LIGHT: list[Any] = [
    None,
    True,
    {"type": "object", "properties": {"$ref": {"type": "string"}, "const": {"type": "integer"}}},
    doubling(5),
    recursive({"properties": {"left": AGAIN, "right": AGAIN}}),
    recursive({"anyOf": [{"type": "string"}, {"type": "array", "items": AGAIN}]}),
    recursive({"properties": {"and": {"items": AGAIN}, "or": {"items": AGAIN}, "not": AGAIN}}),
    {"type": "object", "properties": {"child": {"$ref": "#"}}},
    {"type": "object", "default": {"$ref": "#/nowhere"}, "enum": [{"$dynamicRef": "#x"}]},
]
BRANCHING: list[Any] = [
    recursive({"anyOf": [{"properties": {"x": AGAIN}}, {"properties": {"x": AGAIN}}]}),
    recursive({"allOf": [{"properties": {"x": AGAIN}}], "additionalProperties": AGAIN}),
    recursive({"oneOf": [{"items": AGAIN}, {"prefixItems": [AGAIN]}]}),
]
HEAVY: list[Any] = [
    doubling(60),
    recursive({"allOf": [AGAIN, AGAIN]}),
    recursive({"anyOf": [{"$dynamicRef": "#x"}]}),
    recursive({"$ref": "#anchor"}),
    {"allOf": [{"$ref": "#"}]},
]


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (kind, one)
        for kind, all in (("light", LIGHT), ("branching", BRANCHING), ("heavy", HEAVY))
        for one in all
    ],
)
def test_a_schema_is_as_heavy_as_the_work_that_it_can_make(kind: str, schema: Any) -> None:
    assert schema_cost(schema) == kind


@pytest.mark.req("MC-07")
@pytest.mark.parametrize("heavy", [*HEAVY, *BRANCHING])
def test_a_promise_that_never_ends_to_be_checked_is_dropped_and_such_an_input_refused(heavy: Any) -> None:
    server = Server("far", command="x")
    plain = {"type": "object", "properties": {}}
    made = tool_of("far.pay", "pay", server, {"input_schema": plain, "output_schema": heavy}, dict)
    assert made.output_schema is None
    if heavy in HEAVY:
        with pytest.raises(DefinitionError, match="too long to check"):
            tool_of("far.pay", "pay", server, {"input_schema": heavy}, dict)
