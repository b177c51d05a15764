"""Text on one line or several, secrets, and JSON for what no other control can hold."""

from __future__ import annotations

from typing import Any

import htpy as h

from handrail.core.define.json_values import is_too_deep
from handrail.core.define.redaction import MASK
from handrail.data_files import DataFileError, parse_json
from handrail.doors.web.forms.control_names import (
    MODE,
    SIDE,
    FieldLocation,
    has_unsafe_characters,
    is_single_line,
    normalize_newlines,
)
from handrail.doors.web.forms.defaults import read_empty, render_empty
from handrail.doors.web.forms.errors import error_sentence
from handrail.doors.web.forms.fields import MISSING, BlankText, FormField, UnreadableText
from handrail.doors.web.forms.post import FormPost
from handrail.doors.web.forms.render import FieldWrapper, RenderContext, hidden_input
from handrail.doors.web.forms.widget_registry import SLOT, WidgetTemplate
from handrail.platform.display_text import visible_json

_KEYBOARD = {"email": "email", "uri": "url", "url": "url", "phone": "tel", "idn-email": "email"}
_COMPLETE = {"email": "email", "idn-email": "email", "phone": "tel"}
_LONG_TEXT = 300


def placeholder(field: FormField) -> str | None:
    """What an empty box shows: a hint, or the value that holds when nothing is given."""
    hinted, default = field.hints.get("placeholder"), field.default
    if hinted is not None:
        return str(hinted)
    is_plain = isinstance(default, (str, int, float)) and not isinstance(default, bool)
    return str(default) if is_plain and is_single_line(str(default)) else None


def text_area(attrs: dict[str, Any], text: str, rows: int) -> h.Node:
    """A box of several lines; a browser drops the first line break, so there is one to drop."""
    return h.textarea(".textarea", attrs, rows=str(rows))["\n" + text]


def fits_line(value: Any) -> bool:
    return value is MISSING or value is None or (isinstance(value, str) and is_single_line(value))


class LineWidget:
    """A value on one line of text, or none; its subclasses say how it is drawn and what the text means."""

    def fits(self, field: FormField, value: Any) -> bool:
        return fits_line(value)

    def read(self, field: FormField, post: FormPost, location: FieldLocation) -> Any:
        if text := post.value(location):
            return self.parse(text, post, location)
        return MISSING if post.is_absent(location) else read_empty(field, post, location, textual=True)

    def parse(self, text: str, post: FormPost, location: FieldLocation) -> str:
        return text


class TextWidget(LineWidget):
    """Any text that a browser hands back as it was."""

    def __init__(self, lines: bool = False) -> None:
        self._lines = lines

    def fits(self, field: FormField, value: Any) -> bool:
        is_safe = isinstance(value, str) and not has_unsafe_characters(value)
        return value is MISSING or value is None or is_safe

    def template(self, field: FormField, value: Any) -> WidgetTemplate | None:
        if value is MISSING or value is None:
            return WidgetTemplate("out" if value is MISSING else "null", value)
        if not isinstance(value, str):
            return None
        if self._lines or not value or not is_single_line(value) or SLOT in value or _is_long(field):
            return None
        return WidgetTemplate("line", SLOT, value)

    def render(self, field: FormField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        text = value if isinstance(value, str) else ""
        empty = render_empty(field, ctx, location, value, textual=True)
        attrs = {**wrapper.attrs, "placeholder": placeholder(field)}
        if self._lines or "\n" in text or _is_long(field):
            return wrapper.frame(text_area(attrs, text, int(field.hints.get("rows", 4))), empty)
        form = str(field.schema.get("format", ""))
        examples = _examples(field)
        listed = f"{wrapper.id}:examples" if examples else None
        box = h.input(
            ".input",
            attrs,
            type="text",
            value=text,
            inputmode=_KEYBOARD.get(form),
            autocomplete=_COMPLETE.get(form, "off"),
            list=listed,
        )
        offered = h.datalist(id=listed)[(h.option(value=text) for text in examples)] if examples else None
        return wrapper.frame(box, offered, empty)

    def parse(self, text: str, post: FormPost, location: FieldLocation) -> str:
        return normalize_newlines(text)


def _is_long(field: FormField) -> bool:
    if field.hints.get("widget") == "text":
        return False
    most = field.schema.get("maxLength")
    media = str(field.schema.get("contentMediaType", ""))
    return (isinstance(most, int) and most > _LONG_TEXT) or media.startswith("text/")


def _examples(field: FormField) -> list[str]:
    examples = field.schema.get("examples")
    return [
        text
        for text in (examples if isinstance(examples, list) else ())
        if isinstance(text, str) and text and is_single_line(text)
    ]


class SecretWidget(LineWidget):
    """A password or a key. Left empty it stays as it is, if there is one; a box to tick removes it."""

    def fits(self, field: FormField, value: Any) -> bool:
        return True  # a secret that is no text stands in no page either

    def render(self, field: FormField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        is_set = value == MASK
        was_typed = not is_set and value not in (MISSING, None, "")
        hint = field.hints.get("placeholder")
        if is_set or was_typed:
            hint = "Set. Leave empty to keep it." if is_set else "Type it again, it is not kept."
        attrs = {**wrapper.attrs, "placeholder": hint}
        box = h.input(".input", attrs, type="password", value="", autocomplete="new-password")
        if not is_set:
            value = MISSING if was_typed else value
            return wrapper.frame(box, render_empty(field, ctx, location, value, textual=True))
        return wrapper.frame(
            box,
            hidden_input(MODE + location.pointer, "kept"),
            h.label(".form-choice")[
                h.input(".input", type="checkbox", name=SIDE + location.pointer, value="remove"),
                h.span[f"Remove {field.label}"],
            ],
        )

    def read(self, field: FormField, post: FormPost, location: FieldLocation) -> Any:
        if post.value(location) or post.way(location) != "kept":
            return super().read(field, post, location)
        if post.text(SIDE + location.pointer) == "remove":
            return None if field.nullable and field.required else MISSING
        post.kept.append(location.dotted)
        return MASK


class JsonWidget:
    """Any value, as JSON text."""

    def fits(self, field: FormField, value: Any) -> bool:
        return True

    def render(self, field: FormField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        attrs = {
            **wrapper.attrs,
            "spellcheck": "false",
            "placeholder": field.hints.get("placeholder"),
            "class": "textarea form-json",
        }
        is_empty = value is MISSING or isinstance(value, BlankText)
        text = "" if is_empty else _json_text(value)
        box = text_area(attrs, text, int(field.hints.get("rows", 3)))
        inside = [
            h.p(".form-error")[error_sentence(error.path, error.reason)] for error in ctx.below(location)
        ]
        if field.widget == "json":
            return wrapper.frame(box, render_empty(field, ctx, location, value) if is_empty else None, inside)
        return wrapper.frame(
            box,
            hidden_input(MODE + location.pointer, "json"),
            h.p(".form-help")["Written as JSON, since the usual box cannot hold this value."],
            inside,
        )

    def read(self, field: FormField, post: FormPost, location: FieldLocation) -> Any:
        text = normalize_newlines(post.value(location) or "")
        if not text.strip():
            return MISSING if not field.row and field.widget != "json" else read_empty(field, post, location)
        try:
            value = parse_json(text, "it")
        except DataFileError as error:
            problem = str(error).partition(";")[0].removeprefix("it: it ")
            post.wrong(location, f"must be JSON: it {problem}. Text stands in double quotes.")
            return UnreadableText(text)
        if is_too_deep(value):
            post.wrong(location, "is nested too deeply.")
            return UnreadableText(text)
        return value


def _json_text(value: Any) -> str:
    return value if isinstance(value, UnreadableText) else visible_json(value, indent=2)
