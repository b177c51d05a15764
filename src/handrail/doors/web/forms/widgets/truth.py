"""Booleans: a box to tick where there is a yes or no already, else a choice that can also be left open."""

from __future__ import annotations

from typing import Any

import htpy as h

from handrail.doors.web.forms.field import BLANK, MISSING, Blank, Field
from handrail.doors.web.forms.pen import Pen, Said
from handrail.doors.web.forms.place import Place
from handrail.doors.web.forms.post import Post
from handrail.doors.web.forms.registry import Mould, register_widget
from handrail.doors.web.forms.wire import MODE

_READ = {"true": True, "false": False, "null": None}


class Truth:
    """Yes or no; left out; null."""

    def fits(self, field: Field, value: Any) -> bool:
        return value is MISSING or value is None or isinstance(value, (bool, Blank))

    def mould(self, field: Field, value: Any) -> Mould | None:
        return (
            Mould(repr(value), value)
            if value is MISSING or value is None or isinstance(value, bool)
            else None
        )

    def draw(self, field: Field, pen: Pen, place: Place, value: Any) -> h.Node:
        said = Said(field, pen, place)
        if isinstance(value, bool) and _is_settled(field):
            return _tick(said, place, value)
        now = "null" if value is None else "true" if value is True else "false" if value is False else ""
        none = "Choose…" if field.required or field.row else "Not given"
        states = [("", none), ("true", "Yes"), ("false", "No"), ("null", "No value")]
        offered = [one for one in states if one[0] == now or one[0] != "null" or field.nullable]
        return said.frame(
            h.select(".select", said.attrs)[
                (h.option(value=state, selected=state == now)[words] for state, words in offered)
            ]
        )

    def read(self, field: Field, post: Post, place: Place) -> Any:
        text = post.value(place)
        if post.way(place) == "tick":
            return text is not None
        if text in _READ:
            return _READ[text]
        if not field.row:
            return MISSING
        post.needs(field, place)
        return BLANK


def _is_settled(field: Field) -> bool:
    """Whether nothing but yes and no is of use."""
    return not field.nullable and (field.required or field.row or isinstance(field.default, bool))


def _tick(said: Said, place: Place, value: bool) -> h.Node:
    attrs = {key: one for key, one in said.attrs.items() if key != "aria-required"}
    own = said.field.hints.get("class")
    return h.div(
        {"class": ["form-field", "form-tick", own], "data-invalid": "true" if said.errors else None}
    )[
        h.input(type="hidden", name=MODE + place.pointer, value="tick"),
        h.label(".form-tick-label")[
            h.input(".input", attrs, type="checkbox", value="true", checked=value),
            h.span[said.field.label],
        ],
        said.help(),
        said.error(),
    ]


register_widget("boolean", Truth())
