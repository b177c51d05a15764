"""Pickers: a thing of a type, found as one types; without script from a list of the first ones."""

from __future__ import annotations

from typing import Any

import htpy as h

from handrail.doors.web.forms.control_names import KEPT, MODE, VALUE, FieldLocation, is_single_line
from handrail.doors.web.forms.defaults import read_empty, render_empty
from handrail.doors.web.forms.fields import MISSING, FormField, ListField, ListRows
from handrail.doors.web.forms.post import FormPost
from handrail.doors.web.forms.render import FieldWrapper, RenderContext, decorative, form_button
from handrail.doors.web.forms.widget_registry import register_widget
from handrail.doors.web.forms.widgets.lists import fits_texts, item_errors, list_state


def entity_type(field: FormField) -> str:
    """The type of things to pick, or the name of the source of options."""
    items = field.schema.get("items")
    inner = items if isinstance(items, dict) else {}
    found = field.hints.get("entity") or field.hints.get("options")
    return str(found or field.schema.get("x-entity-type") or inner.get("x-entity-type") or "")


class PickerWidget:
    """One thing."""

    def fits(self, field: FormField, value: Any) -> bool:
        return value is MISSING or value is None or (isinstance(value, str) and is_single_line(value))

    def render(self, field: FormField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        text = value if isinstance(value, str) else ""
        label = ctx.options.label_of(entity_type(field), text) if text else None
        return wrapper.frame(
            _box(field, ctx, wrapper, text),
            h.p(".form-picked")[label] if label and label != text else None,
            render_empty(field, ctx, location, value, textual=True),
        )

    def read(self, field: FormField, post: FormPost, location: FieldLocation) -> Any:
        text = post.value(location)
        if text is None and post.way(location) is None:
            return MISSING
        return text or read_empty(field, post, location, textual=True)


class MultiPickerWidget:
    """Several things: those picked so far, and a box for the next."""

    def fits(self, field: ListField, value: Any) -> bool:
        return fits_texts(value)

    def render(self, field: ListField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        state = list_state(value)
        picked = value if isinstance(value, list) else []
        inner = item_errors(field, ctx, location)
        return wrapper.frame(
            h.div(".form-picks")[
                (_picked(field, ctx, location, at, one) for at, one in enumerate(picked)),
                _box(field, ctx, wrapper, ""),
                form_button("add", location.pointer, "Add", f"Add to {field.label}"),
            ],
            h.input(type="hidden", name=MODE + location.pointer, value=state),
            inner,
        )

    def read(self, field: ListField, post: FormPost, location: FieldLocation) -> Any:
        kept = post.texts(KEPT + location.pointer)
        found = [
            one
            for at, one in enumerate(kept)
            if not post.asked("remove", FieldLocation(f"{location.pointer}/{at}"))
        ]
        found += [text for text in post.texts(VALUE + location.pointer) if text]
        post.asked("add", location)
        way = post.way(location)
        if found or way == "here" or (field.row and way != "null"):
            return ListRows(found)
        return None if way == "null" else MISSING


def _box(field: FormField, ctx: RenderContext, wrapper: FieldWrapper, text: str) -> h.Node:
    kind = entity_type(field)
    listed = f"{wrapper.id}:options"
    return [
        h.input(
            ".input",
            wrapper.attrs,
            {"data-search": ctx.options.address, "data-type": kind},
            type="text",
            value=text,
            list=listed,
            autocomplete="off",
            placeholder=field.hints.get("placeholder") or f"Search {kind}",
        ),
        h.datalist(id=listed)[
            (h.option(value=one.value, label=one.label or None) for one in ctx.options.found.get(kind, ()))
        ],
    ]


def _picked(field: FormField, ctx: RenderContext, location: FieldLocation, at: int, value: str) -> h.Node:
    label = ctx.options.label_of(entity_type(field), value) or value
    return h.span(".badge.form-pick")[
        h.input(type="hidden", name=KEPT + location.pointer, value=value),
        label,
        form_button("remove", f"{location.pointer}/{at}", decorative("✕"), f"Remove {label}", "ghost"),
    ]


register_widget("picker", PickerWidget())
register_widget("pickers", MultiPickerWidget())
