"""Emptiness: left out, null and empty text are three things, and an empty box has to be one of them.

Every field knows what its empty box means. Where that is not what the box would mean anyway, a hidden control
says so; where a person has a choice, a visible one asks.
"""

from __future__ import annotations

from typing import Any

import htpy as h

from handrail.doors.web.forms.field import BLANK, MISSING, Blank, Field
from handrail.doors.web.forms.pen import Pen
from handrail.doors.web.forms.place import Place
from handrail.doors.web.forms.post import Post
from handrail.doors.web.forms.wire import MODE

_WORDS = {"out": "leave out", "null": "no value (null)", "empty": "empty text", "here": "empty list"}
_HINTED = {"text": "empty", "null": "null", "out": "out"}


def usual(field: Field, textual: bool = False) -> str:
    """What an empty box means when nothing else is said."""
    hinted = _HINTED.get(str(field.hints.get("empty")))
    if hinted:
        return hinted
    if field.row and textual and not field.nullable:
        return "empty"
    return "null" if field.nullable and (field.required or field.row) else "out"


def state_of(value: Any, otherwise: str) -> str:
    """The state that a value is in, if it is an empty one."""
    if value is MISSING or isinstance(value, Blank):
        return otherwise if isinstance(value, Blank) else "out"
    return "null" if value is None else "empty" if value == "" else otherwise


def draw_empty(
    field: Field, pen: Pen, place: Place, value: Any, textual: bool = False, extra: str | None = None
) -> h.Node:
    """The control that says what an empty box means, if one is needed."""
    normal = usual(field, textual)
    state = state_of(value, extra or normal)
    asks = field.nullable and not (field.default is None and not field.required and not field.row)
    if not asks:
        return h.input(type="hidden", name=MODE + place.pointer, value=state) if state != normal else None
    states = [
        one
        for one in ("out", "null", "empty", "here")
        if one == state or _is_open(one, field, textual, extra)
    ]
    return h.label(".form-empty")[
        "When empty: ",
        h.select(".select.form-small", name=MODE + place.pointer, aria_label=f"{field.label}: when empty")[
            (h.option(value=one, selected=one == state)[_WORDS[one]] for one in states)
        ],
    ]


def _is_open(state: str, field: Field, textual: bool, extra: str | None) -> bool:
    if state == "out":
        return not (field.required or field.row)
    return state == "null" or (state == "empty" and textual) or state == extra


def read_empty(field: Field, post: Post, place: Place, textual: bool = False) -> Any:
    """The value of an empty box."""
    state = post.way(place) or usual(field, textual)
    if state == "null":
        return None
    if state == "empty":
        return ""
    if not field.row:
        return MISSING
    post.needs(field, place)
    return BLANK
