"""Schemas that a model, a provider and a client can use: what conformance finds about the others."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from handrail import Result, tool
from handrail.conformance import INTENTIONALLY_INPUT_LESS
from tests.unit.conformance.conformant_tool import LIMIT, findings, good, schema

STREET = {"type": "string", "description": "Street and number."}
ADDRESS = schema(street=STREET)
NAMED = schema(name={"type": "string", "description": "A name."})
EMPTY = {"type": "object", "properties": {}, "additionalProperties": False}


@pytest.mark.req("CF-01", "DS-01", "DS-02", "DS-03")
def test_a_good_tool_has_no_findings() -> None:
    assert findings(good()) == []


@pytest.mark.req("CF-01", "TD-08")
@pytest.mark.parametrize("origin", ["system", "custom"])
def test_a_tool_in_code_needs_an_output_schema(origin: str) -> None:
    [finding] = findings(good(output=None, origin=origin))

    assert (finding.rule, finding.level) == ("output-schema", "error")
    assert "`-> Found | Result`" in finding.remedy


@pytest.mark.req("CF-01")
@pytest.mark.parametrize("origin", ["mcp", "tenant_custom", "bundle"])
def test_a_tool_from_elsewhere_may_have_none(origin: str) -> None:
    assert findings(good(output=None, origin=origin)) == []


@pytest.mark.req("CF-01")
def test_the_remedies_for_a_missing_output_schema_are_remedies() -> None:
    @tool("data.search", level="read", output={"type": "null"})
    def search(limit: int) -> None:
        """Search the records of a region, newest first."""

    @tool("data.find", level="read")
    def find(limit: int) -> list[str] | Result:
        """Find the records of a region, newest first."""
        return []

    assert findings(search, "output-schema") == findings(find, "output-schema") == []


@pytest.mark.req("CF-01", "TD-08")
@pytest.mark.parametrize(
    ("output", "rules"),
    [
        ({}, ["open-output"]),
        ({"type": "object"}, ["open-output"]),
        ({"type": "object", "additionalProperties": True}, ["open-output"]),
        ({"type": "object", "description": "Anything.", "additionalProperties": {}}, ["open-output"]),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, []),
        ({"type": "object", "properties": {"total": {"type": "integer"}}}, []),
        ({"type": "string"}, []),
    ],
)
def test_an_output_schema_that_allows_anything_promises_nothing(output: Any, rules: list[str]) -> None:
    assert [one.rule for one in findings(good(output=output))] == rules


@pytest.mark.req("CF-01", "CF-02")
@pytest.mark.parametrize(
    "given",
    [
        EMPTY,
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "additionalProperties": True},
    ],
    ids=["none", "nothing said", "a map", "anything"],
)
def test_an_input_without_properties_is_found_unless_it_is_on_purpose(given: Any) -> None:
    assert [(one.rule, one.level) for one in findings(good(input=given))] == [("input-schema", "error")]
    assert findings(good(input=given), input_less=["data.search"]) == []
    assert findings(good(input=given), input_less=["data.find"]) != []


@pytest.mark.req("CF-02")
def test_well_known_tools_without_input_are_exempt() -> None:
    assert "getNavConfig" in INTENTIONALLY_INPUT_LESS
    assert findings(good("getNavConfig", input=EMPTY)) == []
    assert findings(good("app.nav", input=EMPTY, aliases=["getNavConfig"])) == []
    assert findings(good("getNavConfig", input=EMPTY), input_less=()) != []


@pytest.mark.req("CF-02")
def test_the_exemption_is_from_that_rule_alone() -> None:
    silent = good("getNavConfig", input=EMPTY, output=None)

    assert [one.rule for one in findings(silent)] == ["output-schema"]


@pytest.mark.req("CF-01", "SC-06")
def test_properties_behind_references_and_joined_parts_are_seen() -> None:
    referring = {"$ref": "#/$defs/address", "$defs": {"address": ADDRESS}}
    joined = {"type": "object", "allOf": [{"$ref": "#/$defs/address"}], "$defs": {"address": ADDRESS}}

    assert (
        findings(good(input=referring), "input-schema") == findings(good(input=joined), "input-schema") == []
    )


@pytest.mark.req("CF-01")
def test_parameters_in_another_document_cannot_be_seen() -> None:
    far = {"$ref": "https://example.org/address.json"}
    known = {"https://example.org/address.json": ADDRESS}

    [finding] = findings(good(input=far, resources=known), "input-schema")

    assert "another document" in finding.message


@pytest.mark.req("CF-03", "SC-06")
@pytest.mark.parametrize("key", ["oneOf", "anyOf"])
def test_a_union_at_the_top_is_found(key: str) -> None:
    bare = {"type": "object", key: [ADDRESS, NAMED]}
    referring = {"type": "object", key: [{"$ref": "#/$defs/a"}, NAMED], "$defs": {"a": ADDRESS}}
    beside = {"type": "object", "properties": {"limit": LIMIT}, key: [ADDRESS, NAMED]}

    for given in (bare, referring, beside):
        assert [(one.rule, one.level) for one in findings(good(input=given))] == [
            ("top-level-union", "error")
        ]


@pytest.mark.req("CF-03")
def test_a_choice_of_what_is_required_is_no_union() -> None:
    either = {
        "type": "object",
        "properties": {"a": STREET, "b": STREET},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    }

    assert findings(good(input=either)) == []


@pytest.mark.req("CF-03")
def test_a_union_below_the_top_is_fine() -> None:
    assert findings(good(input=schema(at={"description": "Where.", "anyOf": [ADDRESS, NAMED]}))) == []


@pytest.mark.req("CF-03", "SC-07")
@pytest.mark.parametrize(
    ("part", "where"),
    [
        ({"type": "object", "additionalProperties": True}, "part"),
        ({"type": "object", "additionalProperties": {}}, "part"),
        ({"type": "object"}, "part"),
        ({"type": "array", "items": {"type": "object", "additionalProperties": True}}, "part[]"),
        ({"type": "object", "patternProperties": {"^x-": {}}}, "part"),
        ({"type": "object", "additionalProperties": {"type": "object"}}, "part.*"),
        ({"anyOf": [{"type": "object", "additionalProperties": {}}, {"type": "null"}]}, "part"),
        (schema(inner={"type": "object", "description": "Inside."}), "part.inner"),
        ({"type": "object", "properties": {"a": STREET}, "additionalProperties": True}, "part"),
    ],
)
def test_a_record_of_anything_is_found_wherever_it_is(part: dict[str, Any], where: str) -> None:
    [finding] = findings(good(input=schema(part={"description": "A part.", **part})))

    assert (finding.rule, finding.level) == ("open-record", "error")
    assert finding.message.startswith(f"{where} takes any value under any name")


@pytest.mark.req("CF-03", "SC-07")
@pytest.mark.parametrize(
    "part",
    [
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "additionalProperties": False, "properties": {"a": STREET}},
        {"type": "object", "properties": {"a": STREET}},
        {"type": "object", "patternProperties": {"^x-": {"type": "string"}}},
        {"enum": [{"a": 1}], "type": "object"},
        {"type": "array", "items": {}},
        {"default": {"additionalProperties": True}},
        schema(additionalProperties={"type": "boolean", "description": "Whether more are allowed."}),
    ],
)
def test_what_has_a_shape_is_no_record_of_anything(part: dict[str, Any]) -> None:
    assert findings(good(input=schema(part={"description": "A part.", **part}))) == []


@pytest.mark.req("CF-03")
def test_python_types_without_a_shape_are_found() -> None:
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")

        name: str = Field(description="A name.")

    @tool("data.store", level="read")
    def store(
        pairs: dict[str, Any], rows: list[dict[str, Any]], extra: Open, prices: dict[str, float]
    ) -> str:
        """Store what was found, for as long as the session lasts."""
        return ""

    messages = [one.message for one in findings(store, "open-record")]

    assert [message.partition(" ")[0] for message in messages] == ["pairs", "rows[]", "Open"]


@pytest.mark.req("DS-03")
def test_every_parameter_is_described_at_its_field() -> None:
    class Stop(BaseModel):
        station: str = Field(description="Where.")
        minutes: int

    @tool("trips.plan", level="read")
    def plan(first: Stop, others: list[Stop], via: Stop | None = None, note: str = "") -> str:
        """Plan a trip over several stations, in the order given.

        Args:
            first: Where it begins.
            others: Where it goes from there.
        """
        return note

    [finding] = findings(plan)

    assert (finding.rule, finding.level) == ("parameter-description", "warning")
    assert finding.message == "no description at the field of via, note, Stop.minutes"


@pytest.mark.req("DS-03")
@pytest.mark.parametrize(
    "part",
    [
        {"$ref": "#/$defs/told"},
        {"anyOf": [{"$ref": "#/$defs/told"}, {"type": "null"}]},
        {"const": "cat"},
    ],
    ids=["behind a reference", "in a branch", "a constant"],
)
def test_what_is_told_elsewhere_or_tells_itself_is_described(part: dict[str, Any]) -> None:
    given = {**schema(part=part), "$defs": {"told": {"type": "string", "description": "Told."}}}

    assert findings(good(input=given), "parameter-description") == []


@pytest.mark.req("DS-03")
def test_a_condition_on_a_parameter_need_not_describe_it_again() -> None:
    given = {
        **schema(kind={"type": "string", "description": "Which."}, size=LIMIT),
        "allOf": [{"properties": {"size": {"maximum": 9}}}],
        "if": {"properties": {"kind": {"const": "small"}}},
        "then": {"properties": {"size": {"maximum": 3}}},
    }

    assert findings(good(input=given), "parameter-description") == []


@pytest.mark.req("DS-03")
def test_definitions_that_nobody_refers_to_are_nobodys_parameters() -> None:
    given = {**schema(limit=LIMIT), "$defs": {"unused": {"properties": {"x": {}}}}}

    assert findings(good(input=given)) == []


@pytest.mark.req("DS-03")
def test_a_schema_that_refers_to_itself_is_walked_once() -> None:
    tree = schema(name=STREET, below={"type": "array", "items": {"$ref": "#"}})

    assert [one.message for one in findings(good(input=tree))] == ["no description at the field of below"]


@pytest.mark.req("DS-03")
def test_many_undescribed_parameters_are_one_finding_that_counts_them() -> None:
    given = schema(**{f"p{number}": {"type": "string"} for number in range(12)})

    [finding] = findings(good(input=given), "parameter-description")

    assert finding.message.endswith("p6, p7 and 4 more")


@pytest.mark.req("IV-08")
@pytest.mark.parametrize(("name", "instead"), [("tenantId", "tenant_id"), ("user_id", "user_id")])
def test_a_parameter_that_looks_like_scope_is_found(name: str, instead: str) -> None:
    [finding] = findings(good(input=schema(**{name: STREET})))

    assert (finding.rule, finding.level) == ("scope-parameter", "warning")
    assert f"ctx.{instead}" in finding.remedy
