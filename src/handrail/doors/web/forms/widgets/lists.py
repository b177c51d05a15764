"""Lists: rows that can be added, removed and moved; and lists of texts, as files and picked things are."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import htpy as h

from handrail.doors.web.forms.control_names import KEPT, ROW, FieldLocation, is_single_line
from handrail.doors.web.forms.defaults import added_value, empty_meaning, render_empty
from handrail.doors.web.forms.fields import BLANK, MISSING, BlankText, FormField, ListField, ListRows
from handrail.doors.web.forms.post import FormPost
from handrail.doors.web.forms.render import (
    FieldWrapper,
    RenderContext,
    form_button,
    hidden_input,
    icon_button,
)
from handrail.doors.web.forms.widget_registry import read_field, render_field

_IS_KEY = re.compile(r"\d{1,9}\Z", re.A).match


class RowsWidget:
    """Any list."""

    def fits(self, field: ListField, value: Any) -> bool:
        if value is MISSING or value is None or isinstance(value, BlankText):
            return True
        return isinstance(value, list) and (field.item is not None or len(value) <= len(field.first))

    def render(self, field: ListField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        items = value if isinstance(value, list) else []
        first = [
            render_field(
                lazy_field(), ctx, location.item(str(at), at), items[at] if at < len(items) else MISSING
            )
            for at, lazy_field in enumerate(field.first)
        ]
        rows, button = None, None
        if field.item is not None:
            rows = _render_rows(field, field.item(), ctx, location, value)
            button = _add_button(field, field.item(), location, len(items))
        state = [] if isinstance(value, (list, BlankText)) else value
        empty = render_empty(field, ctx, location, state, extra="here")
        return wrapper.group(empty, first, rows, button, kind="form-list")

    def read(self, field: ListField, post: FormPost, location: FieldLocation) -> Any:
        items: list[Any] = [
            read_field(lazy_field(), post, location.item(str(at), at))
            for at, lazy_field in enumerate(field.first)
        ]
        while items and items[-1] is MISSING:
            items.pop()
        keys = _keys_after_button(post.texts(ROW + location.pointer), post, location) if field.item else []
        if keys:
            items += [MISSING] * (len(field.first) - len(items))
        for at, item in enumerate(items):
            if item is MISSING:
                post.needs(location.item(str(at), at))
                items[at] = BLANK
        rows = ListRows(items)
        if field.item:
            rows += [
                read_field(field.item(), post, location.item(key, at))
                for at, key in enumerate(keys, len(items))
            ]
            if post.asked("add", location):
                rows += [BLANK] * (len(field.first) - len(rows))
                rows.append(added_value(field.item()))
                keys.append(_next(keys, len(field.first)))
        rows.keys = tuple(keys)
        return rows if rows else _empty_list(field, post, location)


def _render_rows(
    field: ListField, item: FormField, ctx: RenderContext, location: FieldLocation, value: Any
) -> h.Node:
    fixed = len(field.first)
    items = value[fixed:] if isinstance(value, list) else []
    if not items:
        return None
    keys = value.keys if isinstance(value, ListRows) and len(value.keys) == len(items) else ()
    keys = keys or tuple(map(str, range(fixed, fixed + len(items))))
    noun = item.label or "entry"
    return h.ol(".form-rows")[
        [
            h.li(".form-row", id=f"{ctx.id_of(location.item(key, at))}:row")[
                hidden_input(ROW + location.pointer, key),
                _row(
                    replace(item, label=f"{noun[:1].upper()}{noun[1:]} {at + 1}"),
                    ctx,
                    location.item(key, at),
                    items[at - fixed],
                    is_first=at == fixed,
                    is_last=at == fixed + len(items) - 1,
                ),
            ]
            for at, key in enumerate(keys, fixed)
        ]
    ]


def _row(
    item: FormField, ctx: RenderContext, location: FieldLocation, value: Any, *, is_first: bool, is_last: bool
) -> h.Node:
    pointer, label = location.pointer, item.label
    return [
        h.div(".form-row-body")[render_field(item, ctx, location, value)],
        h.div(".form-row-tools")[
            None if is_first else icon_button("up", pointer, "↑", f"Move {label} up"),
            None if is_last else icon_button("down", pointer, "↓", f"Move {label} down"),
            icon_button("remove", pointer, "✕", f"Remove {label}"),
        ],
    ]


def _add_button(field: ListField, item: FormField, location: FieldLocation, count: int) -> h.Node:
    if field.most is not None and count >= field.most:
        return None
    words = f"Add {item.label or 'entry'}"
    return form_button("add", location.pointer, words, f"{words} to {field.label}" if field.label else None)


def _next(keys: list[str], start: int) -> str:
    return str(max((int(key) for key in keys if _IS_KEY(key)), default=start - 1) + 1)


def _keys_after_button(keys: list[str], post: FormPost, location: FieldLocation) -> list[str]:
    """The rows in the order that remains once a button has done its work."""
    keys = list(dict.fromkeys(keys))
    for at, key in enumerate(keys):
        inner_location = location.item(key, 0)
        if post.asked("remove", inner_location):
            return keys[:at] + keys[at + 1 :]
        if at > 0 and post.asked("up", inner_location):
            return [*keys[: at - 1], key, keys[at - 1], *keys[at + 1 :]]
        if at < len(keys) - 1 and post.asked("down", inner_location):
            return [*keys[:at], keys[at + 1], key, *keys[at + 2 :]]
    return keys


def _empty_list(field: ListField, post: FormPost, location: FieldLocation) -> Any:
    """What a list without items is: empty, null, or nothing."""
    state = post.way(location) or empty_meaning(field)
    if state == "here" or (field.row and state == "out"):
        return ListRows()
    return None if state == "null" else "" if state == "empty" else MISSING


class TextListWidget:
    """Several texts, each on one line: those that were there, and what its subclasses add to them."""

    def fits(self, field: ListField, value: Any) -> bool:
        if value is MISSING or value is None or isinstance(value, BlankText):
            return True
        return isinstance(value, list) and all(
            isinstance(text, str) and text and is_single_line(text) for text in value
        )

    def read(self, field: ListField, post: FormPost, location: FieldLocation) -> Any:
        texts = [
            text
            for at, text in enumerate(post.texts(KEPT + location.pointer))
            if not post.asked("remove", FieldLocation(f"{location.pointer}/{at}"))
        ]
        texts += self.added(post, location)
        way = post.way(location)
        if texts or way == "here" or (field.row and way != "null"):
            return ListRows(texts)
        return None if way == "null" else MISSING

    def added(self, post: FormPost, location: FieldLocation) -> list[str]:
        """The texts that came with this post."""
        raise NotImplementedError


def list_state(value: Any) -> str:
    """Left out, null or there: what a hidden field says of a list."""
    return "out" if value is MISSING else "null" if value is None else "here"


def item_errors(field: ListField, ctx: RenderContext, location: FieldLocation) -> list[h.Element]:
    """What is wrong with single entries."""
    return [h.p(".form-error")[f"{field.label} {error.reason}"] for error in ctx.below(location)]
