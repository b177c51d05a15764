"""Whatever a tool yields and however its sections are set up, it is drawn, and nothing of it is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from htpy import fragment
from hypothesis import example, given, settings
from hypothesis import strategies as st

from handrail.core.define.json_values import jsonable
from handrail.core.define.ui_specs import OutputSection
from handrail.core.present.blocks import tool_output_to_blocks
from handrail.doors.web.views.blocks import render_block
from handrail.doors.web.views.context import ViewContext
from handrail.doors.web.views.result import render_result
from handrail.doors.web.views.scalars import format_number
from handrail.doors.web.views.values import render_value
from handrail.platform.display_text import visible, visible_json

KEYS = st.sampled_from(["a", "b", "name", "value", "year", "labels", "series"]) | st.text(max_size=8)
NUMBERS = st.integers() | st.floats() | st.integers(-9, 9) | st.sampled_from([10**400, 1e308, -1e308, 5e-324])
SCALARS = (
    st.none()
    | st.booleans()
    | NUMBERS
    | st.text(st.characters(), max_size=20)
    | st.just("\u202e\ud800=1\x00")
)
ROWS = st.lists(st.dictionaries(KEYS, SCALARS, max_size=4), max_size=6)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5) | ROWS,
    max_leaves=15,
)
CONFIGS = st.none() | st.dictionaries(
    st.sampled_from(
        "columns figures x y axis label value note kind sort limit order max min unit format decimals "
        "stacked html height scripts".split()
    ),
    st.sampled_from(["bar", "line", "area", "percent", "duration", "-a", "a", "name", True, 0, 3, -1, None])
    | st.lists(KEYS | st.fixed_dictionaries({"key": KEYS, "format": SCALARS}), max_size=3)
    | SCALARS,
    max_size=6,
)
TYPES = st.sampled_from(["summary", "table", "chart", "radar", "ranking", "custom"])
SECTIONS = st.lists(
    st.builds(OutputSection, KEYS | st.just("*"), st.text(max_size=8), TYPES, CONFIGS), max_size=4
)


class _Text(HTMLParser):
    """The text of a page, with what stands in attributes that say exact values."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts += [value for name, value in attrs if name == "value" and tag == "data" and value]

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def text_of(html: str) -> str:
    reader = _Text()
    reader.feed("".join(html))
    reader.close()
    return "".join(reader.parts)


def scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for part in value.values():
            yield from scalars(part)
    elif isinstance(value, list):
        for part in value:
            yield from scalars(part)
    else:
        yield value


def is_shown(scalar: Any, text: str) -> bool:
    if isinstance(scalar, str):
        shown = visible(scalar.replace("\r\n", "\n"))
        return shown in text or visible_json(scalar)[1:-1] in text
    if isinstance(scalar, bool):
        return ("Yes" if scalar else "No") in text or json.dumps(scalar) in text
    if scalar is None:
        return "none" in text or "null" in text
    return format_number(scalar, {}) in text or str(scalar) in text


@pytest.mark.req("UI-07")
@given(VALUES)
@settings(max_examples=60, deadline=None)
@example([{"a": 1, "b": 2}, {"a": 3}])
@example({str(number): number for number in range(250)})
@example([[[[[[[["deep"]]]]]]]])
@example([{"n": number} for number in range(300)])
def test_a_value_is_drawn_with_every_scalar_in_it(value: Any) -> None:
    text = text_of(str(fragment[render_value(value, id="v")]))
    assert [one for one in scalars(jsonable(value)) if not is_shown(one, text)] == []


@pytest.mark.req("UI-12")
@pytest.mark.req("UI-14")
@given(SECTIONS, VALUES, st.dictionaries(KEYS, VALUES, max_size=4))
@settings(max_examples=60, deadline=None)
def test_every_section_draws_every_value(
    sections: list[OutputSection], one: Any, more: dict[str, Any]
) -> None:
    look = ViewContext("b", "de", "/d", "/f", query={"sort.a": "-a", "all.a": "1"})
    for output in (one, more):
        for block in tool_output_to_blocks(sections, output):
            json.dumps(block.to_dict(), allow_nan=False)
            str(fragment[render_block(block, look)])
        html = str(render_result(sections, {"success": True, "data": output}, id="r"))
        text = text_of(html)
        assert [one for one in scalars(jsonable(output)) if not is_shown(one, text)] == []


@pytest.mark.req("UI-13")
@given(SECTIONS, st.dictionaries(KEYS, VALUES, max_size=4))
@settings(max_examples=60, deadline=None)
def test_blocks_speak_of_every_part_of_an_output(
    sections: list[OutputSection], output: dict[str, Any]
) -> None:
    blocks = tool_output_to_blocks(sections, output)
    named = {section.key for section in sections}
    unnamed = {
        key: part
        for key, part in jsonable(output).items()
        if key not in named and not any(one.startswith(f"{key}.") for one in named)
    }
    assert "*" in named or not unnamed or unnamed.items() <= blocks[-1].content["value"].items()
