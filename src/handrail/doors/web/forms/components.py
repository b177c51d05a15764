"""Components for fields: by slot and kind, the widget that asks for a value and the display that shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Literal

import htpy as h

from handrail.core.define.call import FieldError
from handrail.core.define.field_schema import fields_form, fields_schema
from handrail.core.define.fields import STORAGE_TYPES, FieldDefinition, StorageType
from handrail.core.define.schema import digest_of
from handrail.doors.web.forms.display import DISPLAYS, Display, pairs
from handrail.doors.web.forms.field import MISSING, ToolFormMode
from handrail.doors.web.forms.form import Form, compile_form
from handrail.doors.web.forms.options import Options
from handrail.doors.web.forms.registry import Widget, register_own, widget_named

Slot = Literal["field-input", "field-display"]
_INPUTS: Mapping[StorageType, str] = {
    "text": "text",
    "number": "number",
    "boolean": "boolean",
    "date": "date",
    "enum": "choice",
    "url": "text",
    "email": "text",
    "phone": "text",
    "media": "file",
    "relation": "picker",
    "object": "object",
    "array": "rows",
}
_components: dict[tuple[Slot, StorageType], Any] = {}


def register_input(kind: StorageType, widget: Widget) -> None:
    """Ask for every field of a kind by a widget of your own."""
    _components["field-input", _known(kind)] = widget
    register_own(kind, widget if widget is not widget_named(_INPUTS[kind]) else None)


def register_display(kind: StorageType, display: Display) -> None:
    """Show every field of a kind by a display of your own."""
    _components["field-display", _known(kind)] = display


def _known(kind: StorageType) -> StorageType:
    if kind not in STORAGE_TYPES:
        raise ValueError(f"There is no kind of field {kind!r}; there are {', '.join(STORAGE_TYPES)}")
    return kind


def bootstrap_field_registry() -> Mapping[tuple[Slot, StorageType], Any]:
    """Register the default components: for each of the twelve kinds one to ask and one to show."""
    for kind in STORAGE_TYPES:
        register_input(kind, widget_named(_INPUTS[kind]))
        register_display(kind, DISPLAYS[kind])
    return dict(_components)


def component_of(slot: Slot, kind: StorageType) -> Any:
    return _components[slot, kind]


def display_of(one: FieldDefinition, value: Any) -> h.Node:
    """A value as its field shows it; what is not there is said to be so."""
    if value is None or value == "":
        return h.span(".form-help")["Not given"]
    display: Display = component_of("field-display", one.type)
    return display(one, value, display_of)


def definitions_form(fields: Iterable[FieldDefinition], mode: ToolFormMode = "internal") -> Form:
    """The form that asks for fields; the same fields have the same form."""
    listed = tuple(fields)
    return _form(_Listed(listed), mode)


class _Listed:
    """Fields that are compared by what they say."""

    def __init__(self, fields: tuple[FieldDefinition, ...]) -> None:
        self.fields = fields
        self.key = digest_of([one.to_dict() for one in fields])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Listed) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=512)
def _form(listed: _Listed, mode: ToolFormMode) -> Form:
    return compile_form(fields_schema(listed.fields), fields_form(listed.fields), mode=mode)


def field_definition_form(
    fields: Iterable[FieldDefinition],
    value: Any = MISSING,
    errors: Iterable[FieldError] = (),
    *,
    id: str = "f",
    options: Options | None = None,
) -> h.Node:
    """`FieldDefinitionForm`: any list of fields, to be filled in."""
    return definitions_form(fields).draw(value, errors, id=id, options=options)


def field_definition_display(fields: Iterable[FieldDefinition], value: Mapping[str, Any]) -> h.Node:
    """`FieldDefinitionDisplay`: any list of fields with their values, to be read."""
    return pairs(tuple(fields), value, display_of)


bootstrap_field_registry()
