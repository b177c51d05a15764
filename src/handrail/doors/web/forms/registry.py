"""The registry of widgets: which control asks for a field, and what takes over when it cannot."""

from __future__ import annotations

from typing import Any, Protocol

import htpy as h

from handrail.doors.web.forms.field import Field
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


_widgets: dict[str, Widget] = {}


def register_widget(name: str, widget: Widget) -> None:
    """Let a field whose hint says `widget: name` be asked for like this."""
    _widgets[name] = widget


def has_widget(name: str) -> bool:
    return name in _widgets


def draw_field(field: Field, pen: Pen, place: Place, value: Any) -> h.Node:
    """A field with its value; a value that its widget cannot show stands in a JSON box."""
    widget = _widgets[field.widget]
    if not widget.fits(field, value):
        widget = _widgets["json"]
    return widget.draw(field, pen, place, value)


def read_field(field: Field, post: Post, place: Place) -> Any:
    """What was filled in, or MISSING."""
    odd = post.way(place) == "json" and field.widget != "union"  # whose branch stands at the same place
    name = "json" if odd else field.widget
    return _widgets[name].read(field, post, place)
