"""Filling in a form as a person does: see it, change something, send it."""

from __future__ import annotations

from typing import Any

from handrail.core.define.ui_specs import FormSpec
from handrail.doors.web.forms.fields import MISSING, ToolFormMode
from handrail.doors.web.forms.form import Form, ParsedForm, compile_form
from tests.unit.doors.web.forms.browser import Page, changed


def single_field_form(schema: dict[str, Any], required: bool = False, **hints: Any) -> Form:
    """A form with one field, called it."""
    whole = {"type": "object", "properties": {"it": schema}, "required": ["it"] if required else []}
    return compile_form(whole, FormSpec({"it": hints}) if hints else None)


def rendered_page(form: Form, value: Any = MISSING, **more: Any) -> Page:
    return Page(str(form.render(value, **more)))


def sent_form(form: Form, value: Any = MISSING, press: str | None = None, **typed: str | None) -> ParsedForm:
    """What is read once some controls were changed; `it="x"` types x into the field called it."""
    pairs = rendered_page(form, value).sends(press)
    for name, text in typed.items():
        pairs = changed(pairs, f"#/{name}", text)
    return form.read(pairs)


def control_name(
    properties: dict[str, Any], hints: dict[str, Any] | None = None, mode: ToolFormMode = "internal"
) -> Form:
    """A form with several fields."""
    return compile_form({"type": "object", "properties": properties}, FormSpec(hints or {}), mode=mode)
