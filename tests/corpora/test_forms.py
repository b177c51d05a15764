"""Eighty-five forms that others wrote, to show what their form engines can do: all of them are drawn here."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handrail.core.define.validation import Invalid, schema_validator
from handrail.core.errors import DefinitionError
from handrail.doors.web.forms.form import compile_form
from tests.corpora.corpus import corpus
from tests.unit.doors.web.forms.browser import Page
from tests.unit.doors.web.forms.test_round_trip import same

_FORMS: list[dict[str, Any]] = [
    json.loads(line) for line in (corpus("forms") / "forms.jsonl").read_text().splitlines()
]
_by_name = pytest.mark.parametrize("form", _FORMS, ids=[f"{one['source']}-{one['name']}" for one in _FORMS])


def _data(form: dict[str, Any]) -> Any:
    return form.get("formData", form.get("data"))


def test_there_are_eighty_five() -> None:
    assert len(_FORMS) == 85


@_by_name
@pytest.mark.req("UI-06", "UI-02")
def test_it_is_drawn_empty(form: dict[str, Any]) -> None:
    page = Page(str(compile_form(form["schema"]).draw()))
    assert [one for one in page.controls if one.name]
    assert len(page.ids) == len(set(page.ids))


@_by_name
@pytest.mark.req("UI-06", "UI-02")
def test_its_data_comes_back_unchanged(form: dict[str, Any]) -> None:
    compiled = compile_form(form["schema"])
    data = compiled.first_value() if _data(form) is None else _data(form)
    read = compiled.read(Page(str(compiled.draw(data))).sends())
    assert same(read.value, data) or (data is read.value), read.value
    assert read.done is None


@_by_name
@pytest.mark.req("UI-17")
def test_what_is_wrong_with_its_data_is_shown(form: dict[str, Any]) -> None:
    """Both with its data and with none, everything that the validator finds is said, and nothing is lost."""
    compiled = compile_form(form["schema"])
    try:
        validate = schema_validator(form["schema"], formats=True)
    except DefinitionError:
        pytest.xfail("its schema refers to an address outside, or is none")
    for data in (_data(form), {}):
        try:
            validate(data)
        except Invalid as invalid:
            page = Page(str(compiled.draw(data, invalid.errors)))
            assert page.text.count("Some answers need") + page.text.count("One answer needs") <= 1
            invalid_controls = [attrs for _, attrs in page.tags if "form-error" in (attrs.get("class") or "")]
            summary = [attrs for _, attrs in page.tags if "form-summary" in (attrs.get("class") or "")]
            assert invalid_controls or summary
            assert same(compiled.read(page.sends()).value, data)
