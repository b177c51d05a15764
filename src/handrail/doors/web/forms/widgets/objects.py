"""Objects: named fields in groups, fields for operators, and additional values under free names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, count
from typing import Any

import htpy as h

from handrail.doors.web.forms.conditions import condition_for_script
from handrail.doors.web.forms.control_names import KEY, MODE, ROW, FieldLocation, decode_value, encode_value
from handrail.doors.web.forms.defaults import added_value, empty_meaning, initial_value, render_empty
from handrail.doors.web.forms.fields import BLANK, MISSING, BlankText, FieldGroup, ObjectField, ObjectProperty
from handrail.doors.web.forms.post import FormPost
from handrail.doors.web.forms.render import (
    FieldWrapper,
    RenderContext,
    form_button,
    hidden_input,
    icon_button,
)
from handrail.doors.web.forms.widget_registry import read_field, render_field


def render_additional_values(
    field: ObjectField, ctx: RenderContext, location: FieldLocation, value: Mapping[str, Any]
) -> h.Node:
    """A row for each value that has no field, and a way to add one where the schema allows it."""
    names = [name for name in value if name not in field.names]
    if not names and not field.grows:
        return None
    rows = [
        _additional_row(field, ctx, location, str(at), name, value[name]) for at, name in enumerate(names)
    ]
    label = f"Add a value to {field.label}" if field.label else None
    button = form_button("add", f"{location.pointer}/~k", "Add a value", label) if field.grows else None
    return h.div(".form-further")[rows, button]


def _additional_row(
    field: ObjectField, ctx: RenderContext, location: FieldLocation, key: str, name: str, value: Any
) -> h.Node:
    inner_location = location.further(key, name)
    id = f"{ctx.id_of(inner_location)}:name"
    return h.div(".form-row", id=f"{ctx.id_of(inner_location)}:row")[
        hidden_input(ROW + location.pointer, key),
        h.div(".form-field.form-key")[
            h.label(".form-label", for_=id)["Name"],
            h.input(
                ".input",
                type="text",
                id=id,
                name=KEY + inner_location.pointer,
                value=encode_value(name),
                autocomplete="off",
            ),
        ],
        h.div(".form-row-body")[
            render_field(replace(field.rest(name), label=name or "Value"), ctx, inner_location, value)
        ],
        h.div(".form-row-tools")[icon_button("remove", inner_location.pointer, "✕", f"Remove {name}")],
    ]


def read_additional_values(field: ObjectField, post: FormPost, location: FieldLocation) -> dict[str, Any]:
    """The values of the rows, by the names typed there. A name that is taken loses no value."""
    values: dict[str, Any] = {}
    for key in dict.fromkeys(post.texts(ROW + location.pointer)):
        bare = location.further(key, "")
        if post.asked("remove", bare):
            continue
        typed = post.text(KEY + bare.pointer) or ""
        decoded = decode_value(typed)
        name = decoded if isinstance(decoded, str) else typed
        if name in field.hidden:
            continue
        free = _free_name(name, values, field)
        inner_location = location.further(key, free)
        value = read_field(field.rest(name), post, inner_location)
        if free != name:
            post.wrong(inner_location, f"cannot be called {name}: there is one already")
        values[free] = BLANK if value is MISSING else value
    if field.grows and post.asked("add", FieldLocation(f"{location.pointer}/~k")):
        values[_free_name("name", values, field)] = added_value(field.rest(""))
    return values


def _free_name(name: str, taken: Mapping[str, Any], field: ObjectField) -> str:
    """The name, or the first with a number behind it that is not taken."""
    spellings = chain([name], (f"{name} {number}" for number in count(2)))
    return next(text for text in spellings if text not in taken and text not in field.names)


class ObjectWidget:
    """Named values."""

    def fits(self, field: ObjectField, value: Any) -> bool:
        if value is MISSING or isinstance(value, (dict, BlankText)):
            return True
        return value is None and not field.top

    def render(self, field: ObjectField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        values = value if isinstance(value, dict) else {}
        if field.top:
            return h.div(".form-fields")[_inside(field, ctx, location, values)]
        wrapper = FieldWrapper(field, ctx, location)
        if value is None or (value is MISSING and field.demand):
            return wrapper.group(
                render_empty(field, ctx, location, value),
                form_button("add", location.pointer, f"Add {field.label}"),
                kind="form-object form-absent",
            )
        is_there = isinstance(value, (dict, BlankText))
        mode = hidden_input(MODE + location.pointer, "here") if is_there else None
        inside = _inside(field, ctx, location, values)
        can_go = field.demand and not field.row
        button = form_button("remove", location.pointer, f"Remove {field.label}") if can_go else None
        return wrapper.group(mode, inside, button, kind="form-object")

    def read(self, field: ObjectField, post: FormPost, location: FieldLocation) -> Any:
        way = post.way(location)
        if not field.top:
            if post.asked("add", location):
                return initial_value(field, asked=True)
            if post.asked("remove", location):
                return None if field.required and field.nullable else MISSING
            if way in ("null", "empty"):
                return None if way == "null" else ""
            if way == "out" or (way is None and field.demand):
                return None if way is None and empty_meaning(field) == "null" else MISSING
        read = {
            child.name: read_field(child.lazy_field(), post, location.child(child.step, child.name))
            for child in field.children
        }
        values = {name: value for name, value in read.items() if value is not MISSING}
        values |= read_additional_values(field, post, location)
        return values if values or way == "here" or field.top or field.row else MISSING


def _inside(
    field: ObjectField, ctx: RenderContext, location: FieldLocation, value: Mapping[str, Any]
) -> h.Node:
    return [
        [_group(group, ctx, location, value) for group in field.groups],
        render_additional_values(field, ctx, location, value),
        additional_inputs(field, ctx, location, value),
    ]


def _group(
    group: FieldGroup, ctx: RenderContext, location: FieldLocation, value: Mapping[str, Any]
) -> h.Node:
    drawn = [_child(child, ctx, location, value) for child in group.children]
    if not group.title:
        return drawn
    help = h.p(".form-help")[group.help] if group.help else None
    if group.closed:
        ids = {ctx.id_of(location.child(child.step, child.name)) for child in group.children}
        has_errors = any(id in ids for id, _ in ctx.shown_errors)
        return h.details(".form-details", open=has_errors)[h.summary[group.title], help, drawn]
    return h.fieldset(".form-group.form-section")[h.legend(".form-legend")[group.title], help, drawn]


def _child(
    child: ObjectProperty, ctx: RenderContext, location: FieldLocation, value: Mapping[str, Any]
) -> h.Node:
    inner_location = location.child(child.step, child.name)
    own = value.get(child.name, MISSING)
    if child.when is None:
        return render_field(child.lazy_field(), ctx, inner_location, own)
    shown = (
        child.when.show(value, ctx.root)
        or ctx.has_errors(inner_location)
        or (not child.when.terms and own is not MISSING)
    )
    condition = condition_for_script(child.when, location.pointer)
    return h.div({"class": "form-when", "hidden": not shown, "data-when": condition})[
        render_field(child.lazy_field(), ctx, inner_location, own)
    ]


def additional_inputs(
    field: ObjectField, ctx: RenderContext, location: FieldLocation, value: Mapping[str, Any]
) -> h.Node:
    """`AdditionalInputs`: the fields for operators, folded; an embed has none of them."""
    if not field.additional:
        return None
    before = len(ctx.shown_errors)
    drawn = [_child(child, ctx, location, value) for child in field.additional]
    kinds = ["form-details", "form-additional", field.additional_class]
    return h.details({"class": kinds}, open=len(ctx.shown_errors) > before)[
        h.summary[field.additional_title], drawn
    ]
