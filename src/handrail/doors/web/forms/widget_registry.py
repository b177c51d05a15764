"""The registry of widgets: which control asks for a field, and what takes over when it cannot."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import htpy as h
from markupsafe import Markup

from handrail.core.present.fields import storage_type
from handrail.doors.web.forms.control_names import FieldLocation
from handrail.doors.web.forms.fields import MISSING, FormField
from handrail.doors.web.forms.post import FormPost
from handrail.doors.web.forms.render import RenderContext


class Widget(Protocol):
    """Draws a field and reads it back."""

    def fits(self, field: Any, value: Any) -> bool:
        """Whether the value can be drawn so that it comes back unchanged."""
        ...

    def render(self, field: Any, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node: ...

    def read(self, field: Any, post: FormPost, location: FieldLocation) -> Any:
        """The value, or MISSING."""
        ...


@runtime_checkable
class HasTemplate(Protocol):
    """A widget whose drawings differ in little: the rest is drawn once and kept."""

    def template(self, field: Any, value: Any) -> WidgetTemplate | None:
        """Which drawing to keep for a value, or None to draw it anew."""
        ...


class WidgetTemplate(NamedTuple):
    """A drawing that can be kept: its name among those of its field, what to draw, what to fill in."""

    key: str
    value: Any
    fill: str | None = None
    """Goes where `SLOT` was drawn."""


SLOT = "\ue000\ue001\ue000"

_MAX_TEMPLATES = 4_000
_widgets: dict[str, Widget] = {}
_templated: dict[str, HasTemplate] = {}
_widgets_by_kind: dict[str, Widget] = {}


def register_widget(name: str, widget: Widget) -> None:
    """Let a field whose hint says `widget: name` be asked for like this."""
    _widgets[name] = widget
    _templated.pop(name, None)
    if isinstance(widget, HasTemplate):
        _templated[name] = widget


def widget_named(name: str) -> Widget:
    return _widgets[name]


def register_kind_widget(kind: str, widget: Widget | None) -> None:
    """Let fields of a storage type be asked for by a widget of somebody's own, or by the usual one again."""
    _widgets_by_kind.pop(kind, None)
    if widget is not None:
        _widgets_by_kind[kind] = widget


def _widget_of(field: FormField) -> Widget:
    own = _widgets_by_kind.get(storage_type(field.schema) or "") if _widgets_by_kind else None
    return own or _widgets[field.widget]


def render_field(field: FormField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
    """A field with its value; a value that its widget cannot show stands in a JSON box."""
    ctx.fields_left -= 1
    if (
        location.still
        and ctx.fields_left >= 0
        and not _widgets_by_kind
        and field.widget in _templated
        and ctx.is_quiet(location)
    ):
        template = _templated[field.widget].template(field, value)
        if template is not None:
            return _from_template(field, ctx, location, template)
    widget = _widget_of(field)
    if ctx.fields_left < 0 or not widget.fits(field, value):
        widget = _widgets["json"]
    return widget.render(field, ctx, location, value)


def _from_template(
    field: FormField, ctx: RenderContext, location: FieldLocation, template: WidgetTemplate
) -> Markup:
    """A field from its template; htpy draws the template, markupsafe escapes what is filled in."""
    key = (ctx.id, location.pointer, template.key)
    markup = ctx.templates.get(key)
    if markup is None:
        markup = h.fragment[_widgets[field.widget].render(field, ctx, location, template.value)].__html__()
        if len(ctx.templates) >= _MAX_TEMPLATES:
            ctx.templates.clear()
        ctx.templates[key] = markup
    return markup if template.fill is None else markup.replace(SLOT, template.fill)


def read_field(field: FormField, post: FormPost, location: FieldLocation) -> Any:
    """What was filled in, or MISSING."""
    if location.pointer and location.pointer not in post.places and not field.row:
        return MISSING  # nothing of it was there
    widget = _widgets["json"] if post.way(location) == "json" else _widget_of(field)
    return widget.read(field, post, location)
