"""How the calculators are asked and shown: every hint meets a field, every section draws what it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from handrail import Tool
from handrail.doors.web.forms.form import form_of
from handrail.ext.forms import tool_output_to_blocks
from handrail.ext.toolsets import discover
from handrail.testing import call_sync
from handrail.toolsets import calculators
from tests.unit.toolsets.calculators.examples import EXAMPLES

TOOLS = discover(calculators)
BY_SLUG = {tool.slug: tool for tool in TOOLS}


def outputs(tool: Tool) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the tool tells one person, and what it tells a group."""
    out = call_sync(tool, EXAMPLES[tool.slug], user="ana", source="web")
    assert out.ok and out.result is not None, out.to_model()
    yield "one", out.result.data
    if tool.aggregate is not None:
        yield "group", tool.aggregate([out.result.data] * 2)


def paths(node: Mapping[str, Any], root: Mapping[str, Any], at: str = "") -> Iterator[str]:
    if "$ref" in node:
        node = root["$defs"][node["$ref"].rpartition("/")[2]]
    for name, part in node.get("properties", {}).items():
        yield f"{at}{name}"
        yield from paths(part, root, f"{at}{name}.")
    if "items" in node:
        yield from paths(node["items"], root, f"{at}*.")


@pytest.mark.req("CC-10")
@pytest.mark.parametrize("slug", BY_SLUG)
def test_every_hint_and_group_of_a_form_speaks_of_a_field(slug: str) -> None:
    tool = BY_SLUG[slug]
    assert tool.form is not None
    known = set(paths(tool.input_schema, tool.input_schema))

    assert tool.form.hints.keys() - known == set()
    assert {field for group in tool.form.groups for field in group.fields} - known == set()


@pytest.mark.req("CC-10")
@pytest.mark.parametrize("slug", BY_SLUG)
def test_a_form_asks_for_every_field_under_its_label(slug: str) -> None:
    tool = BY_SLUG[slug]
    assert tool.form is not None
    drawn = str(form_of(tool).render(EXAMPLES[slug]))

    assert [name for name in tool.input_schema["properties"] if name not in drawn] == []
    labels = [hints["label"] for hints in tool.form.hints.values() if "label" in hints]
    assert [label for label in labels if label not in drawn] == []


@pytest.mark.req("CC-09", "CC-10")
@pytest.mark.parametrize("slug", BY_SLUG)
def test_every_section_is_drawn_as_it_says_alone_and_for_a_group(slug: str) -> None:
    tool = BY_SLUG[slug]
    for which, output in outputs(tool):
        expected = [one.type for one in tool.sections if one.key in output]
        blocks = tool_output_to_blocks(tool, output)

        assert [block.type for block in blocks] == expected, which
        assert which == "one" or len(blocks) == len(tool.sections)


@pytest.mark.req("CC-09", "CC-10")
@pytest.mark.parametrize("slug", BY_SLUG)
def test_every_field_that_a_section_names_is_there(slug: str) -> None:
    tool = BY_SLUG[slug]
    together = list(outputs(tool))
    for section in tool.sections:
        found = [output[section.key] for _, output in together if section.key in output]
        rows = [row for one in found for row in (one if isinstance(one, list) else [one])]
        known = {name for row in rows for name in row}

        assert set(named(section.config or {})) - known == set(), section.label


def named(config: Mapping[str, Any]) -> Iterator[str]:
    """The keys of which a config speaks."""
    for what in ("figures", "columns", "x", "y", "axis", "value", "label", "note"):
        given = config.get(what, [])
        for one in [given] if isinstance(given, str) else given:
            yield one if isinstance(one, str) else one["key"]
