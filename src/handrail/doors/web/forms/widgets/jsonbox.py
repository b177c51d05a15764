"""The JSON box: for shapes without a control of their own, and values that another control would change."""

from __future__ import annotations

from typing import Any

import htpy as h

from handrail.core.define.jsonvalue import is_too_deep
from handrail.documents import DocumentError, parse_json
from handrail.doors.visible import exact
from handrail.doors.web.forms.empty import draw_empty, read_empty
from handrail.doors.web.forms.field import MISSING, Blank, Field, Typed
from handrail.doors.web.forms.pen import Pen, Said
from handrail.doors.web.forms.place import Place
from handrail.doors.web.forms.post import Post
from handrail.doors.web.forms.registry import register_widget
from handrail.doors.web.forms.widgets.text import text_area
from handrail.doors.web.forms.wire import MODE, as_lines
from handrail.doors.web.forms.words import in_words


class JsonBox:
    """Any value, as JSON text."""

    def fits(self, field: Field, value: Any) -> bool:
        return True

    def draw(self, field: Field, pen: Pen, place: Place, value: Any) -> h.Node:
        said = Said(field, pen, place)
        attrs = {**said.attrs, "spellcheck": "false", "placeholder": field.hints.get("placeholder")}
        inside = [in_words(error.path, error.reason) for error in pen.below(place)]
        odd = field.widget != "json"
        mode = h.input(type="hidden", name=MODE + place.pointer, value="json") if odd else None
        if value is MISSING or isinstance(value, Blank):
            text, empty = "", None if odd else draw_empty(field, pen, place, value)
        else:
            text, empty = _text(value), None
        return said.frame(
            text_area({**attrs, "class": "textarea form-json"}, text, int(field.hints.get("rows", 3))),
            mode,
            empty,
            h.p(".form-help")["Written as JSON, since the usual box cannot hold this value."]
            if odd
            else None,
            [h.p(".form-error")[sentence] for sentence in inside],
        )

    def read(self, field: Field, post: Post, place: Place) -> Any:
        text = as_lines(post.value(place) or "")
        if not text.strip():
            return MISSING if not field.row and field.widget != "json" else read_empty(field, post, place)
        try:
            found = parse_json(text, "it")
        except DocumentError as error:
            said = str(error).partition(";")[0].removeprefix("it: it ")
            post.wrong(place, f"must be JSON: it {said}. Text stands in double quotes.")
            return Typed(text)
        if is_too_deep(found):
            post.wrong(place, "is nested too deeply.")
            return Typed(text)
        return found


def _text(value: Any) -> str:
    return value if isinstance(value, Typed) else exact(value, indent=2)


register_widget("json", JsonBox())
