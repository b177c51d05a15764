"""Numbers: typed as text, so that nothing a person typed is lost, and read exactly."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from typing import Any

import htpy as h

from handrail.core.define.json_values import TOO_LARGE, TOO_SMALL
from handrail.doors.web.forms.control_names import SIDE, FieldLocation, is_single_line
from handrail.doors.web.forms.defaults import read_empty, render_empty
from handrail.doors.web.forms.errors import number_error
from handrail.doors.web.forms.fields import MISSING, FormField, UnreadableText
from handrail.doors.web.forms.post import FormPost
from handrail.doors.web.forms.render import FieldWrapper, RenderContext
from handrail.doors.web.forms.widget_registry import SLOT, WidgetTemplate, register_widget
from handrail.doors.web.forms.widgets.text import placeholder

_WHOLE = re.compile(r"[+-]?\d+\Z", re.A)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z", re.A)
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:[    ]\d{3})+(?:\.\d+)?\Z", re.A)
_GAP = re.compile(r"[    ]")


def parse_number(text: str) -> int | float | None:
    """The number that a text is, or None. Spaces may part thousands; nothing else is guessed."""
    text = text.strip()
    if _GROUPED.match(text):
        text = _GAP.sub("", text)
    if not _NUMBER.match(text) or len(text) > 400:
        return None
    if _WHOLE.match(text):
        whole = int(text)
        return whole if TOO_SMALL < whole < TOO_LARGE else None
    number = float(text)
    return number if math.isfinite(number) else None


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class NumberWidget:
    """A whole number or any number."""

    def fits(self, field: FormField, value: Any) -> bool:
        if value is MISSING or value is None or is_number(value):
            return True
        return isinstance(value, str) and is_single_line(value) and parse_number(value) is None

    def template(self, field: FormField, value: Any) -> WidgetTemplate | None:
        if value is MISSING or value is None:
            return WidgetTemplate("out" if value is MISSING else "null", value)
        return WidgetTemplate("number", SLOT, repr(value)) if is_number(value) else None

    def render(self, field: FormField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        return wrapper.frame(
            number_box(field, wrapper, number_text(value)), render_empty(field, ctx, location, value)
        )

    def read(self, field: FormField, post: FormPost, location: FieldLocation) -> Any:
        text = post.value(location)
        if text is None and post.way(location) is None:
            return MISSING
        if not text or not text.strip():
            return UnreadableText(text) if text else read_empty(field, post, location)
        number = parse_number(text)
        if number is not None:
            return number
        post.wrong(location, number_error(text, field.schema.get("type") == "integer"))
        return UnreadableText(text)


def number_text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value) if is_number(value) else ""


def number_box(field: FormField, wrapper: FieldWrapper, text: str) -> h.Node:
    whole = field.schema.get("type") == "integer"
    return h.input(
        ".input.form-number",
        wrapper.attrs,
        type="text",
        value=text,
        inputmode="numeric" if whole else "decimal",
        autocomplete="off",
        placeholder=placeholder(field),
    )


class DecimalWidget(NumberWidget):
    """A decimal number that may come as text: what is typed is sent as text, digit for digit."""

    def template(self, field: FormField, value: Any) -> WidgetTemplate | None:
        return super().template(field, value) if value is MISSING else None

    def fits(self, field: FormField, value: Any) -> bool:
        return (
            value is MISSING
            or value is None
            or is_number(value)
            or (isinstance(value, str) and is_single_line(value))
        )

    def render(self, field: FormField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        kind = (
            h.input(type="hidden", name=SIDE + location.pointer, value="number") if is_number(value) else None
        )
        return wrapper.frame(
            number_box(field, wrapper, number_text(value)), kind, render_empty(field, ctx, location, value)
        )

    def read(self, field: FormField, post: FormPost, location: FieldLocation) -> Any:
        text = post.value(location)
        if text is None or not text.strip():
            return super().read(field, post, location)
        number = parse_number(text)
        if number is None:
            post.wrong(location, number_error(text))
            return UnreadableText(text)
        was_number = post.text(SIDE + location.pointer) == "number"
        return number if was_number and _is_exact(number, text) else text


def _is_exact(number: int | float, text: str) -> bool:
    try:
        return Decimal(repr(number)) == Decimal(text.strip())
    except InvalidOperation:
        return False


class SliderWidget(NumberWidget):
    """A number between two bounds, where its value is one that a slider can stand on."""

    def template(self, field: FormField, value: Any) -> WidgetTemplate | None:
        return super().template(field, value) if value is MISSING else None

    def render(self, field: FormField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        bounds = _bounds(field)
        if bounds is None or type(value) is not int:
            return super().render(field, ctx, location, value)
        least, most, step = bounds
        if not least <= value <= most or (value - least) % step:
            return super().render(field, ctx, location, value)
        wrapper = FieldWrapper(field, ctx, location)
        attrs = {**wrapper.attrs, "min": str(least), "max": str(most), "step": str(step), "value": str(value)}
        attrs.pop("aria-required", None)
        return wrapper.frame(
            h.div(".form-slider")[
                h.input(".input", attrs, {"data-slider": True}, type="range"),
                h.output(for_=wrapper.id)[str(value)],
            ]
        )


def _bounds(field: FormField) -> tuple[int, int, int] | None:
    least, most = field.schema.get("minimum"), field.schema.get("maximum")
    step = field.schema.get("multipleOf", 1)
    if type(least) is int and type(most) is int and type(step) is int and least < most and step > 0:
        return least, most, step
    return None


register_widget("number", NumberWidget())
register_widget("exact", DecimalWidget())
register_widget("slider", SliderWidget())
