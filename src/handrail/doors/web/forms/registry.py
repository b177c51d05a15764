"""The registry of widgets: which control asks for a field, and what takes over when it cannot."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import htpy as h
from markupsafe import Markup

from handrail.core.define.field_schema import storage_type
from handrail.doors.web.forms.field import MISSING, Field
from handrail.doors.web.forms.pen import Pen
from handrail.doors.web.forms.place import Place
from handrail.doors.web.forms.post import Post


class Widget(Protocol):
    """Draws a field and reads it back."""

    def fits(self, field: Any, value: Any) -> bool:
        """Whether the value can be drawn so that it comes back unchanged."""
        ...

    def draw(self, field: Any, pen: Pen, place: Place, value: Any) -> h.Node: ...

    def read(self, field: Any, post: Post, place: Place) -> Any:
        """The value, or MISSING."""
        ...


@runtime_checkable
class Moulded(Protocol):
    """A widget whose drawings differ in little: the rest is drawn once and kept."""

    def mould(self, field: Any, value: Any) -> Mould | None:
        """Which drawing to keep for a value, or None to draw it anew."""
        ...


class Mould(NamedTuple):
    """A drawing that can be kept: its name among those of its field, what to draw, what to fill in."""

    key: str
    value: Any
    fill: str | None = None
    """Goes where `SLOT` was drawn."""


SLOT = "\ue000\ue001\ue000"

_MOST_MOULDS = 4_000
_widgets: dict[str, Widget] = {}
_moulded: dict[str, Moulded] = {}
_own: dict[str, Widget] = {}


def register_widget(name: str, widget: Widget) -> None:
    """Let a field whose hint says `widget: name` be asked for like this."""
    _widgets[name] = widget
    _moulded.pop(name, None)
    if isinstance(widget, Moulded):
        _moulded[name] = widget


def widget_named(name: str) -> Widget:
    return _widgets[name]


def register_own(kind: str, widget: Widget | None) -> None:
    """Let fields of a storage type be asked for by a widget of somebody's own, or by the usual one again."""
    _own.pop(kind, None)
    if widget is not None:
        _own[kind] = widget


def _widget_of(field: Field) -> Widget:
    own = _own.get(storage_type(field.schema) or "") if _own else None
    return own or _widgets[field.widget]


def draw_field(field: Field, pen: Pen, place: Place, value: Any) -> h.Node:
    """A field with its value; a value that its widget cannot show stands in a JSON box."""
    pen.left -= 1
    if place.still and pen.left >= 0 and not _own and field.widget in _moulded and pen.is_quiet(place):
        mould = _moulded[field.widget].mould(field, value)
        if mould is not None:
            return _kept(field, pen, place, mould)
    widget = _widget_of(field)
    if pen.left < 0 or not widget.fits(field, value):
        widget = _widgets["json"]
    return widget.draw(field, pen, place, value)


def _kept(field: Field, pen: Pen, place: Place, mould: Mould) -> Markup:
    """A drawing from the mould of its field; htpy draws the mould, markupsafe escapes what is filled in."""
    key = (pen.id, place.pointer, mould.key)
    known = pen.moulds.get(key)
    if known is None:
        known = h.fragment[_widgets[field.widget].draw(field, pen, place, mould.value)].__html__()
        if len(pen.moulds) >= _MOST_MOULDS:
            pen.moulds.clear()
        pen.moulds[key] = known
    return known if mould.fill is None else known.replace(SLOT, mould.fill)


def read_field(field: Field, post: Post, place: Place) -> Any:
    """What was filled in, or MISSING."""
    if place.pointer and place.pointer not in post.places and not field.row:
        return MISSING  # nothing of it was there
    widget = _widgets["json"] if post.way(place) == "json" else _widget_of(field)
    return widget.read(field, post, place)
