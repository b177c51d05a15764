"""Pickers: a thing of a type, found as one types; without script from a list of the first ones."""

from __future__ import annotations

from typing import Any

import htpy as h

from handrail.doors.web.forms.empty import draw_empty, read_empty
from handrail.doors.web.forms.field import MISSING, Field, ListField, Rows
from handrail.doors.web.forms.pen import Pen, Said, button, sign
from handrail.doors.web.forms.place import Place
from handrail.doors.web.forms.post import Post
from handrail.doors.web.forms.registry import register_widget
from handrail.doors.web.forms.widgets.several import fits_texts, state_of, wrong_below
from handrail.doors.web.forms.wire import KEPT, MODE, VALUE, one_line


def entity_type(field: Field) -> str:
    """The type of things to pick, or the name of the source of options."""
    items = field.schema.get("items")
    inner = items if isinstance(items, dict) else {}
    found = field.hints.get("entity") or field.hints.get("options")
    return str(found or field.schema.get("x-entity-type") or inner.get("x-entity-type") or "")


class EntityPicker:
    """One thing."""

    def fits(self, field: Field, value: Any) -> bool:
        return value is MISSING or value is None or (isinstance(value, str) and one_line(value))

    def draw(self, field: Field, pen: Pen, place: Place, value: Any) -> h.Node:
        said = Said(field, pen, place)
        text = value if isinstance(value, str) else ""
        label = pen.options.label_of(entity_type(field), text) if text else None
        return said.frame(
            _box(field, pen, said, text),
            h.p(".form-picked")[label] if label and label != text else None,
            draw_empty(field, pen, place, value, textual=True),
        )

    def read(self, field: Field, post: Post, place: Place) -> Any:
        text = post.value(place)
        if text is None and post.way(place) is None:
            return MISSING
        return text or read_empty(field, post, place, textual=True)


class ManyPicker:
    """Several things: those picked so far, and a box for the next."""

    def fits(self, field: ListField, value: Any) -> bool:
        return fits_texts(value)

    def draw(self, field: ListField, pen: Pen, place: Place, value: Any) -> h.Node:
        said = Said(field, pen, place)
        state = state_of(value)
        picked = value if isinstance(value, list) else []
        inner = wrong_below(field, pen, place)
        return said.frame(
            h.div(".form-picks")[
                (_picked(field, pen, place, at, one) for at, one in enumerate(picked)),
                _box(field, pen, said, ""),
                button("add", place.pointer, "Add", f"Add to {field.label}"),
            ],
            h.input(type="hidden", name=MODE + place.pointer, value=state),
            inner,
        )

    def read(self, field: ListField, post: Post, place: Place) -> Any:
        kept = post.texts(KEPT + place.pointer)
        found = [
            one for at, one in enumerate(kept) if not post.asked("remove", Place(f"{place.pointer}/{at}"))
        ]
        found += [text for text in post.texts(VALUE + place.pointer) if text]
        post.asked("add", place)
        way = post.way(place)
        if found or way == "here" or (field.row and way != "null"):
            return Rows(found)
        return None if way == "null" else MISSING


def _box(field: Field, pen: Pen, said: Said, text: str) -> h.Node:
    kind = entity_type(field)
    listed = f"{said.id}:options"
    return [
        h.input(
            ".input",
            said.attrs,
            {"data-search": pen.options.address, "data-type": kind},
            type="text",
            value=text,
            list=listed,
            autocomplete="off",
            placeholder=field.hints.get("placeholder") or f"Search {kind}",
        ),
        h.datalist(id=listed)[
            (h.option(value=one.value, label=one.label or None) for one in pen.options.found.get(kind, ()))
        ],
    ]


def _picked(field: Field, pen: Pen, place: Place, at: int, value: str) -> h.Node:
    label = pen.options.label_of(entity_type(field), value) or value
    return h.span(".badge.form-pick")[
        h.input(type="hidden", name=KEPT + place.pointer, value=value),
        label,
        button("remove", f"{place.pointer}/{at}", sign("✕"), f"Remove {label}", "ghost"),
    ]


register_widget("picker", EntityPicker())
register_widget("pickers", ManyPicker())
