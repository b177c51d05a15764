"""What holds for all calculators: the rules for tools, how they are found, and no figure that is none."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail import Registry, Tool
from handrail.ext.toolsets import discover
from handrail.testing import ConformanceCase, call_sync, conformance_cases
from handrail.toolsets import calculators
from tests.unit.toolsets.calculators.tool_inputs import inputs

TOOLS = discover(calculators)
SLUGS = {
    "roi-calculator": ("CC-01", "ROI Calculator"),
    "time-savings-calculator": ("CC-02", "Time Savings Calculator"),
    "ai-readiness-assessment": ("CC-03", "AI Readiness Assessment"),
    "complexity-estimator": ("CC-04", "Complexity Estimator"),
    "priority-matrix": ("CC-05", "Priority Matrix"),
    "process-automation-scoper": ("CC-06", "Process Automation Scoper"),
    "fte-impact-calculator": ("CC-07", "FTE Impact Calculator"),
    "quick-score": ("CC-08", "Quick Score"),
}


@pytest.mark.parametrize("case", conformance_cases([calculators], strict=True))
def test_each_is_conformant(case: ConformanceCase) -> None:
    case()


@pytest.mark.req("CC-01", "CC-02", "CC-03", "CC-04", "CC-05", "CC-06", "CC-07", "CC-08", "CC-10")
def test_all_eight_are_in_the_index_under_their_names() -> None:
    found = {tool.slug: tool.name for tool in TOOLS}

    assert found == {slug: name for slug, (_, name) in SLUGS.items()}
    assert {getattr(calculators, name).slug for name in calculators.__all__} == found.keys()


@pytest.mark.req("CC-01", "CC-10")
def test_all_only_read_and_have_a_form_and_a_view_of_their_own() -> None:
    for tool in TOOLS:
        assert (tool.level, tool.danger, tool.origin, tool.quiet) == ("read", "safe", "custom", True)
        assert tool.form is not None and tool.form.hints, tool.id
        assert tool.view is not None and tool.view.sections == tool.sections
        assert tool.icon and tool.category
    roi = Registry(TOOLS).get("analysis.calculateRoi")
    assert roi is not None and (roi.category, roi.icon) == ("analysis", "calculator")


@pytest.mark.req("CC-09")
def test_each_has_its_formulas_an_example_and_its_limits_in_the_docs() -> None:
    page = (Path(__file__).parents[4] / "docs/calculators.md").read_text(encoding="utf-8")
    for tool in TOOLS:
        assert f"`{tool.slug}` | `{tool.id}`" in page
        chapter = page.partition(f"## {tool.name}\n")[2].partition("\n## ")[0]
        assert "| figure | formula |" in chapter
        assert "**By hand.**" in chapter and "**What it leaves out.**" in chapter, tool.name


@pytest.mark.req("CC-09")
def test_three_of_them_are_for_groups() -> None:
    groups = {tool.slug for tool in TOOLS if tool.collaborative}

    assert groups == {"ai-readiness-assessment", "priority-matrix", "quick-score"}
    assert groups == {tool.slug for tool in TOOLS if tool.aggregate is not None}


@pytest.mark.req("CC-09")
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.slug)
def test_every_output_is_described(tool: Tool) -> None:
    assert tool.output_schema is not None
    nodes = [tool.output_schema, *tool.output_schema.get("$defs", {}).values()]

    silent = [name for node in nodes for name, one in node["properties"].items() if "description" not in one]
    assert silent == []


@pytest.mark.req("CC-09")
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.slug)
@settings(max_examples=40)
@given(data=st.data())
def test_whatever_is_put_in_every_figure_is_one(tool: Tool, data: st.DataObject) -> None:
    """What the schema allows is refused with words at a field, or leads to numbers that JSON can carry."""
    done = call_sync(tool, data.draw(inputs(tool).map(_in_order)), user="ana", source="web")
    if done.code == "INVALID_PARAM":
        assert re.search(r"all weights are 0|at least 0.01 of a person", done.to_model()), done.to_model()
        return
    assert done.ok and done.result is not None, done.to_model()
    out = done.result.data
    again: dict[str, Any] = json.loads(json.dumps(out, allow_nan=False))
    assert again == out
    keys = {section.key for section in tool.sections}
    assert keys - {"participants"} == out.keys()
    if tool.aggregate is not None:
        for outputs in ([], [out], [out, out]):
            together = tool.aggregate(outputs)
            json.dumps(together, allow_nan=False)
            assert together.keys() == keys


def _in_order(args: dict[str, Any]) -> dict[str, Any]:
    """Three estimates have an order, which a schema cannot say."""
    names = ("optimistic", "likely", "pessimistic")
    for item in args.get("items", ()):
        if "likely" in item:
            item |= zip(names, sorted(item[name] for name in names), strict=True)
    return args
