"""Forms in a real browser: what it sends is what was shown, with and without script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from handrail.doors.web.forms.form import compile_form
from handrail.ext.forms import FormSpec
from tests.acceptance.web.browser import Window
from tests.acceptance.web.form_page import form_page

pytestmark = pytest.mark.long

Windows = Callable[..., Window]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["cost", "rows"],
    "properties": {
        "cost": {"type": "number", "title": "Initial cost", "description": "In EUR"},
        "note": {"type": "string", "title": "Note"},
        "bio": {"type": ["string", "null"], "title": "Bio"},
        "sure": {"type": "boolean", "default": True, "title": "Sure"},
        "maybe": {"type": "boolean", "title": "Maybe"},
        "kind": {"enum": ["usual", "other"], "title": "Kind of work"},
        "reason": {"type": "string", "title": "Reason"},
        "tone": {"enum": ["a", "b"], "title": "Tone"},
        "day": {"type": "string", "format": "date", "title": "Day"},
        "at": {"type": "string", "format": "date-time", "title": "At"},
        "clock": {"type": "string", "format": "time", "title": "Clock"},
        "rate": {"type": "integer", "minimum": 0, "maximum": 100, "default": 5, "title": "Rate"},
        "key": {"type": "string", "format": "password", "title": "Key"},
        "who": {"type": "string", "x-entity-type": "customer", "title": "Customer"},
        "paper": {"type": "string", "format": "file", "title": "Paper"},
        "rows": {
            "type": "array",
            "title": "Rows",
            "items": {"type": "object", "title": "Row", "properties": {"price": {"type": "number"}}},
        },
        "marks": {"type": "array", "title": "Marks", "uniqueItems": True, "items": {"enum": ["x", "y"]}},
        "pay": {
            "title": "Pay",
            "oneOf": [
                {"title": "Card", "type": "object", "properties": {"number": {"type": "string"}}},
                {"title": "Cash", "type": "object", "properties": {"coins": {"type": "integer"}}},
            ],
        },
        "odd": {"type": "string", "title": "Odd"},
    },
    "additionalProperties": {"type": "integer"},
}
SPEC = FormSpec(
    {
        "rate": {"widget": "slider", "operator_only": True},
        "reason": {"visible_when": {"field": "kind", "is": "other"}},
        "tone": {"widget": "radio"},
    }
)
VALUE: dict[str, Any] = {
    "cost": 9007199254740993,
    "note": "\na\nb ",
    "bio": None,
    "sure": False,
    "maybe": True,
    "kind": "usual",
    "tone": "b",
    "day": "2026-03-31",
    "at": "2026-03-31T12:00:00+05:45",
    "clock": "12:30:00",
    "rate": 55,
    "who": " acme",
    "paper": "data:text/plain;name=a.txt;base64,YQ==",
    "rows": [{"price": 1.5}, {}],
    "marks": ["y"],
    "pay": {"coins": 3},
    "odd": "carriage\r\nreturn \x00 \u202e",
    "more": 7,
}


def send(page: Page) -> None:
    page.get_by_role("button", name="Send").click()


@pytest.mark.req("UI-06", "UI-02")
@pytest.mark.parametrize("script", [True, False])
def test_what_was_shown_comes_back_as_it_was(windows: Windows, script: bool) -> None:
    with form_page(compile_form(SCHEMA, SPEC), VALUE) as (url, served):
        window = windows(url, script=script)
        send(window.goto("/"))
        expect(window.page.locator("#read")).not_to_be_empty()
        assert served.reads[0].value == VALUE and served.reads[0].ok
        window.context.close()


@pytest.mark.req("UI-17", "UI-11")
def test_everybody_can_use_it(windows: Windows) -> None:
    form = compile_form(SCHEMA, SPEC)
    with form_page(form, {**VALUE, "cost": "68k", "rows": ["odd"]}) as (url, _):
        window = windows(url, width=360)
        page = window.goto("/")
        send(page)
        expect(page.get_by_label("Initial cost")).to_have_attribute("aria-invalid", "true")
        expect(
            page.get_by_text("Initial cost must be a number. You typed 68k; try 68000.").first
        ).to_be_visible()
        expect(page.get_by_label("Initial cost")).to_have_value("68k")
        assert window.axe() == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        window.clean()
        window.context.close()


@pytest.mark.req("UI-02")
@pytest.mark.parametrize("script", [True, False])
def test_rows_and_shapes_are_changed_by_buttons(windows: Windows, script: bool) -> None:
    with form_page(compile_form(SCHEMA, SPEC), {"rows": []}) as (url, served):
        window = windows(url, script=script)
        page = window.goto("/")
        page.get_by_label("Note").fill("kept")
        page.get_by_role("button", name="Add Row to Rows").click()
        page.get_by_label("Price").fill("5")
        page.get_by_role("button", name="Add Row to Rows").click()
        page.get_by_label("Price").nth(1).fill("6")
        page.get_by_role("button", name="Move Row 2 up").click()
        page.get_by_role("button", name="Remove Row 2").click()
        page.locator("select[data-choose]").select_option(label="Cash")
        if not script:
            page.get_by_role("button", name="Show the fields of Pay").click()
        page.get_by_label("Coins").fill("3")
        expect(page.get_by_label("Note")).to_have_value("kept")
        page.get_by_label("Note").press("Enter")
        page.wait_for_load_state()
        expect(page.locator("#read")).to_contain_text('"coins": 3')
        assert served.reads[-1].done is None
        found = served.reads[-1].value
        assert found["rows"] == [{"price": 6}] and found["pay"] == {"coins": 3} and found["note"] == "kept"
        window.context.close()


@pytest.mark.req("UI-02", "UI-08")
def test_a_script_shows_searches_and_drops(windows: Windows) -> None:
    with form_page(compile_form(SCHEMA, SPEC)) as (url, served):
        window = windows(url)
        page = window.goto("/")
        expect(page.get_by_label("Reason")).to_be_hidden()
        page.get_by_label("Kind of work").select_option("other")
        expect(page.get_by_label("Reason")).to_be_visible()
        page.get_by_label("Kind of work").select_option("usual")
        expect(page.get_by_label("Reason")).to_be_hidden()
        page.get_by_label("Customer").press_sequentially("ac")
        options = page.locator("datalist[id='f/who:options'] option")
        expect(options).to_have_count(2)
        data = page.evaluate_handle(
            "() => { const all = new DataTransfer();"
            " all.items.add(new File(['hi'], 'é.txt', {type: 'text/plain'})); return all; }"
        )
        page.dispatch_event("[data-drop]", "drop", {"dataTransfer": data})
        page.get_by_text("Additional options").click()
        page.get_by_label("Rate").fill("60")
        expect(page.locator("output")).to_have_text("60")
        send(page)
        expect(page.locator("#read")).to_contain_text("ac")
        assert served.reads[-1].value["paper"] == "data:text/plain;name=%C3%A9.txt;base64,aGk="
        assert served.reads[-1].value["rate"] == 60
        window.clean()
        window.context.close()


@pytest.mark.req("UI-02")
def test_fields_that_depend_on_answers_come_without_a_script_as_well(windows: Windows) -> None:
    with form_page(compile_form(SCHEMA, SPEC)) as (url, _):
        window = windows(url, script=False)
        page = window.goto("/")
        expect(page.get_by_label("Reason")).to_be_hidden()
        page.get_by_label("Kind of work").select_option("other")
        page.get_by_role("button", name="Show the fields that go with these answers").click()
        expect(page.get_by_label("Reason")).to_be_visible()
        window.context.close()
