"""Objects: named fields in groups, those for operators apart, and further values under names of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import htpy as h

from handrail.doors.web.forms.empty import draw_empty, usual
from handrail.doors.web.forms.field import MISSING, Blank, Child, Group, ObjectField
from handrail.doors.web.forms.initial import initial
from handrail.doors.web.forms.pen import Pen, Said, button
from handrail.doors.web.forms.place import Place
from handrail.doors.web.forms.post import Post
from handrail.doors.web.forms.registry import draw_field, read_field, register_widget
from handrail.doors.web.forms.visible import told_at
from handrail.doors.web.forms.widgets.further import draw_further, read_further
from handrail.doors.web.forms.wire import MODE


class Object:
    """Named values."""

    def fits(self, field: ObjectField, value: Any) -> bool:
        if value is MISSING or isinstance(value, (dict, Blank)):
            return True
        return value is None and not field.top

    def draw(self, field: ObjectField, pen: Pen, place: Place, value: Any) -> h.Node:
        if field.top:
            return h.div(".form-fields")[_inside(field, pen, place, value if isinstance(value, dict) else {})]
        said = Said(field, pen, place)
        if value is None or (value is MISSING and field.demand):
            return said.group(
                draw_empty(field, pen, place, value),
                button("add", place.pointer, f"Add {field.label}"),
                kind="form-object form-absent",
            )
        here = isinstance(value, (dict, Blank))
        return said.group(
            h.input(type="hidden", name=MODE + place.pointer, value="here") if here else None,
            _inside(field, pen, place, value if isinstance(value, dict) else {}),
            button("remove", place.pointer, f"Remove {field.label}")
            if field.demand and not field.row
            else None,
            kind="form-object",
        )

    def read(self, field: ObjectField, post: Post, place: Place) -> Any:
        way = post.way(place)
        if not field.top:
            if post.asked("add", place):
                return initial(field, asked=True)
            if post.asked("remove", place):
                return None if field.required and field.nullable else MISSING
            if way in ("null", "empty"):
                return None if way == "null" else ""
            if way == "out" or (way is None and field.demand):
                return None if way is None and usual(field) == "null" else MISSING
        found: dict[str, Any] = {}
        for child in field.children:
            value = read_field(child.later(), post, place.child(child.step, child.name))
            if value is not MISSING:
                found[child.name] = value
        found |= read_further(field, post, place)
        return found if found or way == "here" or field.top or field.row else MISSING


def _inside(field: ObjectField, pen: Pen, place: Place, value: Mapping[str, Any]) -> h.Node:
    return [
        [_group(group, pen, place, value) for group in field.groups],
        draw_further(field, pen, place, value),
        additional_inputs(field, pen, place, value),
    ]


def _group(group: Group, pen: Pen, place: Place, value: Mapping[str, Any]) -> h.Node:
    drawn = [_child(child, pen, place, value) for child in group.children]
    if not group.title:
        return drawn
    help = h.p(".form-help")[group.help] if group.help else None
    if group.closed:
        said_inside = any(
            pen.id_of(place.child(c.step, c.name)) == id for c in group.children for id, _ in pen.found
        )
        return h.details(".form-details", open=said_inside)[h.summary[group.title], help, drawn]
    return h.fieldset(".form-group.form-section")[h.legend(".form-legend")[group.title], help, drawn]


def _child(child: Child, pen: Pen, place: Place, value: Mapping[str, Any]) -> h.Node:
    spot = place.child(child.step, child.name)
    own = value.get(child.name, MISSING)
    if child.when is None:
        return draw_field(child.later(), pen, spot, own)
    shown = (
        child.when.show(value, pen.root)
        or pen.has_errors(spot)
        or (not child.when.told and own is not MISSING)
    )
    told = told_at(child.when, place.pointer)
    return h.div({"class": "form-when", "hidden": not shown, "data-when": told})[
        draw_field(child.later(), pen, spot, own)
    ]


def additional_inputs(field: ObjectField, pen: Pen, place: Place, value: Mapping[str, Any]) -> h.Node:
    """`AdditionalInputs`: the fields for operators, folded; an embed has none of them."""
    if not field.additional:
        return None
    before = len(pen.found)
    drawn = [_child(child, pen, place, value) for child in field.additional]
    return h.details(
        {"class": ["form-details", "form-additional", field.additional_class]}, open=len(pen.found) > before
    )[h.summary[field.additional_title], drawn]


register_widget("object", Object())
