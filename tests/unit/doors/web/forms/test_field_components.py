"""Fields as data, drawn: for each kind one component that asks and one that shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import htpy as h
import pytest

from handrail.core.define.call import FieldError
from handrail.doors.web.forms.field_components import (
    bootstrap_field_registry,
    definitions_form,
    field_definition_display,
    field_definition_form,
    register_display,
    register_input,
)
from handrail.doors.web.forms.widgets.text import TextWidget
from handrail.ext.forms import STORAGE_TYPES, VARIANTS, FieldDefinition, StorageType
from tests.unit.doors.web.forms.browser import Page
from tests.unit.present.test_fields import GOOD, field


@pytest.fixture(autouse=True)
def _usual() -> Iterator[None]:
    yield
    bootstrap_field_registry()


@pytest.mark.req("FD-03")
def test_twenty_four_components_stand_in_two_slots() -> None:
    found = bootstrap_field_registry()
    assert set(found) == {(slot, kind) for slot in ("field-input", "field-display") for kind in STORAGE_TYPES}
    assert len(found) == 24


@pytest.mark.req("FD-04", "FD-03")
@pytest.mark.parametrize("kind", STORAGE_TYPES)
def test_each_kind_is_asked_for_and_its_value_comes_back(kind: StorageType) -> None:
    one = field(kind)
    page = Page(str(field_definition_form([one], {"it": GOOD[kind]})))
    assert definitions_form([one]).read(page.sends()).value == {"it": GOOD[kind]}


_SHOWN: dict[str, str] = {
    "text": "Ana",
    "number": "1.5",
    "boolean": "Yes",
    "date": '<time datetime="2026-03-31">',
    "enum": "First",
    "url": '<a class="form-link" href="https://example.com/x"',
    "email": '<a href="mailto:ana@example.com">',
    "phone": '<a href="tel:+431234567">',
    "media": "a.txt (text/plain, 3 bytes)",
    "relation": "rec-001",
    "object": '<dt>City</dt><dd><span class="form-shown-text">Wien',
    "array": "<li>",
}


@pytest.mark.req("FD-04", "FD-03")
@pytest.mark.parametrize("kind", STORAGE_TYPES)
def test_each_kind_is_shown(kind: StorageType) -> None:
    assert _SHOWN[kind] in str(field_definition_display([field(kind)], {"it": GOOD[kind]}))


@pytest.mark.req("FD-02")
@pytest.mark.parametrize(
    ("kind", "variant"), [(kind, one) for kind in STORAGE_TYPES for one in VARIANTS[kind]]
)
def test_each_kind_goes_with_its_variants(kind: StorageType, variant: str) -> None:
    one = field(kind, variant=variant)
    others = {"moment": "2026-03-31T12:00:00Z", "time": "12:00:00", "integer": 3, "secret": "s"}
    value = others.get(variant, GOOD[kind])
    shown = str(field_definition_display([one], {"it": value}))
    page = Page(str(field_definition_form([one], {"it": value})))
    read = definitions_form([one]).read(page.sends()).value
    if variant == "secret":
        assert ">s<" not in shown and read == {}
    else:
        assert read == {"it": value}


@pytest.mark.req("FD-02")
def test_a_variant_changes_the_control() -> None:
    drawn = {
        variant: Page(str(field_definition_form([field("text", variant=variant)])))
        for variant in (None, "lines", "secret")
    }
    assert drawn[None].control("#/it").attrs["type"] == "text"
    assert drawn["lines"].control("#/it").tag == "textarea"
    assert drawn["secret"].control("#/it").attrs["type"] == "password"


@pytest.mark.req("FD-04", "UI-17")
@pytest.mark.parametrize("kind", STORAGE_TYPES)
def test_a_hostile_value_stays_text_in_every_display(kind: StorageType) -> None:
    hostile = '"><script>alert(1)</script>'
    for value in (hostile, [hostile], {"city": hostile, hostile: 1}, f"javascript:{hostile}"):
        shown = str(field_definition_display([field(kind)], {"it": value, hostile: hostile}))
        assert "<script" not in shown and 'href="javascript' not in shown


@pytest.mark.req("FD-03")
def test_a_component_of_ones_own_takes_over() -> None:
    class Loud(TextWidget):
        def render(self, field: Any, pen: Any, place: Any, value: Any) -> h.Node:
            return h.div(".loud")[super().render(field, pen, place, value)]

    register_input("phone", Loud())
    register_display("phone", lambda one, value, show: h.b[value])
    one = field("phone")
    page = str(field_definition_form([one], {"it": "123"}))
    assert 'class="loud"' in page and definitions_form([one]).read(Page(page).sends()).value == {"it": "123"}
    assert "<b>123</b>" in str(field_definition_display([one], {"it": "123"}))


@pytest.mark.req("FD-04", "UI-17")
def test_what_is_wrong_with_a_field_stands_at_it() -> None:
    errors = [FieldError("it", "is required", missing=True)]
    one = FieldDefinition(name="it", type="email", label="E-mail")
    page = Page(str(field_definition_form([one], {}, errors)))
    assert "E-mail is required." in page.text
    assert page.control("#/it").attrs["aria-invalid"] == "true"
