"""Components for field definitions: by kind, the widget that asks and the display that shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import quote, urlsplit

import htpy as h

from handrail.core.define.call import FieldError
from handrail.core.define.schema import digest_of
from handrail.core.present.fields import (
    STORAGE_TYPES,
    FieldDefinition,
    StorageType,
    fields_form,
    fields_schema,
)
from handrail.doors.web.forms.compiler import label_from_name
from handrail.doors.web.forms.fields import MISSING, ToolFormMode
from handrail.doors.web.forms.form import Form, compile_form
from handrail.doors.web.forms.options import PickerOptions
from handrail.doors.web.forms.widget_registry import Widget, register_kind_widget, widget_named
from handrail.doors.web.forms.widgets.media import file_description
from handrail.platform.display_text import visible_json

Show = Callable[[FieldDefinition, Any], h.Node]
"""How a value inside another is shown."""

Display = Callable[[FieldDefinition, Any, Show], h.Node]
"""(definition, value that is there, show) -> what a person sees of it."""
_HIDDEN = "••••••"


def label_of(field: FieldDefinition) -> str:
    return field.label or label_from_name(field.name)


def plain_text(value: Any) -> str:
    return value if isinstance(value, str) else visible_json(value)


def display_fields(fields: tuple[FieldDefinition, ...], value: Mapping[str, Any], show: Show) -> h.Node:
    """Names with values; further values stand last."""
    names = {field.name for field in fields}
    further = [FieldDefinition(name=name, type="text") for name in value if name not in names]
    return h.dl(".form-shown")[
        [
            h.div[h.dt[label_of(field)], h.dd[show(field, value.get(field.name))]]
            for field in (*fields, *further)
        ]
    ]


def display_text(field: FieldDefinition, value: Any, show: Show) -> h.Node:
    if field.variant == "secret":
        return _HIDDEN
    kind = "form-shown-lines" if field.variant in ("lines", "markdown") else "form-shown-text"
    return h.span({"class": kind})[plain_text(value)]


def display_number(field: FieldDefinition, value: Any, show: Show) -> h.Node:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return plain_text(value)
    shown = f"{value:,}".replace(",", " ") if abs(value) < 1e15 else repr(value)
    return h.span(".form-number")[f"{shown} %" if field.variant == "percent" else shown]


def display_boolean(field: FieldDefinition, value: Any, show: Show) -> h.Node:
    return {True: "Yes", False: "No"}[value] if isinstance(value, bool) else plain_text(value)


def display_date(field: FieldDefinition, value: Any, show: Show) -> h.Node:
    return h.time(datetime=plain_text(value))[plain_text(value).replace("T", " ", 1)]


def display_enum(field: FieldDefinition, value: Any, show: Show) -> h.Node:
    label = next((option.label for option in field.options if option.value == value), "")
    words = label or plain_text(value)
    return h.span(".badge")[words] if field.variant == "badge" else words


def display_url(field: FieldDefinition, value: Any, show: Show) -> h.Node:
    address = plain_text(value)
    if not _is_web_url(address):
        return address
    look = (
        {"class": "btn", "data-variant": "outline"} if field.variant == "button" else {"class": "form-link"}
    )
    return h.a(look, href=address, rel="noopener noreferrer nofollow")[address]


def _is_web_url(address: str) -> bool:
    try:
        return urlsplit(address).scheme in ("http", "https")
    except ValueError:
        return False


def display_email(field: FieldDefinition, value: Any, show: Show) -> h.Node:
    return h.a(href=f"mailto:{quote(plain_text(value), safe='@')}")[plain_text(value)]


def display_phone(field: FieldDefinition, value: Any, show: Show) -> h.Node:
    digits = "".join(sign for sign in plain_text(value) if sign.isdigit() or sign == "+")
    return h.a(href=f"tel:{digits}")[plain_text(value)] if digits else plain_text(value)


def display_media(field: FieldDefinition, value: Any, show: Show) -> h.Node:
    address = plain_text(value)
    if not _is_web_url(address):
        return file_description(address)
    return h.a(href=address, rel="noopener noreferrer")[address]


def display_relation(field: FieldDefinition, value: Any, show: Show) -> h.Node:
    return h.span(".form-relation", title=field.target)[plain_text(value)]


def display_object(field: FieldDefinition, value: Any, show: Show) -> h.Node:
    if not isinstance(value, Mapping) or field.variant == "json" or not field.fields:
        return h.code[visible_json(value)]
    return display_fields(field.fields, value, show)


def display_array(field: FieldDefinition, value: Any, show: Show) -> h.Node:
    items = field.items
    if not isinstance(value, list) or items is None:
        return h.code[visible_json(value)]
    if not value:
        return h.span(".form-help")["None"]
    if field.variant == "tags":
        return h.span(".form-picks")[(h.span(".badge")[show(items, part)] for part in value)]
    return h.ul(".form-shown-list")[(h.li[show(items, part)] for part in value)]


Slot = Literal["field-input", "field-display"]

DEFAULTS: Mapping[StorageType, tuple[str, Display]] = {
    "text": ("text", display_text),
    "number": ("number", display_number),
    "boolean": ("boolean", display_boolean),
    "date": ("date", display_date),
    "enum": ("choice", display_enum),
    "url": ("text", display_url),
    "email": ("text", display_email),
    "phone": ("text", display_phone),
    "media": ("file", display_media),
    "relation": ("picker", display_relation),
    "object": ("object", display_object),
    "array": ("rows", display_array),
}
"""By kind: the name of the widget that asks, and the display that shows."""
_components: dict[tuple[Slot, StorageType], Any] = {}


def register_input(kind: StorageType, widget: Widget) -> None:
    """Ask for every field of a kind by a widget of your own."""
    _components["field-input", _checked_kind(kind)] = widget
    register_kind_widget(kind, widget if widget is not widget_named(DEFAULTS[kind][0]) else None)


def register_display(kind: StorageType, display: Display) -> None:
    """Show every field of a kind by a display of your own."""
    _components["field-display", _checked_kind(kind)] = display


def _checked_kind(kind: StorageType) -> StorageType:
    if kind not in STORAGE_TYPES:
        raise ValueError(f"There is no kind of field {kind!r}; there are {', '.join(STORAGE_TYPES)}")
    return kind


def bootstrap_field_registry() -> Mapping[tuple[Slot, StorageType], Any]:
    """Register the default components: for each of the twelve kinds one to ask and one to show."""
    for kind, (widget, display) in DEFAULTS.items():
        register_input(kind, widget_named(widget))
        register_display(kind, display)
    return dict(_components)


def component_of(slot: Slot, kind: StorageType) -> Any:
    return _components[slot, kind]


def display_of(field: FieldDefinition, value: Any) -> h.Node:
    """A value as its field shows it; what is not there is said to be so."""
    if value is None or value == "":
        return h.span(".form-help")["Not given"]
    display: Display = component_of("field-display", field.type)
    return display(field, value, display_of)


def definitions_form(fields: Iterable[FieldDefinition], mode: ToolFormMode = "internal") -> Form:
    """The form that asks for fields; the same fields have the same form."""
    listed = tuple(fields)
    return _compiled_form(_FieldsKey(listed), mode)


class _FieldsKey:
    """Fields that are compared by what they say."""

    def __init__(self, fields: tuple[FieldDefinition, ...]) -> None:
        self.fields = fields
        self.key = digest_of([field.to_dict() for field in fields])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _FieldsKey) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=512)
def _compiled_form(listed: _FieldsKey, mode: ToolFormMode) -> Form:
    return compile_form(fields_schema(listed.fields), fields_form(listed.fields), mode=mode)


def field_definition_form(
    fields: Iterable[FieldDefinition],
    value: Any = MISSING,
    errors: Iterable[FieldError] = (),
    *,
    id: str = "f",
    options: PickerOptions | None = None,
) -> h.Node:
    """`FieldDefinitionForm`: any list of fields, to be filled in."""
    return definitions_form(fields).render(value, errors, id=id, options=options)


def field_definition_display(fields: Iterable[FieldDefinition], value: Mapping[str, Any]) -> h.Node:
    """`FieldDefinitionDisplay`: any list of fields with their values, to be read."""
    return display_fields(tuple(fields), value, display_of)


bootstrap_field_registry()
