"""What a field holds before anybody types, and what an empty box means: left out, null or empty text."""

from __future__ import annotations

from typing import Any

import htpy as h

from handrail.core.define.json_values import copy_value
from handrail.doors.web.forms.control_names import MODE, FieldLocation
from handrail.doors.web.forms.fields import (
    BLANK,
    MISSING,
    BlankText,
    ChoiceField,
    FormField,
    ListField,
    ObjectField,
)
from handrail.doors.web.forms.post import FormPost
from handrail.doors.web.forms.render import RenderContext

_MAX_ROWS = 10
_MAX_FIELDS = 1_000


def initial_value(field: FormField, asked: bool = False, left: list[int] | None = None) -> Any:
    """The value to begin with, or MISSING; what is drawn on demand begins when somebody asks for it."""
    left = [_MAX_FIELDS] if left is None else left
    left[0] -= 1
    if left[0] < 0:
        return MISSING
    if field.default is not MISSING and not (asked and field.default is None):
        return copy_value(field.default)
    if not (field.required or field.row or field.top or asked):
        return MISSING
    if (field.nullable or field.demand) and not (field.top or asked):
        return MISSING
    if isinstance(field, ChoiceField):
        return field.options[0][0] if field.widget == "constant" else MISSING
    if isinstance(field, ObjectField):
        started = {child.name: initial_value(child.lazy_field(), left=left) for child in field.children}
        return {name: value for name, value in started.items() if value is not MISSING}
    if isinstance(field, ListField):
        return [_initial_item(field, left) for _ in range(min(field.least, _MAX_ROWS))] if field.item else []
    return MISSING


def _initial_item(field: ListField, left: list[int]) -> Any:
    value = initial_value(field.item(), left=left) if field.item else MISSING
    return BLANK if value is MISSING else value


_LABELS = {"out": "leave out", "null": "no value (null)", "empty": "empty text", "here": "empty list"}
_BY_HINT = {"text": "empty", "null": "null", "out": "out"}


def empty_meaning(field: FormField, textual: bool = False) -> str:
    """What an empty box means when nothing else is said."""
    hinted = _BY_HINT.get(str(field.hints.get("empty")))
    if hinted:
        return hinted
    if field.row and textual and not field.nullable:
        return "empty"
    return "null" if field.nullable and (field.required or field.row) else "out"


def empty_state_of(value: Any, otherwise: str) -> str:
    """The state that a value is in, if it is an empty one."""
    if value is MISSING or isinstance(value, BlankText):
        return otherwise if isinstance(value, BlankText) else "out"
    return "null" if value is None else "empty" if value == "" else otherwise


def render_empty(
    field: FormField,
    ctx: RenderContext,
    location: FieldLocation,
    value: Any,
    textual: bool = False,
    extra: str | None = None,
) -> h.Node:
    """The control that says what an empty box means, if one is needed."""
    normal = empty_meaning(field, textual)
    state = empty_state_of(value, extra or normal)
    asks = field.nullable and not (field.default is None and not field.required and not field.row)
    if not asks:
        return h.input(type="hidden", name=MODE + location.pointer, value=state) if state != normal else None
    states = [
        one
        for one in ("out", "null", "empty", "here")
        if one == state or _is_open(one, field, textual, extra)
    ]
    return h.label(".form-empty")[
        "When empty: ",
        h.select(".select.form-small", name=MODE + location.pointer, aria_label=f"{field.label}: when empty")[
            (h.option(value=one, selected=one == state)[_LABELS[one]] for one in states)
        ],
    ]


def _is_open(state: str, field: FormField, textual: bool, extra: str | None) -> bool:
    if state == "out":
        return not (field.required or field.row)
    return state == "null" or (state == "empty" and textual) or state == extra


def read_empty(field: FormField, post: FormPost, location: FieldLocation, textual: bool = False) -> Any:
    """The value of an empty box."""
    state = post.way(location) or empty_meaning(field, textual)
    if state == "null":
        return None
    if state == "empty":
        return ""
    if not field.row:
        return MISSING
    post.needs(field, location)
    return BLANK
