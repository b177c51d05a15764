"""Whatever stands in a form comes back as it was: any value of any schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.doors.web.forms.form import compile_form
from tests.unit.doors.web.forms.browser import Page
from tests.unit.doors.web.forms.schemas import ANYTHING, SCHEMAS, fitting

_slow = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1, and 1.0 is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, str) and isinstance(other, str):
        return str(one) == str(other)
    return type(one) is type(other) and repr(one) == repr(other)


@_slow
@given(st.data())
@pytest.mark.req("UI-06", "UI-02")
def test_a_value_that_fits_comes_back_as_it_was(data: st.DataObject) -> None:
    schema = data.draw(SCHEMAS)
    value = data.draw(fitting(schema))
    read = compile_form(schema).read(Page(str(compile_form(schema).render(value))).sends())
    assert same(read.value, value), (value, read.value)
    assert read.done is None


@_slow
@given(SCHEMAS, ANYTHING)
@pytest.mark.req("UI-06")
def test_a_value_that_does_not_fit_comes_back_as_well(schema: dict[str, Any], value: Any) -> None:
    form = compile_form(schema)
    read = form.read(Page(str(form.render(value))).sends())
    assert same(read.value, value), (value, read.value)


@_slow
@given(SCHEMAS)
def test_no_two_things_in_a_form_have_one_id_and_every_control_has_a_label(schema: dict[str, Any]) -> None:
    page = Page(str(compile_form(schema).render()))
    assert len(page.ids) == len(set(page.ids))
    labelled = {attrs.get("for") for tag, attrs in page.tags if tag == "label"}
    for control in page.controls:
        kind = control.attrs.get("type")
        if control.tag in ("input", "select", "textarea") and kind not in ("hidden", "checkbox", "radio"):
            assert (
                control.attrs.get("id") in labelled
                or control.attrs.get("aria-label")
                or control.name.startswith("?")
            )
