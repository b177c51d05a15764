"""Numbers: typed as text, so that nothing a person typed is lost, and read exactly."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from typing import Any

import htpy as h

from handrail.core.define.jsonvalue import TOO_LARGE, TOO_SMALL
from handrail.doors.web.forms.empty import draw_empty, read_empty
from handrail.doors.web.forms.field import MISSING, Field, Typed
from handrail.doors.web.forms.pen import Pen, Said
from handrail.doors.web.forms.place import Place
from handrail.doors.web.forms.post import Post
from handrail.doors.web.forms.registry import SLOT, Mould, register_widget
from handrail.doors.web.forms.widgets.text import placeholder
from handrail.doors.web.forms.wire import SIDE, one_line
from handrail.doors.web.forms.words import not_a_number

_WHOLE = re.compile(r"[+-]?\d+\Z", re.A)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z", re.A)
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:[    ]\d{3})+(?:\.\d+)?\Z", re.A)
_GAP = re.compile(r"[    ]")


def parsed(text: str) -> int | float | None:
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


class Number:
    """A whole number or any number."""

    def fits(self, field: Field, value: Any) -> bool:
        if value is MISSING or value is None or is_number(value):
            return True
        return isinstance(value, str) and one_line(value) and parsed(value) is None

    def mould(self, field: Field, value: Any) -> Mould | None:
        if value is MISSING or value is None:
            return Mould("out" if value is MISSING else "null", value)
        return Mould("number", SLOT, repr(value)) if is_number(value) else None

    def draw(self, field: Field, pen: Pen, place: Place, value: Any) -> h.Node:
        said = Said(field, pen, place)
        return said.frame(number_box(field, said, shown(value)), draw_empty(field, pen, place, value))

    def read(self, field: Field, post: Post, place: Place) -> Any:
        text = post.value(place)
        if text is None and post.way(place) is None:
            return MISSING
        if not text or not text.strip():
            return Typed(text) if text else read_empty(field, post, place)
        number = parsed(text)
        if number is not None:
            return number
        post.wrong(place, not_a_number(text, field.schema.get("type") == "integer"))
        return Typed(text)


def shown(value: Any) -> str:
    return value if isinstance(value, str) else repr(value) if is_number(value) else ""


def number_box(field: Field, said: Said, text: str) -> h.Node:
    whole = field.schema.get("type") == "integer"
    return h.input(
        ".input.form-number",
        said.attrs,
        type="text",
        value=text,
        inputmode="numeric" if whole else "decimal",
        autocomplete="off",
        placeholder=placeholder(field),
    )


class ExactNumber(Number):
    """A decimal number that may come as text: what is typed is sent as text, digit for digit."""

    def mould(self, field: Field, value: Any) -> Mould | None:
        return super().mould(field, value) if value is MISSING else None

    def fits(self, field: Field, value: Any) -> bool:
        return (
            value is MISSING
            or value is None
            or is_number(value)
            or (isinstance(value, str) and one_line(value))
        )

    def draw(self, field: Field, pen: Pen, place: Place, value: Any) -> h.Node:
        said = Said(field, pen, place)
        kind = h.input(type="hidden", name=SIDE + place.pointer, value="number") if is_number(value) else None
        return said.frame(number_box(field, said, shown(value)), kind, draw_empty(field, pen, place, value))

    def read(self, field: Field, post: Post, place: Place) -> Any:
        text = post.value(place)
        if text is None or not text.strip():
            return super().read(field, post, place)
        number = parsed(text)
        if number is None:
            post.wrong(place, not_a_number(text))
            return Typed(text)
        was_number = post.text(SIDE + place.pointer) == "number"
        return number if was_number and _is_exact(number, text) else text


def _is_exact(number: int | float, text: str) -> bool:
    try:
        return Decimal(repr(number)) == Decimal(text.strip())
    except InvalidOperation:
        return False


class Slider(Number):
    """A number between two bounds, where its value is one that a slider can stand on."""

    def mould(self, field: Field, value: Any) -> Mould | None:
        return super().mould(field, value) if value is MISSING else None

    def draw(self, field: Field, pen: Pen, place: Place, value: Any) -> h.Node:
        bounds = _bounds(field)
        if bounds is None or type(value) is not int:
            return super().draw(field, pen, place, value)
        least, most, step = bounds
        if not least <= value <= most or (value - least) % step:
            return super().draw(field, pen, place, value)
        said = Said(field, pen, place)
        attrs = {**said.attrs, "min": str(least), "max": str(most), "step": str(step), "value": str(value)}
        attrs.pop("aria-required", None)
        return said.frame(
            h.div(".form-slider")[
                h.input(".input", attrs, {"data-slider": True}, type="range"),
                h.output(for_=said.id)[str(value)],
            ]
        )


def _bounds(field: Field) -> tuple[int, int, int] | None:
    least, most = field.schema.get("minimum"), field.schema.get("maximum")
    step = field.schema.get("multipleOf", 1)
    if type(least) is int and type(most) is int and type(step) is int and least < most and step > 0:
        return least, most, step
    return None


register_widget("number", Number())
register_widget("exact", ExactNumber())
register_widget("slider", Slider())
