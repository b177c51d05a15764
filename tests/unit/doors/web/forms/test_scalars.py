"""Single values: what a person types is what the tool gets."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.doors.web.forms.fields import MISSING
from tests.unit.doors.web.forms.browser import changed
from tests.unit.doors.web.forms.fill_form import rendered_page, sent_form, single_field_form


@pytest.mark.req("UI-06")
@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("68000", 68000),
        (" 68000 ", 68000),
        ("120 000", 120000),
        ("9007199254740993", 9007199254740993),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("0.1", 0.1),
        ("-1e3", -1000.0),
        (".5", 0.5),
        ("1.0", 1.0),
    ],
)
def test_a_number_is_read_exactly_as_it_is_typed(text: str, number: float) -> None:
    value = sent_form(single_field_form({"type": "number"}), it=text).value["it"]
    assert value == number and type(value) is type(number)


@pytest.mark.req("UI-17")
@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("68k", "must be a number. You typed 68k; try 68000."),
        ("68,000", "must be a number. You typed 68,000; try 68000."),
        ("1.234,5", "must be a number. You typed 1.234,5; try 1234.5."),
        ("€ 20", "must be a number. You typed € 20; try 20."),
        ("many", "must be a number. You typed many."),
        ("1e999", "must be a number. You typed 1e999."),
        ("NaN", "must be a number. You typed NaN."),
        ("٣", "must be a number. You typed ٣."),
    ],
)
def test_what_is_no_number_is_kept_as_typed_with_the_reason_and_a_way_out(text: str, hint: str) -> None:
    form = single_field_form({"type": "number", "title": "Yearly benefit"})
    read = sent_form(form, it=text)
    assert read.value == {"it": text} and not read.ok
    assert [(error.path, error.reason) for error in read.errors] == [("it", hint)]
    page = rendered_page(form, read.value, errors=read.errors)
    assert page.control("#/it").attrs["value"] == text
    assert f"Yearly benefit {hint}" in page.text


@pytest.mark.req("UI-06")
def test_a_decimal_that_may_come_as_text_keeps_every_digit() -> None:
    form = single_field_form(
        {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^-?\d+(\.\d+)?$"}]}
    )
    assert sent_form(form, it="0.10000000000000000001").value == {"it": "0.10000000000000000001"}
    assert sent_form(form, {"it": 1.5}, it="2.5").value == {"it": 2.5}
    assert sent_form(form, {"it": "1.50"}).value == {"it": "1.50"}


@pytest.mark.req("UI-06")
@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize(
    ("schema", "states"),
    [
        ({"type": "string"}, [MISSING, "", "x"]),
        ({"type": ["string", "null"]}, [MISSING, None, "", "x"]),
        ({"type": ["integer", "null"]}, [MISSING, None, 0]),
        ({"type": ["integer", "null"], "default": None}, [MISSING, None, 0]),
        ({"type": "boolean"}, [MISSING, True, False]),
        ({"type": ["boolean", "null"]}, [MISSING, None, True, False]),
        ({"type": "array", "items": {"type": "string"}}, [MISSING, [], [""]]),
        ({"type": ["array", "null"], "items": {"type": "string"}}, [MISSING, None, []]),
        (
            {"type": ["object", "null"], "properties": {"a": {"type": "string"}}},
            [MISSING, None, {}, {"a": "x"}],
        ),
        ({"enum": ["", "a", None]}, [MISSING, "", "a", None]),
    ],
)
def test_left_out_null_and_empty_stay_apart(
    schema: dict[str, Any], states: list[Any], required: bool
) -> None:
    form = single_field_form(schema, required)
    for state in states:
        value = {} if state is MISSING else {"it": state}
        assert repr(sent_form(form, value).value) == repr(value)


@pytest.mark.req("UI-06")
def test_a_person_can_say_what_an_empty_box_means_where_null_is_taken() -> None:
    form = single_field_form({"type": ["string", "null"], "title": "Bio"})
    pairs = rendered_page(form, {"it": "x"}).sends()
    emptied = changed(pairs, "#/it", "")
    assert form.read(emptied).value == {}
    assert form.read(changed(emptied, "?/it", "null")).value == {"it": None}
    assert form.read(changed(emptied, "?/it", "empty")).value == {"it": ""}
    assert rendered_page(form).control("?/it").attrs["aria-label"] == "Bio: when empty"


def test_an_emptied_box_is_left_out_unless_a_hint_says_otherwise() -> None:
    assert sent_form(single_field_form({"type": "string"}), {"it": "x"}, it="").value == {}
    assert sent_form(single_field_form({"type": "string"}, empty="text"), {"it": "x"}, it="").value == {
        "it": ""
    }


@pytest.mark.req("UI-06")
def test_an_optional_yes_or_no_has_three_answers_and_a_settled_one_is_a_box_to_tick() -> None:
    choice = rendered_page(single_field_form({"type": "boolean"})).control("#/it")
    assert [words for _, words in choice.options] == ["Not given", "Yes", "No"]
    form = single_field_form({"type": "boolean", "default": True})
    assert rendered_page(form).control("#/it").attrs["type"] == "checkbox"
    assert sent_form(form).value == {"it": True}
    assert sent_form(form, it=None).value == {"it": False}


@pytest.mark.req("UI-06")
@pytest.mark.parametrize(
    "schema",
    [
        {"oneOf": [{"const": "a", "title": "First"}, {"const": "b", "title": "Second"}]},
        {"enum": ["a", "b"], "enumNames": ["First", "Second"]},
        {"enum": ["a", "b"], "x-enum-titles": {"a": "First", "b": "Second"}},
    ],
)
def test_choices_have_their_titles(schema: dict[str, Any]) -> None:
    control = rendered_page(single_field_form(schema, required=True)).control("#/it")
    assert [(attrs["value"], words) for attrs, words in control.options] == [
        ("", "Choose…"),
        ("a", "First"),
        ("b", "Second"),
    ]


def test_a_value_outside_the_choices_is_shown_and_kept() -> None:
    form = single_field_form({"enum": ["a", "b"]})
    assert ("z (not in the list)") in [
        words for _, words in rendered_page(form, {"it": "z"}).control("#/it").options
    ]
    assert sent_form(form, {"it": "z"}).value == {"it": "z"}


@pytest.mark.req("UI-06")
@pytest.mark.parametrize(
    ("form", "value", "kind"),
    [
        ("date", "2026-03-31", "date"),
        ("date", "2026-02-30", "text"),
        ("time", "12:30:00", "time"),
        ("date-time", "2026-03-31T12:00:00Z", "datetime-local"),
        ("date-time", "2026-03-31T12:00:00+05:45", "datetime-local"),
        ("date-time", "2026-03-31T12:00:00.500Z", "text"),
        ("date-time", "tomorrow", "text"),
    ],
)
def test_a_moment_has_a_calendar_where_that_keeps_it_exactly(form: str, value: str, kind: str) -> None:
    drawn = single_field_form({"type": "string", "format": form})
    assert rendered_page(drawn, {"it": value}).control("#/it").attrs["type"] == kind
    assert sent_form(drawn, {"it": value}).value == {"it": value}


@pytest.mark.req("UI-06")
def test_a_chosen_moment_gets_the_seconds_and_the_zone_that_belong_to_it() -> None:
    form = single_field_form({"type": "string", "format": "date-time"})
    pairs = changed(rendered_page(form).sends(), "#/it", "2026-03-31T12:30")
    assert form.read(pairs).value == {"it": "2026-03-31T12:30:00Z"}
    assert form.read(changed(pairs, "@/it", "-03:30")).value == {"it": "2026-03-31T12:30:00-03:30"}


def test_text_that_a_browser_would_change_stands_in_a_json_box() -> None:
    form = single_field_form({"type": "string"})
    for awkward in ("a\r\nb", "\x00", "a\x0bb", "a\u202eb", "\u200b"):
        assert sent_form(form, {"it": awkward}).value == {"it": awkward}
        assert awkward not in rendered_page(form, {"it": awkward}).control("#/it").text
    assert rendered_page(form, {"it": "a\nb"}).control("#/it").tag == "textarea"
    assert sent_form(form, {"it": "\n\na\n"}).value == {"it": "\n\na\n"}


def test_json_that_cannot_be_read_is_kept_as_typed() -> None:
    form = single_field_form({})
    read = sent_form(form, it='{"a": 1')
    assert read.value == {"it": '{"a": 1'} and "must be JSON" in read.errors[0].reason
    assert rendered_page(form, read.value, errors=read.errors).control("#/it").text == '\n{"a": 1'
    assert sent_form(form, it='{"a": 1}').value == {"it": {"a": 1}}


def test_a_slider_stands_where_a_slider_can() -> None:
    form = single_field_form(
        {"type": "integer", "minimum": 0, "maximum": 100, "multipleOf": 5}, widget="slider"
    )
    assert rendered_page(form, {"it": 55}).control("#/it").attrs["type"] == "range"
    for value in (52, 101, 5.0, None):
        assert rendered_page(form, {"it": value}).control("#/it").attrs["type"] == "text"
        assert sent_form(form, {"it": value}).value == {"it": value}
