"""Forms at length: thousands of schemas and values, each drawn, sent and read, and every button pressed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.doors.web.forms.form import compile_form
from tests.unit.doors.web.forms.browser import Page
from tests.unit.doors.web.forms.schemas import ANYTHING, SCHEMAS, fitting
from tests.unit.doors.web.forms.test_round_trip import same

pytestmark = [pytest.mark.req("UI-02", "UI-06"), pytest.mark.timeout(900)]
_long = settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))


@_long
@given(SCHEMAS, ANYTHING)
def test_any_value_of_any_schema_comes_back(schema: dict[str, Any], value: Any) -> None:
    form = compile_form(schema)
    assert same(form.read(Page(str(form.render(value))).sends()).value, value)


@_long
@given(st.data())
def test_any_button_can_be_pressed_and_what_comes_of_it_is_drawn_and_comes_back(data: st.DataObject) -> None:
    schema = data.draw(SCHEMAS)
    form = compile_form(schema)
    value = data.draw(fitting(schema))
    for _ in range(4):
        page = Page(str(form.render(value)))
        buttons = page.buttons()
        if not buttons:
            break
        read = form.read(page.sends(press=data.draw(st.sampled_from(buttons))))
        assert read.done is not None
        filled = form.read(Page(str(form.render(read.value))).sends()).value  # what is blank gets a meaning
        assert same(form.read(Page(str(form.render(filled))).sends()).value, filled)
        value = read.value


@_long
@given(SCHEMAS, st.lists(st.tuples(st.sampled_from("#?=@!+&"), st.text(max_size=8), st.text(max_size=8))))
def test_no_post_at_all_breaks_a_form(schema: dict[str, Any], sent: list[tuple[str, str, str]]) -> None:
    form = compile_form(schema)
    pairs = [(f"{sign}/{name}" if name else sign, text) for sign, name, text in sent]
    str(form.render(form.read(pairs).value))
