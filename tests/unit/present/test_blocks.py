"""Blocks: what sections make of an output, for pages and chats."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from handrail import Tool, tool
from handrail.core.define.json_values import TOO_DEEP_TEXT, jsonable
from handrail.core.present.block_content import READERS
from handrail.ext.forms import (
    Block,
    OutputSection,
    ViewSpec,
    forget_view_spec,
    register_output_block,
    register_view_spec,
    tool_output_to_blocks,
)

ROWS = [{"year": 1, "net": -52000}, {"year": 2, "net": 16000.5}]


def section(kind: Any, key: str = "it", **config: Any) -> OutputSection:
    return OutputSection(key, "It", kind, config or None)


def content(kind: Any, value: Any, **config: Any) -> Any:
    [block] = tool_output_to_blocks([section(kind, **config)], {"it": value})
    return dict(block.content) if block.type == kind else None


@pytest.fixture
def roi() -> Iterator[Tool]:
    @tool("calc.roi", level="read", sections=[{"key": "rows", "label": "Rows", "type": "table"}])
    def calculate() -> dict[str, Any]:
        """Calculate."""
        return {}

    assert isinstance(calculate, Tool)
    yield calculate
    forget_view_spec("tool:calc-roi")


def kinds(blocks: list[Block]) -> list[tuple[str, str]]:
    return [(block.type, block.label) for block in blocks]


@pytest.mark.req("UI-13")
def test_each_section_becomes_a_block_in_order_and_the_rest_follows() -> None:
    sections = [section("table", "rows"), section("summary", "total")]
    blocks = tool_output_to_blocks(sections, {"total": 3, "rows": ROWS, "why": "so", "more": [1]})
    assert [(block.type, block.key) for block in blocks] == [
        ("table", "rows"),
        ("summary", "total"),
        ("value", ""),
    ]
    assert blocks[-1].label == "More"
    assert blocks[-1].content["value"] == {"why": "so", "more": [1]}
    assert json.loads(json.dumps([block.to_dict() for block in blocks]))[0]["content"]["rows"] == [
        [1, -52000],
        [2, 16000.5],
    ]


@pytest.mark.req("UI-05")
@pytest.mark.req("UI-07")
@pytest.mark.parametrize("output", [{"a": 1}, [1, 2], "text", 5, False, 0])
def test_an_output_without_sections_is_the_value_that_it_is(output: Any) -> None:
    assert [block.to_dict() for block in tool_output_to_blocks([], output)] == [
        {"type": "value", "key": "", "label": "", "content": {"value": output}}
    ]


def test_no_output_is_no_block() -> None:
    assert tool_output_to_blocks([section("table")], None) == []


@pytest.mark.req("UI-03")
def test_a_registered_view_stands_before_the_definition_until_it_is_forgotten(roi: Tool) -> None:
    output = {"rows": ROWS}
    assert kinds(tool_output_to_blocks(roi, output)) == [("table", "Rows")]
    register_view_spec("tool:calc-roi", ViewSpec((OutputSection("rows", "Curve", "chart"),)))
    assert kinds(tool_output_to_blocks(roi, output)) == [("chart", "Curve")]
    register_view_spec("tool:calc-roi", {"sections": [{"key": "rows", "label": "Best", "type": "ranking"}]})
    assert kinds(tool_output_to_blocks(roi, output)) == [("ranking", "Best")]
    forget_view_spec("tool:calc-roi")
    assert kinds(tool_output_to_blocks(roi, output)) == [("table", "Rows")]


@pytest.mark.req("UI-03")
def test_a_block_of_a_tools_own_draws_its_output_and_one_that_fails_does_not_hide_it(roi: Tool) -> None:
    register_output_block(
        "block:tool-output-calc-roi",
        lambda output: [Block("value", "net", "Net", {"value": output["rows"][0]})],
    )
    assert kinds(tool_output_to_blocks(roi, {"rows": ROWS})) == [("value", "Net")]
    assert kinds(tool_output_to_blocks(roi, {"rows": []})) == [("value", "Rows")]
    register_output_block("block:tool-output-calc-roi", lambda output: ["no block"])  # type: ignore[list-item]  # wrong on purpose
    assert kinds(tool_output_to_blocks(roi, {"rows": ROWS})) == [("table", "Rows")]


@pytest.mark.req("UI-03")
@pytest.mark.parametrize("key", ["calc-roi", "tool:", "tool:Calc ROI", "block:tool-output-calc-roi"])
def test_a_view_for_no_tool_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="registered for tool:<slug>"):
        register_view_spec(key, ViewSpec())


def test_a_view_that_cannot_be_read_is_refused_with_the_reason() -> None:
    with pytest.raises(ValueError, match="view of tool:x cannot be read: An output section is one of"):
        register_view_spec("tool:x", {"sections": [{"key": "a", "label": "A", "type": "pie"}]})


@pytest.mark.parametrize(
    ("key", "found", "rest"),
    [
        ("a.b", [("summary", "a.b"), ("value", "")], {"a": {"c": 2}, "d": 3}),
        ("*", [("summary", "*")], None),
        ("a.x", [("value", "")], {"a": {"b": 1, "c": 2}, "d": 3}),
        ("d", [("summary", "d"), ("value", "")], {"a": {"b": 1, "c": 2}}),
    ],
)
def test_a_key_leads_to_a_name_along_a_path_or_to_the_whole(key: str, found: Any, rest: Any) -> None:
    blocks = tool_output_to_blocks([section("summary", key)], {"a": {"b": 1, "c": 2}, "d": 3})
    assert [(block.type, block.key) for block in blocks] == found
    assert rest is None or blocks[-1].content["value"] == rest


@pytest.mark.req("UI-12")
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("summary", None), ("summary", {}), ("table", "text"), ("table", 3), ("table", []), ("chart", "text"),
        ("chart", [{"a": "x"}]), ("chart", [1e308, 1]), ("chart", [math.nan]), ("radar", {"a": 1, "b": 2}),
        ("radar", [0, 0, 0]), ("ranking", [None]), ("custom", 5), ("custom", "  "), ("custom", {"html": 1}),
    ],
)  # fmt: skip
def test_what_does_not_fit_its_section_is_shown_as_it_is(kind: Any, value: Any) -> None:
    [block] = tool_output_to_blocks([section(kind)], {"it": value})
    assert (block.type, block.label, block.content["value"]) == ("value", "It", jsonable(value))


@pytest.mark.req("UI-12")
def test_a_summary_orders_its_figures_and_keeps_the_others() -> None:
    found = content(
        "summary",
        {"payback": 2.4, "npv": 84210, "ok": True, "parts": [1]},
        figures=[{"key": "npv", "label": "NPV", "unit": "EUR", "decimals": 0}, "gone", "payback"],
    )
    assert found["figures"] == [
        {"key": "npv", "label": "NPV", "unit": "EUR", "decimals": 0, "value": 84210},
        {"key": "payback", "label": "Payback", "value": 2.4},
        {"key": "ok", "label": "Ok", "value": True},
    ]
    assert found["more"] == {"parts": [1]}
    assert content("summary", "In **words**") == {"text": "In **words**"}
    assert content("summary", [{"label": "A", "value": 1, "unit": "h"}])["figures"][0]["unit"] == "h"


@pytest.mark.req("UI-12")
@pytest.mark.parametrize(
    ("value", "labels", "rows"),
    [
        (ROWS, ["Year", "Net"], [[1, -52000], [2, 16000.5]]),
        ([{"a": 1}, {"b": 2}, 3], ["A", "B", "Value"], [[1, None, None], [None, 2, None], [None, None, 3]]),
        ([[1, "x"], [2]], ["Column 1", "Column 2"], [[1, "x"], [2, None]]),
        ({"x": {"n": 1}, "y": {"n": 2}}, ["Name", "N"], [["x", 1], ["y", 2]]),
        ({"x": 1, "y": "z"}, ["Name", "Value"], [["x", 1], ["y", "z"]]),
        (["a", None], ["Value"], [["a"], [None]]),
    ],
)
def test_a_table_takes_rows_in_every_shape(value: Any, labels: list[str], rows: list[list[Any]]) -> None:
    found = content("table", value)
    assert [column["label"] for column in found["columns"]] == labels
    assert found["rows"] == rows


def test_a_table_says_which_columns_it_leaves_out() -> None:
    found = content("table", ROWS, columns=["net", "gone"], sort="-net", limit=1)
    assert ([one["key"] for one in found["columns"]], found["hidden"]) == (["net"], ["year"])
    assert (found["sort"], found["limit"]) == ("-net", 1)


@pytest.mark.req("UI-12")
@pytest.mark.parametrize(
    ("value", "labels", "values"),
    [
        (ROWS, ["1", "2"], [[-52000, 16000.5]]),
        ({"one": 1, "two": None, "three": 3}, ["one", "two", "three"], [[1, None, 3]]),
        ([4, "x", 6], ["1", "2", "3"], [[4, None, 6]]),
        ([{"n": 1, "who": "Ana", "m": 2}], ["Ana"], [[1], [2]]),
        ({"labels": ["a", "b"], "series": [{"label": "s", "values": [1, 2]}]}, ["a", "b"], [[1, 2]]),
        ({"labels": ["a"], "datasets": [{"data": [1]}, {"data": ["4"]}, {"data": [3]}]}, ["a"], [[1], [3]]),
        ([{"x": "a", "y": "12.50"}], None, None),
    ],
)  # fmt: skip
def test_a_chart_takes_numbers_in_every_shape(value: Any, labels: Any, values: Any) -> None:
    found = content("chart", value)
    if labels is None:
        assert found is None
        found, labels, values = content("chart", value, y="y"), ["a"], [[12.5]]
    assert found["labels"] == labels
    assert [one["values"] for one in found["series"]] == values


def test_series_beyond_five_are_named_and_stay_in_the_data() -> None:
    found = content("chart", [{"x": "a", **{f"s{number}": number for number in range(7)}}], x="x")
    assert [one["key"] for one in found["series"]] == ["s0", "s1", "s2", "s3", "s4"]
    assert found["left_out"] == ["S5", "S6"]
    assert found["table"]["rows"] == [["a", 0, 1, 2, 3, 4, 5, 6]]


def test_bars_are_stacked_only_where_none_is_below_zero() -> None:
    assert content("chart", {"a": 1}, stacked=True)["stacked"] is True
    assert content("chart", {"a": -1}, stacked=True)["stacked"] is False


@pytest.mark.req("UI-12")
def test_a_ranking_puts_the_largest_first_and_what_has_no_number_last() -> None:
    rows = [{"who": "a", "n": 1, "why": "x"}, {"who": "b", "n": None}, {"who": "c", "n": 3}]
    assert [one["label"] for one in content("ranking", rows)["items"]] == ["c", "a", "b"]
    assert [one["label"] for one in content("ranking", rows, order="ascending")["items"]] == ["a", "c", "b"]
    found = content("ranking", rows, order="given", note="why", max=5, unit="pt")
    assert found["items"][0] == {"label": "a", "value": 1, "note": "x"}
    assert (found["max"], found["unit"], len(found["table"]["rows"])) == (5, "pt", 3)


@pytest.mark.req("UI-12")
def test_a_radar_reaches_from_zero_to_its_largest_number() -> None:
    assert (found := content("radar", {"a": 1, "b": 2, "c": 3}))["max"] == 3 and found["min"] == 0
    assert content("radar", {"a": 1, "b": 2, "c": 3}, max=5)["max"] == 5
    assert content("radar", {"a": -1, "b": 2, "c": 3})["min"] == -1


@pytest.mark.req("UI-12")
def test_a_custom_block_runs_no_scripts_unless_its_definition_says_so() -> None:
    assert content("custom", "<b>x</b>") == {"html": "<b>x</b>", "height": 320, "scripts": False}
    assert content("custom", {"html": "x"}, scripts=True, height=9999) == {
        "html": "x",
        "height": 2000,
        "scripts": True,
    }
    assert content("custom", {"html": "x", "scripts": True}) is None


def test_every_kind_of_section_has_a_reader() -> None:
    assert sorted(READERS) == ["chart", "custom", "radar", "ranking", "summary", "table"]


class Point(BaseModel):
    x: float


class Odd:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ((1, {2}), [1, [2]]),
        ({1: "a", "1": "b", None: "c"}, {"1": "a", "1′": "b", "None": "c"}),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (Point(x=1.5), {"x": 1.5}),
        (Odd(), "(Odd)"),
        (b"\xff", "(bytes)"),
    ],
)
def test_any_value_can_be_told_as_json(value: Any, told: Any) -> None:
    assert jsonable(value) == told


def test_a_number_that_no_reader_of_json_takes_is_told_as_text() -> None:
    assert jsonable(10**5000) == "1" + "0" * 5000


def test_what_is_nested_without_end_is_told_as_far_as_it_can_be() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert TOO_DEEP_TEXT in json.dumps(jsonable(endless))
