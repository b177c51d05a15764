"""Rows: a list whose items can be added, removed and moved; some may have a place of their own."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import htpy as h

from handrail.doors.web.forms.empty import draw_empty, usual
from handrail.doors.web.forms.field import BLANK, MISSING, Blank, Field, ListField, Rows
from handrail.doors.web.forms.initial import initial
from handrail.doors.web.forms.pen import Pen, Said, button, sign
from handrail.doors.web.forms.place import Place
from handrail.doors.web.forms.post import Post
from handrail.doors.web.forms.registry import draw_field, read_field, register_widget
from handrail.doors.web.forms.wire import ROW

_IS_KEY = re.compile(r"\d{1,9}\Z", re.A).match


class RowsWidget:
    """Any list."""

    def fits(self, field: ListField, value: Any) -> bool:
        if value is MISSING or value is None or isinstance(value, Blank):
            return True
        return isinstance(value, list) and (field.item is not None or len(value) <= len(field.first))

    def draw(self, field: ListField, pen: Pen, place: Place, value: Any) -> h.Node:
        said = Said(field, pen, place)
        items = value if isinstance(value, list) else []
        fixed = len(field.first)
        state = [] if isinstance(value, (list, Blank)) else value
        more = items[fixed:]
        keys = _keys(value, len(more), fixed)
        full = field.most is not None and len(items) >= field.most
        noun = _noun(field)
        return said.group(
            draw_empty(field, pen, place, state, extra="here"),
            [
                draw_field(later(), pen, place.item(str(at), at), items[at] if at < len(items) else MISSING)
                for at, later in enumerate(field.first)
            ],
            h.ol(".form-rows")[
                [
                    _row(field, pen, place, key, fixed + at, item, len(more) + fixed)
                    for at, (key, item) in enumerate(zip(keys, more, strict=True))
                ]
            ]
            if more
            else None,
            button(
                "add", place.pointer, f"Add {noun}", f"Add {noun} to {field.label}" if field.label else None
            )
            if field.item and not full
            else None,
            kind="form-list",
        )

    def read(self, field: ListField, post: Post, place: Place) -> Any:
        found: list[Any] = [
            read_field(later(), post, place.item(str(at), at)) for at, later in enumerate(field.first)
        ]
        while found and found[-1] is MISSING:
            found.pop()
        keys = _moved(post.texts(ROW + place.pointer), post, place) if field.item else []
        if keys:
            found += [MISSING] * (len(field.first) - len(found))
        for at, item in enumerate(found):
            if item is MISSING:
                post.needs(field.first[at](), place.item(str(at), at))
                found[at] = BLANK
        rows = Rows(found)
        if field.item:
            start = len(found)
            rows += [
                read_field(field.item(), post, place.item(key, start + at)) for at, key in enumerate(keys)
            ]
            if post.asked("add", place):
                while len(rows) < len(field.first):
                    rows.append(BLANK)
                rows.append(_fresh(field.item()))
                keys.append(_next(keys, len(field.first)))
        rows.keys = tuple(keys)
        return rows if rows else _nothing(field, post, place)


def _row(field: ListField, pen: Pen, place: Place, key: str, at: int, item: Any, count: int) -> h.Node:
    assert field.item is not None
    spot = place.item(key, at)
    noun = _noun(field)
    label = f"{noun[:1].upper()}{noun[1:]} {at + 1}"
    first = len(field.first)
    return h.li(".form-row", id=f"{pen.id_of(spot)}:row")[
        h.input(type="hidden", name=ROW + place.pointer, value=key),
        h.div(".form-row-body")[draw_field(_named(field.item(), label), pen, spot, item)],
        h.div(".form-row-tools")[
            button("up", spot.pointer, sign("↑"), f"Move {label} up", "ghost") if at > first else None,
            button("down", spot.pointer, sign("↓"), f"Move {label} down", "ghost")
            if at < count - 1
            else None,
            button("remove", spot.pointer, sign("✕"), f"Remove {label}", "ghost"),
        ],
    ]


def _named(item: Field, label: str) -> Field:
    """The field of an item, under the name of its row."""
    return replace(item, label=label)


def _noun(field: ListField) -> str:
    item = field.item() if field.item else None
    return (item.label if item else "") or "entry"


def _keys(value: Any, count: int, start: int) -> tuple[str, ...]:
    kept = value.keys if isinstance(value, Rows) else ()
    return kept if len(kept) == count else tuple(map(str, range(start, start + count)))


def _next(keys: list[str], start: int) -> str:
    return str(max((int(key) for key in keys if _IS_KEY(key)), default=start - 1) + 1)


def _moved(keys: list[str], post: Post, place: Place) -> list[str]:
    """The rows in the order that is left once a button has done its work."""
    keys = list(dict.fromkeys(keys))
    for at, key in enumerate(keys):
        spot = place.item(key, 0)
        if post.asked("remove", spot):
            return keys[:at] + keys[at + 1 :]
        if at > 0 and post.asked("up", spot):
            return [*keys[: at - 1], key, keys[at - 1], *keys[at + 1 :]]
        if at < len(keys) - 1 and post.asked("down", spot):
            return [*keys[:at], keys[at + 1], key, *keys[at + 2 :]]
    return keys


def _fresh(item: Field) -> Any:
    value = initial(item, asked=True)
    return BLANK if value is MISSING else value


def _nothing(field: ListField, post: Post, place: Place) -> Any:
    """What a list without items is: empty, null, or nothing."""
    state = post.way(place) or usual(field)
    if state == "here" or (field.row and state == "out"):
        return Rows()
    return None if state == "null" else "" if state == "empty" else MISSING


register_widget("rows", RowsWidget())
