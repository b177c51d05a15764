"""Conformance over schemas that others wrote: it says something sensible about each, or nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handrail import from_json_schema
from handrail.conformance import Finding, check
from handrail.core.errors import DefinitionError
from tests.corpora.corpus import corpus
from tests.corpora.json_schema_suite import Suite

SUITE = Suite(corpus("json_schema_test_suite"))
FORMS = [json.loads(line) for line in (corpus("forms") / "forms.jsonl").read_text("utf-8").splitlines()]


def findings(schema: Any, *rules: str) -> list[Finding]:
    """What is found about a tool with this input; a schema that no tool can have is none's."""
    try:
        made = from_json_schema(
            "forms.fill", schema, dict, description="Fill.", origin="mcp", resources=SUITE.remotes
        )
    except DefinitionError:
        return []
    return [one for one in check([made]) if one.rule in rules]


@pytest.mark.req("CF-01", "CF-03")
@pytest.mark.parametrize("file", SUITE.files("required"))
def test_every_schema_of_the_suite_can_be_checked_as_a_parameter(file: str) -> None:
    for group in SUITE.groups(file):
        schema = {"type": "object", "properties": {"part": group.schema}}
        found = findings(schema, "default", "example")
        # The file about defaults is the only one that has any, and none of them fits: that is its point.
        assert len(found) == (file == "default.json")


@pytest.mark.req("CF-01", "CF-03")
def test_forms_that_people_wrote_have_valid_defaults_and_few_shapes_that_providers_refuse() -> None:
    schemas = [form["schema"] for form in FORMS if isinstance(form.get("schema"), dict)]

    assert [one.message for schema in schemas for one in findings(schema, "default", "example")] == []
    assert sum(bool(findings(schema, "top-level-union")) for schema in schemas) == 3
    assert sum(bool(findings(schema, "open-record")) for schema in schemas) == 0
