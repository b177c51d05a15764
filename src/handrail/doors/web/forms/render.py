"""RenderContext: what rendering a form knows, the wrapper around a field, the summary of errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import htpy as h
from markupsafe import Markup

from handrail.core.define.call import FieldError
from handrail.doors.web.forms.control_names import DO, VALUE, FieldLocation
from handrail.doors.web.forms.errors import error_sentence
from handrail.doors.web.forms.fields import FormField, ToolFormMode
from handrail.doors.web.forms.options import PickerOptions

_REQUIRED_MARK = Markup('<span class="form-star" aria-hidden="true">*</span>')

_MAX_FIELDS = 2_000
"""More stand in JSON boxes: a schema can be small and its form endless."""

TemplateCache = dict[tuple[str, str, str], Markup]
"""What a form has drawn before and can use again."""


class RenderContext:
    """One drawing."""

    __slots__ = ("_errors", "fields_left", "id", "mode", "options", "root", "shown_errors", "templates")

    def __init__(
        self,
        id: str,
        errors: Iterable[FieldError],
        options: PickerOptions,
        mode: ToolFormMode,
        root: Any,
        templates: TemplateCache,
    ) -> None:
        self.templates = templates
        self.fields_left = _MAX_FIELDS
        self.id = id
        self.options = options
        self.mode = mode
        self.root = root
        self._errors: dict[str, list[FieldError]] = {}
        for error in errors:
            self._errors.setdefault(error.path, []).append(error)
        self.shown_errors: list[tuple[str, str]] = []
        """What stands at fields: the id of the control and the sentence."""

    def id_of(self, location: FieldLocation) -> str:
        return self.id + location.pointer

    def is_quiet(self, location: FieldLocation) -> bool:
        """Whether nothing is to be said at a place."""
        return not self._errors or location.dotted not in self._errors

    def take(self, field: FormField, location: FieldLocation) -> list[str]:
        """The sentences that belong to a place; nobody else shows them."""
        errors = self._errors.pop(location.dotted, None) if self._errors else None
        if errors is None:
            return []
        sentences = (error_sentence(field.label or "This", error.reason) for error in errors)
        unique = list(dict.fromkeys(sentences))
        self.shown_errors += [(self.id_of(location), sentence) for sentence in unique]
        return unique

    def loose(self) -> list[FieldError]:
        """The errors that no field has shown."""
        return [error for errors in self._errors.values() for error in errors]

    def below(self, location: FieldLocation) -> list[FieldError]:
        """Take the errors about parts of a place whose parts are not drawn."""
        start = f"{location.dotted}." if location.dotted else ""
        paths = [path for path in self._errors if path.startswith(start) and path != location.dotted]
        return [error for path in paths for error in self._errors.pop(path)]

    def has_errors(self, location: FieldLocation) -> bool:
        """Whether something is wrong at a place or within it."""
        start = f"{location.dotted}."
        return any(path == location.dotted or path.startswith(start) for path in self._errors)


class FieldWrapper:
    """What stands around one control: help and errors, and the attributes that bind them to it."""

    __slots__ = ("attrs", "errors", "field", "id")

    def __init__(
        self, field: FormField, ctx: RenderContext, location: FieldLocation, silent: bool = False
    ) -> None:
        self.field = field
        self.id = ctx.id_of(location)
        self.errors = [] if silent else ctx.take(field, location)
        described = [f"{self.id}:help"] if field.help else []
        attrs: dict[str, Any] = {"id": self.id, "name": VALUE + location.pointer}
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
        attrs = {key: value for key, value in self.attrs.items() if key in ("id", "aria-describedby")}
        return {**attrs, "tabindex": "-1"} if self.errors else attrs

    def help(self) -> h.Node:
        return h.p(".form-help", id=f"{self.id}:help")[self.field.help] if self.field.help else None

    def error(self) -> h.Node:
        if not self.errors:
            return None
        if len(self.errors) == 1:
            return h.p(".form-error", id=f"{self.id}:error")[self.errors[0]]
        return h.ul(".form-error", id=f"{self.id}:error")[(h.li[sentence] for sentence in self.errors)]

    def title(self) -> h.Node:
        """The label's words, with a star where the value must be given."""
        field = self.field
        unit = field.hints.get("unit")
        label = field.label or "Value"
        words = f"{label} ({unit})" if unit else label
        return [words, _REQUIRED_MARK] if field.required else words

    def frame(self, control: h.Node, *more: h.Node) -> h.Node:
        """A label, a control, and what is said about it."""
        field = self.field
        shown = "form-field" if not field.row else "form-field form-in-row"
        own = field.hints.get("class")
        return self.box(f"{shown} {own}" if own else shown, self.label(), control, more)

    def label(self) -> h.Node:
        return h.label(".form-label", for_=self.id)[self.title()]

    def box(self, kind: str, *content: h.Node) -> h.Node:
        """Content in a box of its own, and what is said about it."""
        return h.div({"class": kind, "data-invalid": "true" if self.errors else None})[
            content, self.help(), self.error()
        ]

    def group(self, *content: h.Node, kind: str = "") -> h.Node:
        """A legend, controls, and what is said about them."""
        own = self.field.hints.get("class")
        names = " ".join(filter(None, ["form-group", kind, own]))
        return h.fieldset(self.group_attrs, class_=names)[
            h.legend(".form-legend")[self.title()], self.help(), self.error(), content
        ]


def hidden_input(name: str, value: str) -> h.Node:
    return h.input(type="hidden", name=name, value=value)


def select_box(attrs: Mapping[str, Any], options: Iterable[tuple[str, str, bool]], kind: str = "") -> h.Node:
    """A box with options: of each what is sent, what a person reads, and whether it is chosen."""
    return h.select(f".select{kind}", attrs)[
        (h.option(value=value, selected=is_chosen)[label] for value, label, is_chosen in options)
    ]


def icon_button(verb: str, pointer: str, mark: str, label: str) -> h.Node:
    """A button with a mark for the eye alone; its label says it in words."""
    return form_button(verb, pointer, h.span(aria_hidden="true")[mark], label, "ghost")


def form_button(
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


def error_summary(ctx: RenderContext, root: FormField) -> h.Node:
    """What is wrong, with a link to each field; nothing if nothing is."""
    loose = [error_sentence(error.path or root.label or "The input", error.reason) for error in ctx.loose()]
    at_fields = [(id, sentence) for id, sentence in ctx.shown_errors if id != ctx.id]
    loose += [sentence for id, sentence in ctx.shown_errors if id == ctx.id]
    if not loose and len(at_fields) < 2:
        return None
    several = len(at_fields) + len(loose) > 1
    return h.div(".form-summary", role="alert", id=f"{ctx.id}:summary")[
        h.h2["Some answers need another look" if several else "One answer needs another look"],
        h.ul[
            [h.li[sentence] for sentence in loose],
            [h.li[h.a(href=f"#{id}")[sentence]] for id, sentence in at_fields],
        ],
    ]
