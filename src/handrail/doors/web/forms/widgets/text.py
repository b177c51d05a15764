"""Text: one line, or several where the value or a hint wants them."""

from __future__ import annotations

from typing import Any

import htpy as h

from handrail.doors.web.forms.empty import draw_empty, read_empty
from handrail.doors.web.forms.field import MISSING, Field
from handrail.doors.web.forms.pen import Pen, Said
from handrail.doors.web.forms.place import Place
from handrail.doors.web.forms.post import Post
from handrail.doors.web.forms.registry import SLOT, Mould, register_widget
from handrail.doors.web.forms.wire import as_lines, is_awkward, one_line

_KEYBOARD = {"email": "email", "uri": "url", "url": "url", "phone": "tel", "idn-email": "email"}
_COMPLETE = {"email": "email", "idn-email": "email", "phone": "tel"}
_LONG = 300


def placeholder(field: Field) -> str | None:
    """What an empty box shows: a hint, or the value that holds when nothing is given."""
    hinted = field.hints.get("placeholder")
    if hinted is not None:
        return str(hinted)
    default = field.default
    if isinstance(default, (str, int, float)) and not isinstance(default, bool) and one_line(str(default)):
        return str(default)
    return None


def text_area(attrs: dict[str, Any], text: str, rows: int) -> h.Node:
    """A box of several lines; a browser drops the first line break, so there is one to drop."""
    return h.textarea(".textarea", attrs, rows=str(rows))["\n" + text]


class Text:
    """Any text that a browser hands back as it was."""

    def __init__(self, lines: bool = False) -> None:
        self._lines = lines

    def fits(self, field: Field, value: Any) -> bool:
        return value is MISSING or value is None or (isinstance(value, str) and not is_awkward(value))

    def mould(self, field: Field, value: Any) -> Mould | None:
        if value is MISSING or value is None:
            return Mould("out" if value is MISSING else "null", value)
        if not isinstance(value, str):
            return None
        if self._lines or not value or not one_line(value) or SLOT in value or _is_long(field):
            return None
        return Mould("line", SLOT, value)

    def draw(self, field: Field, pen: Pen, place: Place, value: Any) -> h.Node:
        said = Said(field, pen, place)
        text = value if isinstance(value, str) else ""
        empty = draw_empty(field, pen, place, value, textual=True)
        attrs = {**said.attrs, "placeholder": placeholder(field)}
        if self._lines or "\n" in text or _is_long(field):
            return said.frame(text_area(attrs, text, int(field.hints.get("rows", 4))), empty)
        form = str(field.schema.get("format", ""))
        examples = _examples(field)
        listed = f"{said.id}:examples" if examples else None
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
        return said.frame(box, offered, empty)

    def read(self, field: Field, post: Post, place: Place) -> Any:
        text = post.value(place)
        if text is None and post.way(place) is None:
            return MISSING
        return as_lines(text) if text else read_empty(field, post, place, textual=True)


def _is_long(field: Field) -> bool:
    if field.hints.get("widget") == "text":
        return False
    most = field.schema.get("maxLength")
    media = str(field.schema.get("contentMediaType", ""))
    return (isinstance(most, int) and most > _LONG) or media.startswith("text/")


def _examples(field: Field) -> list[str]:
    examples = field.schema.get("examples")
    found = examples if isinstance(examples, list) else []
    return [one for one in found if isinstance(one, str) and one and one_line(one)]


register_widget("text", Text())
register_widget("textarea", Text(lines=True))
