"""The pen: what drawing a form knows while it draws, and the frame around every field."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import htpy as h
from markupsafe import Markup

from handrail.core.define.call import FieldError
from handrail.doors.web.forms.field import Field, ToolFormMode
from handrail.doors.web.forms.options import Options
from handrail.doors.web.forms.place import Place
from handrail.doors.web.forms.wire import DO, VALUE
from handrail.doors.web.forms.words import in_words

_STAR = Markup('<span class="form-star" aria-hidden="true">*</span>')


_MOST_FIELDS = 2_000
"""More stand in JSON boxes: a schema can be small and its form endless."""

Moulds = dict[tuple[str, str, str], Markup]
"""What a form has drawn before and can use again."""


class Pen:
    """One drawing."""

    __slots__ = ("_errors", "found", "id", "left", "mode", "moulds", "options", "root")

    def __init__(
        self,
        id: str,
        errors: Iterable[FieldError],
        options: Options,
        mode: ToolFormMode,
        root: Any,
        moulds: Moulds,
    ) -> None:
        self.moulds = moulds
        self.left = _MOST_FIELDS
        self.id = id
        self.options = options
        self.mode = mode
        self.root = root
        self._errors: dict[str, list[FieldError]] = {}
        for error in errors:
            self._errors.setdefault(error.path, []).append(error)
        self.found: list[tuple[str, str]] = []
        """What was said at fields: the id of the control and the sentence."""

    def id_of(self, place: Place) -> str:
        return self.id + place.pointer

    def is_quiet(self, place: Place) -> bool:
        """Whether nothing is to be said at a place."""
        return not self._errors or place.dotted not in self._errors

    def take(self, field: Field, place: Place) -> list[str]:
        """The sentences that belong to a place; nobody else shows them."""
        if not self._errors:
            return []
        errors = self._errors.pop(place.dotted, None)
        if errors is None:
            return []
        said = list(dict.fromkeys(in_words(field.label or "This", error.reason) for error in errors))
        self.found += [(self.id_of(place), sentence) for sentence in said]
        return said

    def loose(self) -> list[FieldError]:
        """The errors that no field has shown."""
        return [error for errors in self._errors.values() for error in errors]

    def below(self, place: Place) -> list[FieldError]:
        """Take the errors about parts of a place whose parts are not drawn."""
        start = f"{place.dotted}." if place.dotted else ""
        paths = [path for path in self._errors if path.startswith(start) and path != place.dotted]
        return [error for path in paths for error in self._errors.pop(path)]

    def has_errors(self, place: Place) -> bool:
        """Whether something is wrong at a place or within it."""
        start = f"{place.dotted}."
        return any(path == place.dotted or path.startswith(start) for path in self._errors)


class Said:
    """What stands around one control: help and errors, and the attributes that bind them to it."""

    __slots__ = ("attrs", "errors", "field", "id")

    def __init__(self, field: Field, pen: Pen, place: Place, silent: bool = False) -> None:
        self.field = field
        self.id = pen.id_of(place)
        self.errors = [] if silent else pen.take(field, place)
        described = [f"{self.id}:help"] if field.help else []
        attrs: dict[str, Any] = {"id": self.id, "name": VALUE + place.pointer}
        if self.errors:
            described.append(f"{self.id}:error")
            attrs["aria-invalid"] = "true"
        if described:
            attrs["aria-describedby"] = " ".join(described)
        if field.required or field.row:
            attrs["aria-required"] = "true"
        if field.readonly:
            attrs["readonly"] = True
        self.attrs = attrs

    @property
    def group_attrs(self) -> dict[str, Any]:
        """The attributes for a fieldset: it has no name of its own, and no state that only boxes have."""
        kept = {key: value for key, value in self.attrs.items() if key in ("id", "aria-describedby")}
        return {**kept, "tabindex": "-1"} if self.errors else kept

    def help(self) -> h.Node:
        return h.p(".form-help", id=f"{self.id}:help")[self.field.help] if self.field.help else None

    def error(self) -> h.Node:
        if not self.errors:
            return None
        if len(self.errors) == 1:
            return h.p(".form-error", id=f"{self.id}:error")[self.errors[0]]
        return h.ul(".form-error", id=f"{self.id}:error")[(h.li[one] for one in self.errors)]

    def title(self) -> h.Node:
        """The label's words, with a star where the value must be given."""
        field = self.field
        unit = field.hints.get("unit")
        label = field.label or "Value"
        words = f"{label} ({unit})" if unit else label
        return [words, _STAR] if field.required else words

    def frame(self, control: h.Node, *more: h.Node) -> h.Node:
        """A label, a control, and what is said about it."""
        field = self.field
        shown = "form-field" if not field.row else "form-field form-in-row"
        own = field.hints.get("class")
        return h.div(
            {"class": f"{shown} {own}" if own else shown, "data-invalid": "true" if self.errors else None}
        )[
            h.label(".form-label", for_=self.id)[self.title()],
            control,
            more,
            self.help(),
            self.error(),
        ]

    def group(self, *content: h.Node, kind: str = "") -> h.Node:
        """A legend, controls, and what is said about them."""
        own = self.field.hints.get("class")
        names = " ".join(filter(None, ["form-group", kind, own]))
        return h.fieldset(self.group_attrs, class_=names)[
            h.legend(".form-legend")[self.title()],
            self.help(),
            self.error(),
            content,
        ]


def sign(mark: str) -> h.Node:
    """A mark for the eye alone; the button's label says it in words."""
    return h.span(aria_hidden="true")[mark]


def button(
    verb: str, pointer: str, words: h.Node, label: str | None = None, variant: str = "outline"
) -> h.Node:
    """A button that changes the form; the server does it, with or without a script."""
    return h.button(
        {"class": "btn form-do", "data-variant": variant, "data-size": "sm"},
        type="submit",
        name=DO,
        value=f"{verb}:{pointer}",
        formnovalidate=True,
        aria_label=label,
    )[words]
