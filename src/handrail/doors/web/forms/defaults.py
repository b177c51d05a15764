"""What a field holds before anybody types, and what an empty box means: left out, null or empty text."""

from __future__ import annotations

from typing import Any

import htpy as h

from handrail.core.define.json_values import copy_value
from handrail.doors.web.forms import fields
from handrail.doors.web.forms.control_names import MODE, FieldLocation
from handrail.doors.web.forms.post import FormPost
from handrail.doors.web.forms.render import RenderContext, select_box

_MAX_ROWS = 10
_MAX_FIELDS = 1_000


def initial_value(field: fields.FormField, asked: bool = False, budget: list[int] | None = None) -> Any:
    """The value to begin with, or MISSING; what is drawn on demand begins when somebody asks for it."""
    budget = [_MAX_FIELDS] if budget is None else budget
    budget[0] -= 1
    if budget[0] < 0:
        return fields.MISSING
    if field.default is not fields.MISSING and not (asked and field.default is None):
        return copy_value(field.default)
    if not (field.required or field.row or field.top or asked):
        return fields.MISSING
    if (field.nullable or field.demand) and not (field.top or asked):
        return fields.MISSING
    if isinstance(field, fields.ChoiceField):
        return field.options[0][0] if field.widget == "constant" else fields.MISSING
    if isinstance(field, fields.ObjectField):
        values = {child.name: initial_value(child.lazy_field(), budget=budget) for child in field.children}
        return {name: value for name, value in values.items() if value is not fields.MISSING}
    if isinstance(field, fields.ListField) and field.item is not None:
        count = min(field.least, _MAX_ROWS)
        return [_or_blank(initial_value(field.item(), budget=budget)) for _ in range(count)]
    return [] if isinstance(field, fields.ListField) else fields.MISSING


def added_value(field: fields.FormField) -> Any:
    """The value of an item that somebody adds."""
    return _or_blank(initial_value(field, asked=True))


def _or_blank(value: Any) -> Any:
    return fields.BLANK if value is fields.MISSING else value


_LABELS = {"out": "leave out", "null": "no value (null)", "empty": "empty text", "here": "empty list"}
_BY_HINT = {"text": "empty", "null": "null", "out": "out"}


def empty_meaning(field: fields.FormField, textual: bool = False) -> str:
    """What an empty box means when nothing else is said."""
    hinted = _BY_HINT.get(str(field.hints.get("empty")))
    if hinted:
        return hinted
    if field.row and textual and not field.nullable:
        return "empty"
    return "null" if field.nullable and (field.required or field.row) else "out"


def empty_state_of(value: Any, otherwise: str) -> str:
    """The state that a value is in, if it is an empty one."""
    if value is fields.MISSING or isinstance(value, fields.BlankText):
        return otherwise if isinstance(value, fields.BlankText) else "out"
    return "null" if value is None else "empty" if value == "" else otherwise


def render_empty(
    field: fields.FormField,
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
    offered = {"out": not (field.required or field.row), "null": True, "empty": textual, "here": False}
    states = [name for name in offered if offered[name] or name in (state, extra)]
    attrs = {"name": MODE + location.pointer, "aria-label": f"{field.label}: when empty"}
    return h.label(".form-empty")[
        "When empty: ",
        select_box(attrs, [(name, _LABELS[name], name == state) for name in states], ".form-small"),
    ]


def read_empty(
    field: fields.FormField, post: FormPost, location: FieldLocation, textual: bool = False
) -> Any:
    """The value of an empty box."""
    state = post.way(location) or empty_meaning(field, textual)
    if state == "null":
        return None
    return "" if state == "empty" else read_unanswered(field, post, location)


def read_unanswered(field: fields.FormField, post: FormPost, location: FieldLocation) -> Any:
    """The value of a field that nobody filled in; an item of a list is there all the same."""
    if not field.row:
        return fields.MISSING
    post.needs(location)
    return fields.BLANK
