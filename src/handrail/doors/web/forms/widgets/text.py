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
from handrail.doors.web.forms.render import FieldWrapper, RenderContext
from handrail.doors.web.forms.widget_registry import SLOT, WidgetTemplate, register_widget
from handrail.platform.display_text import visible_json

_KEYBOARD = {"email": "email", "uri": "url", "url": "url", "phone": "tel", "idn-email": "email"}
_COMPLETE = {"email": "email", "idn-email": "email", "phone": "tel"}
_LONG_TEXT = 300


def placeholder(field: FormField) -> str | None:
    """What an empty box shows: a hint, or the value that holds when nothing is given."""
    hinted = field.hints.get("placeholder")
    if hinted is not None:
        return str(hinted)
    default = field.default
    if (
        isinstance(default, (str, int, float))
        and not isinstance(default, bool)
        and is_single_line(str(default))
    ):
        return str(default)
    return None


def text_area(attrs: dict[str, Any], text: str, rows: int) -> h.Node:
    """A box of several lines; a browser drops the first line break, so there is one to drop."""
    return h.textarea(".textarea", attrs, rows=str(rows))["\n" + text]


class TextWidget:
    """Any text that a browser hands back as it was."""

    def __init__(self, lines: bool = False) -> None:
        self._lines = lines

    def fits(self, field: FormField, value: Any) -> bool:
        return (
            value is MISSING or value is None or (isinstance(value, str) and not has_unsafe_characters(value))
        )

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
        offered = h.datalist(id=listed)[(h.option(value=one) for one in examples)] if examples else None
        return wrapper.frame(box, offered, empty)

    def read(self, field: FormField, post: FormPost, location: FieldLocation) -> Any:
        text = post.value(location)
        if text is None and post.way(location) is None:
            return MISSING
        return normalize_newlines(text) if text else read_empty(field, post, location, textual=True)


def _is_long(field: FormField) -> bool:
    if field.hints.get("widget") == "text":
        return False
    most = field.schema.get("maxLength")
    media = str(field.schema.get("contentMediaType", ""))
    return (isinstance(most, int) and most > _LONG_TEXT) or media.startswith("text/")


def _examples(field: FormField) -> list[str]:
    examples = field.schema.get("examples")
    found = examples if isinstance(examples, list) else []
    return [one for one in found if isinstance(one, str) and one and is_single_line(one)]


register_widget("text", TextWidget())
register_widget("textarea", TextWidget(lines=True))


class SecretWidget:
    """A password or a key. Left empty it stays as it is, if there is one; a box to tick removes it."""

    def fits(self, field: FormField, value: Any) -> bool:
        return True  # a secret that is no text stands in no page either

    def render(self, field: FormField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        kept = value == MASK
        again = not kept and value not in (MISSING, None, "")
        words = (
            "Set. Leave empty to keep it." if kept else "Type it again, it is not kept." if again else None
        )
        box = h.input(
            ".input",
            {**wrapper.attrs, "placeholder": words or field.hints.get("placeholder")},
            type="password",
            value="",
            autocomplete="new-password",
        )
        if not kept:
            return wrapper.frame(
                box, render_empty(field, ctx, location, MISSING if again else value, textual=True)
            )
        return wrapper.frame(
            box,
            h.input(type="hidden", name=MODE + location.pointer, value="kept"),
            h.label(".form-choice")[
                h.input(".input", type="checkbox", name=SIDE + location.pointer, value="remove"),
                h.span[f"Remove {field.label}"],
            ],
        )

    def read(self, field: FormField, post: FormPost, location: FieldLocation) -> Any:
        text = post.value(location)
        way = post.way(location)
        if text:
            return text
        if way == "kept":
            if post.text(SIDE + location.pointer) == "remove":
                return None if field.nullable and field.required else MISSING
            post.kept.append(location.dotted)
            return MASK
        if text is None and way is None:
            return MISSING
        return read_empty(field, post, location, textual=True)


register_widget("secret", SecretWidget())


class JsonWidget:
    """Any value, as JSON text."""

    def fits(self, field: FormField, value: Any) -> bool:
        return True

    def render(self, field: FormField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        said = FieldWrapper(field, ctx, location)
        attrs = {**said.attrs, "spellcheck": "false", "placeholder": field.hints.get("placeholder")}
        inside = [error_sentence(error.path, error.reason) for error in ctx.below(location)]
        odd = field.widget != "json"
        mode = h.input(type="hidden", name=MODE + location.pointer, value="json") if odd else None
        if value is MISSING or isinstance(value, BlankText):
            text, empty = "", None if odd else render_empty(field, ctx, location, value)
        else:
            text, empty = _json_text(value), None
        return said.frame(
            text_area({**attrs, "class": "textarea form-json"}, text, int(field.hints.get("rows", 3))),
            mode,
            empty,
            h.p(".form-help")["Written as JSON, since the usual box cannot hold this value."]
            if odd
            else None,
            [h.p(".form-error")[sentence] for sentence in inside],
        )

    def read(self, field: FormField, post: FormPost, location: FieldLocation) -> Any:
        text = normalize_newlines(post.value(location) or "")
        if not text.strip():
            return MISSING if not field.row and field.widget != "json" else read_empty(field, post, location)
        try:
            found = parse_json(text, "it")
        except DataFileError as error:
            said = str(error).partition(";")[0].removeprefix("it: it ")
            post.wrong(location, f"must be JSON: it {said}. Text stands in double quotes.")
            return UnreadableText(text)
        if is_too_deep(found):
            post.wrong(location, "is nested too deeply.")
            return UnreadableText(text)
        return found


def _json_text(value: Any) -> str:
    return value if isinstance(value, UnreadableText) else visible_json(value, indent=2)


register_widget("json", JsonWidget())
