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
from handrail.doors.web.forms.render import FieldWrapper, RenderContext, hidden_input
from handrail.doors.web.forms.widget_registry import SLOT, WidgetTemplate
from handrail.doors.web.forms.widgets.text import fits_line, placeholder

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
        box = h.input(
            ".input.form-number",
            wrapper.attrs,
            type="text",
            value=value if isinstance(value, str) else repr(value) if is_number(value) else "",
            inputmode="numeric" if _is_integer(field) else "decimal",
            autocomplete="off",
            placeholder=placeholder(field),
        )
        return wrapper.frame(box, self.beside(location, value), render_empty(field, ctx, location, value))

    def beside(self, location: FieldLocation, value: Any) -> h.Node:
        """What stands beside the box."""
        return None

    def read(self, field: FormField, post: FormPost, location: FieldLocation) -> Any:
        text = post.value(location)
        if not text:
            return MISSING if post.is_absent(location) else read_empty(field, post, location)
        if not text.strip():
            return UnreadableText(text)
        number = parse_number(text)
        if number is not None:
            return number
        post.wrong(location, number_error(text, _is_integer(field)))
        return UnreadableText(text)


def _is_integer(field: FormField) -> bool:
    return field.schema.get("type") == "integer"


class DecimalWidget(NumberWidget):
    """A decimal number that may come as text: what is typed is sent as text, digit for digit."""

    def template(self, field: FormField, value: Any) -> WidgetTemplate | None:
        return super().template(field, value) if value is MISSING else None

    def fits(self, field: FormField, value: Any) -> bool:
        return is_number(value) or fits_line(value)

    def beside(self, location: FieldLocation, value: Any) -> h.Node:
        return hidden_input(SIDE + location.pointer, "number") if is_number(value) else None

    def read(self, field: FormField, post: FormPost, location: FieldLocation) -> Any:
        value, text = super().read(field, post, location), post.value(location) or ""
        was_number = post.text(SIDE + location.pointer) == "number"
        return text if is_number(value) and not (was_number and _is_exact(value, text)) else value


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
