"""Pickers: a thing of a type, found as one types; without script from a list of the first ones."""

from __future__ import annotations

from typing import Any

import htpy as h

from handrail.doors.web.forms.control_names import KEPT, MODE, VALUE, FieldLocation
from handrail.doors.web.forms.defaults import render_empty
from handrail.doors.web.forms.fields import FormField, ListField
from handrail.doors.web.forms.post import FormPost
from handrail.doors.web.forms.render import (
    FieldWrapper,
    RenderContext,
    form_button,
    hidden_input,
    icon_button,
)
from handrail.doors.web.forms.widgets.lists import TextListWidget, item_errors, list_state
from handrail.doors.web.forms.widgets.text import LineWidget


def entity_type(field: FormField) -> str:
    """The type of things to pick, or the name of the source of options."""
    items = field.schema.get("items")
    inner = items if isinstance(items, dict) else {}
    hinted = field.hints.get("entity") or field.hints.get("options")
    return str(hinted or field.schema.get("x-entity-type") or inner.get("x-entity-type") or "")


class PickerWidget(LineWidget):
    """One thing."""

    def render(self, field: FormField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        text = value if isinstance(value, str) else ""
        label = ctx.options.label_of(entity_type(field), text) if text else None
        return wrapper.frame(
            _box(field, ctx, wrapper, text),
            h.p(".form-picked")[label] if label and label != text else None,
            render_empty(field, ctx, location, value, textual=True),
        )


class MultiPickerWidget(TextListWidget):
    """Several things: those picked so far, and a box for the next."""

    def render(self, field: ListField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        picked = value if isinstance(value, list) else []
        return wrapper.frame(
            h.div(".form-picks")[
                [_picked(field, ctx, location, at, text) for at, text in enumerate(picked)],
                _box(field, ctx, wrapper, ""),
                form_button("add", location.pointer, "Add", f"Add to {field.label}"),
            ],
            hidden_input(MODE + location.pointer, list_state(value)),
            item_errors(field, ctx, location),
        )

    def added(self, post: FormPost, location: FieldLocation) -> list[str]:
        post.asked("add", location)
        return [text for text in post.texts(VALUE + location.pointer) if text]


def _box(field: FormField, ctx: RenderContext, wrapper: FieldWrapper, text: str) -> h.Node:
    type = entity_type(field)
    listed = f"{wrapper.id}:options"
    options = ctx.options.found.get(type, ())
    return [
        h.input(
            ".input",
            wrapper.attrs,
            {"data-search": ctx.options.address, "data-type": type},
            type="text",
            value=text,
            list=listed,
            autocomplete="off",
            placeholder=field.hints.get("placeholder") or f"Search {type}",
        ),
        h.datalist(id=listed)[
            (h.option(value=option.value, label=option.label or None) for option in options)
        ],
    ]


def _picked(field: FormField, ctx: RenderContext, location: FieldLocation, at: int, value: str) -> h.Node:
    label = ctx.options.label_of(entity_type(field), value) or value
    return h.span(".badge.form-pick")[
        hidden_input(KEPT + location.pointer, value),
        label,
        icon_button("remove", f"{location.pointer}/{at}", "✕", f"Remove {label}"),
    ]
