"""Form and JSON are two faces of one input: whatever is typed into one is there in the other, and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.core.define.call import FieldError
from handrail.core.define.tool import Tool
from handrail.doors.web.forms.fields import ListRows
from handrail.doors.web.pages.tools.input_panel import render_input
from handrail.doors.web.pages.tools.inputs import (
    InputMode,
    InvalidJson,
    ToolInput,
    errors_at_touched,
    read_input,
    read_json_object,
    read_json_value,
    to_json_text,
)
from tests.unit.doors.web.forms.browser import Page, changed
from tests.unit.doors.web.forms.schemas import ANYTHING, DEFS, NAMES, SCHEMAS, TEXTS, fitting
from tests.unit.doors.web.forms.test_round_trip import same

_slow = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def tool_of(properties: dict[str, Any], **more: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "$defs": DEFS}
    return Tool(id="t", slug="t", name="T", input_schema=schema, **more)


def after(tool: Tool, given: ToolInput) -> ToolInput:
    """The input once a browser has shown it and sent it back."""
    return read_input(tool, Page(str(render_input(tool, given))).sends())


def turned(tool: Tool, given: ToolInput, mode: InputMode) -> ToolInput:
    return after(tool, given).in_mode(mode, tool.secrets)


@_slow
@given(st.data())
@pytest.mark.req("RA-02", "UI-15")
def test_what_fits_is_the_same_after_form_json_and_form(data: st.DataObject) -> None:
    properties = data.draw(st.dictionaries(NAMES, SCHEMAS, min_size=1, max_size=1))
    value = {name: data.draw(fitting(one)) for name, one in properties.items()}
    tool = tool_of(properties)
    as_text = turned(tool, ToolInput(value=value), "json")
    assert same(as_text.args, value)
    as_form = turned(tool, as_text, "form")
    assert as_form.mode == "form" and same(after(tool, as_form).args, value)


@_slow
@given(st.dictionaries(NAMES, SCHEMAS, max_size=1), st.dictionaries(NAMES, ANYTHING, max_size=4))
@pytest.mark.req("RA-02")
def test_what_does_not_fit_is_the_same_after_json_form_and_json(
    properties: dict[str, Any], value: dict[str, Any]
) -> None:
    tool = tool_of(properties)
    typed = to_json_text(value)
    as_form = read_input(tool, [("_face", "json"), ("_json", typed)]).in_mode("form")
    again = turned(tool, as_form, "json")
    assert same(after(tool, again).args, value)


@given(TEXTS, st.sampled_from([{"type": "number"}, {"type": "integer"}, {"type": "string"}]))
def test_half_typed_values_are_text_in_json_and_stand_in_the_form_again(
    text: str, schema: dict[str, Any]
) -> None:
    tool = tool_of({"n": schema})
    sent = changed(Page(str(render_input(tool, ToolInput()))).sends(), "#/n", f"12x{text.strip()}")
    first = read_input(tool, sent)
    back = turned(tool, first.in_mode("json"), "form")
    assert same(back.args, first.args)
    assert (
        Page(str(render_input(tool, back))).sends()[-1:] == Page(str(render_input(tool, first))).sends()[-1:]
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1', "This is not JSON yet: expecting ',' delimiter at line 1, column 8."),
        ("[1]", "The input is an object: names and values between { and }."),
        ('{"a": 1, "a": 2}', 'The name "a" stands there twice.'),
        ('{"a": NaN}', "NaN is not a number in JSON."),
        ('{"a": 1e999}', "The number 1e999 is too large."),
        ('{"a": "\\ud800"}', "A text in it holds half a character (a lone surrogate)."),
        ('{"a": ' + "9" * 5_000 + "}", "A number in it has too many digits."),
        ("[" * 100_000, "It is nested too deeply."),
    ],
)
@pytest.mark.req("RA-02")
def test_text_that_cannot_be_taken_is_kept_and_says_why(text: str, said: str) -> None:
    tool = tool_of({"a": {"type": "number"}})
    given = read_input(tool, [("_face", "json"), ("_json", text)])
    assert given.problem == said
    stays = given.in_mode("form")
    page = Page(str(render_input(tool, stays)))
    assert stays.mode == "json" and said in page.text
    assert dict(page.sends())["_json"] == text
    box = page.control("_json")
    assert box.attrs["aria-invalid"] == "true" and "input-json-error" in str(box.attrs["aria-describedby"])


@given(ANYTHING)
def test_json_text_gives_back_any_value(value: Any) -> None:
    assert same(read_json_value(to_json_text(value)), value)


@given(st.text())
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    said = ""
    try:
        read_json_object(text)
    except InvalidJson as error:
        said = str(error)
    assert "\n" not in said and said[-1:] in ("", ".")


def test_a_secret_is_not_written_out_as_json() -> None:
    tool = tool_of({"word": {"type": "string", "format": "password"}}, secrets=frozenset({"word"}))
    typed = read_input(tool, [("_face", "form"), ("#/word", "hush")])
    assert typed.args == {"word": "hush"}
    assert "hush" not in str(render_input(tool, typed.in_mode("json", tool.secrets)))


def test_errors_are_shown_at_fields_that_somebody_was_at_and_around_them() -> None:
    rows = ListRows([{"cost": 1}, {"cost": "x"}])
    rows.keys = ("4", "2")
    errors = [
        FieldError("name", "is required"),
        FieldError("rows.1.cost", "is no number"),
        FieldError("rows.0.cost", "is no number"),
        FieldError("rows", "has too few"),
        FieldError("a/b", "is odd"),
    ]
    value = {"rows": rows, "name": ""}

    def shown(*touched: str) -> list[str]:
        return [one.path for one in errors_at_touched(errors, value, touched)]

    assert shown() == []
    assert shown("#/rows/2/cost") == ["rows.1.cost", "rows"]
    assert shown("#/rows/4/cost", "?/name") == ["name", "rows.0.cost", "rows"]
    assert shown("#/a~1b") == ["a/b"]
