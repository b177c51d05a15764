"""Filling in a form as a person does: see it, change something, send it."""

from __future__ import annotations

from typing import Any

from handrail.core.define.sections import FormSpec
from handrail.doors.web.forms.field import MISSING, ToolFormMode
from handrail.doors.web.forms.form import Form, Read, compile_form
from tests.unit.doors.web.forms.browser import Page, changed


def one(schema: dict[str, Any], required: bool = False, **hints: Any) -> Form:
    """A form with one field, called it."""
    whole = {"type": "object", "properties": {"it": schema}, "required": ["it"] if required else []}
    return compile_form(whole, FormSpec({"it": hints}) if hints else None)


def seen(form: Form, value: Any = MISSING, **more: Any) -> Page:
    return Page(str(form.draw(value, **more)))


def sent(form: Form, value: Any = MISSING, press: str | None = None, **typed: str | None) -> Read:
    """What is read once some controls were changed; `it="x"` types x into the field called it."""
    pairs = seen(form, value).sends(press)
    for name, text in typed.items():
        pairs = changed(pairs, f"#/{name}", text)
    return form.read(pairs)


def named(
    properties: dict[str, Any], hints: dict[str, Any] | None = None, mode: ToolFormMode = "internal"
) -> Form:
    """A form with several fields."""
    return compile_form({"type": "object", "properties": properties}, FormSpec(hints or {}), mode=mode)
