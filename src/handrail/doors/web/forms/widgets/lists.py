"""Lists: rows that can be added, removed and moved; and what lists of files and of picked things share."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import htpy as h

from handrail.doors.web.forms.control_names import ROW, FieldLocation, is_single_line
from handrail.doors.web.forms.defaults import empty_meaning, initial_value, render_empty
from handrail.doors.web.forms.fields import BLANK, MISSING, BlankText, FormField, ListField, ListRows
from handrail.doors.web.forms.post import FormPost
from handrail.doors.web.forms.render import FieldWrapper, RenderContext, decorative, form_button
from handrail.doors.web.forms.widget_registry import read_field, register_widget, render_field

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
        fixed = len(field.first)
        state = [] if isinstance(value, (list, BlankText)) else value
        more = items[fixed:]
        keys = _keys(value, len(more), fixed)
        full = field.most is not None and len(items) >= field.most
        noun = _noun(field)
        return wrapper.group(
            render_empty(field, ctx, location, state, extra="here"),
            [
                render_field(
                    lazy_field(), ctx, location.item(str(at), at), items[at] if at < len(items) else MISSING
                )
                for at, lazy_field in enumerate(field.first)
            ],
            h.ol(".form-rows")[
                [
                    _row(field, ctx, location, key, fixed + at, item, len(more) + fixed)
                    for at, (key, item) in enumerate(zip(keys, more, strict=True))
                ]
            ]
            if more
            else None,
            form_button(
                "add",
                location.pointer,
                f"Add {noun}",
                f"Add {noun} to {field.label}" if field.label else None,
            )
            if field.item and not full
            else None,
            kind="form-list",
        )

    def read(self, field: ListField, post: FormPost, location: FieldLocation) -> Any:
        found: list[Any] = [
            read_field(lazy_field(), post, location.item(str(at), at))
            for at, lazy_field in enumerate(field.first)
        ]
        while found and found[-1] is MISSING:
            found.pop()
        keys = _keys_after_button(post.texts(ROW + location.pointer), post, location) if field.item else []
        if keys:
            found += [MISSING] * (len(field.first) - len(found))
        for at, item in enumerate(found):
            if item is MISSING:
                post.needs(field.first[at](), location.item(str(at), at))
                found[at] = BLANK
        rows = ListRows(found)
        if field.item:
            start = len(found)
            rows += [
                read_field(field.item(), post, location.item(key, start + at)) for at, key in enumerate(keys)
            ]
            if post.asked("add", location):
                while len(rows) < len(field.first):
                    rows.append(BLANK)
                rows.append(_new_item(field.item()))
                keys.append(_next(keys, len(field.first)))
        rows.keys = tuple(keys)
        return rows if rows else _empty_list(field, post, location)


def _row(
    field: ListField, ctx: RenderContext, location: FieldLocation, key: str, at: int, item: Any, count: int
) -> h.Node:
    assert field.item is not None
    inner_location = location.item(key, at)
    noun = _noun(field)
    label = f"{noun[:1].upper()}{noun[1:]} {at + 1}"
    first = len(field.first)
    return h.li(".form-row", id=f"{ctx.id_of(inner_location)}:row")[
        h.input(type="hidden", name=ROW + location.pointer, value=key),
        h.div(".form-row-body")[render_field(_with_label(field.item(), label), ctx, inner_location, item)],
        h.div(".form-row-tools")[
            form_button("up", inner_location.pointer, decorative("↑"), f"Move {label} up", "ghost")
            if at > first
            else None,
            form_button("down", inner_location.pointer, decorative("↓"), f"Move {label} down", "ghost")
            if at < count - 1
            else None,
            form_button("remove", inner_location.pointer, decorative("✕"), f"Remove {label}", "ghost"),
        ],
    ]


def _with_label(item: FormField, label: str) -> FormField:
    """The field of an item, under the name of its row."""
    return replace(item, label=label)


def _noun(field: ListField) -> str:
    item = field.item() if field.item else None
    return (item.label if item else "") or "entry"


def _keys(value: Any, count: int, start: int) -> tuple[str, ...]:
    kept = value.keys if isinstance(value, ListRows) else ()
    return kept if len(kept) == count else tuple(map(str, range(start, start + count)))


def _next(keys: list[str], start: int) -> str:
    return str(max((int(key) for key in keys if _IS_KEY(key)), default=start - 1) + 1)


def _keys_after_button(keys: list[str], post: FormPost, location: FieldLocation) -> list[str]:
    """The rows in the order that is left once a button has done its work."""
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


def _new_item(item: FormField) -> Any:
    value = initial_value(item, asked=True)
    return BLANK if value is MISSING else value


def _empty_list(field: ListField, post: FormPost, location: FieldLocation) -> Any:
    """What a list without items is: empty, null, or nothing."""
    state = post.way(location) or empty_meaning(field)
    if state == "here" or (field.row and state == "out"):
        return ListRows()
    return None if state == "null" else "" if state == "empty" else MISSING


register_widget("rows", RowsWidget())


def fits_texts(value: Any) -> bool:
    """Whether a value is a list of texts that each stand on one line, or none at all."""
    if value is MISSING or value is None or isinstance(value, BlankText):
        return True
    return isinstance(value, list) and all(
        isinstance(one, str) and one and is_single_line(one) for one in value
    )


def list_state(value: Any) -> str:
    """Left out, null or there: what a hidden field says of a list."""
    return "out" if value is MISSING else "null" if value is None else "here"


def item_errors(field: ListField, ctx: RenderContext, location: FieldLocation) -> list[h.Element]:
    """What is wrong with single entries."""
    return [h.p(".form-error")[f"{field.label} {error.reason}"] for error in ctx.below(location)]
