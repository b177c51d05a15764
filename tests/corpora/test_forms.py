"""Eighty-five forms that others wrote, to show what their form engines can do: all of them are drawn here."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handrail.core.define.call import FieldError
from handrail.core.define.validation import InvalidValue, Validator, schema_validator
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


def _validator(schema: dict[str, Any]) -> Validator:
    try:
        return schema_validator(schema, formats=True)
    except DefinitionError:  # written before drafts were told apart, and without a word on which it is
        return schema_validator(
            {"$schema": "http://json-schema.org/draft-07/schema#", **schema}, formats=True
        )


def _errors(validate: Validator, data: Any) -> tuple[FieldError, ...]:
    try:
        validate(data)
    except InvalidValue as invalid:
        return invalid.errors
    return ()


def test_there_are_eighty_five() -> None:
    assert len(_FORMS) == 85


@_by_name
@pytest.mark.req("UI-06", "UI-02")
def test_it_is_drawn_empty(form: dict[str, Any]) -> None:
    page = Page(str(compile_form(form["schema"]).render()))
    assert [one for one in page.controls if one.name]
    assert len(page.ids) == len(set(page.ids))


@_by_name
@pytest.mark.req("UI-06", "UI-02")
def test_its_data_comes_back_unchanged(form: dict[str, Any]) -> None:
    compiled = compile_form(form["schema"])
    data = compiled.first_value() if _data(form) is None else _data(form)
    read = compiled.read(Page(str(compiled.render(data))).sends())
    assert same(read.value, data) or (data is read.value), read.value
    assert read.done is None


@_by_name
@pytest.mark.req("UI-17")
def test_what_is_wrong_with_its_data_is_shown(form: dict[str, Any]) -> None:
    """Both with its data and with none, everything that the validator finds is said, and nothing is lost."""
    compiled = compile_form(form["schema"])
    validate = _validator(form["schema"])
    given: tuple[Any, ...] = (_data(form), {})
    for data in given:
        wrong = _errors(validate, data)
        if wrong:
            page = Page(str(compiled.render(data, wrong)))
            assert page.text.count("Some answers need") + page.text.count("One answer needs") <= 1
            said = sum("form-error" in (attrs.get("class") or "") for _, attrs in page.tags)
            told = sum(tag == "li" for tag, _ in page.tags) if "form-summary" in str(page.tags) else 0
            assert said + told >= len({error.path for error in wrong})
            assert same(compiled.read(page.sends()).value, data)
