"""Secrets: typed, never shown again. One that is kept somewhere else stands for itself as a mask."""

from __future__ import annotations

from typing import Any

import htpy as h

from handrail.core.define.secrecy import MASK
from handrail.doors.web.forms.empty import draw_empty, read_empty
from handrail.doors.web.forms.field import MISSING, Field
from handrail.doors.web.forms.pen import Pen, Said
from handrail.doors.web.forms.place import Place
from handrail.doors.web.forms.post import Post
from handrail.doors.web.forms.registry import register_widget
from handrail.doors.web.forms.wire import MODE, SIDE


class Secret:
    """A password or a key. Left empty it stays as it is, if there is one; a box to tick removes it."""

    def fits(self, field: Field, value: Any) -> bool:
        return True  # a secret that is no text stands in no page either

    def draw(self, field: Field, pen: Pen, place: Place, value: Any) -> h.Node:
        said = Said(field, pen, place)
        kept = value == MASK
        again = not kept and value not in (MISSING, None, "")
        words = (
            "Set. Leave empty to keep it." if kept else "Type it again, it is not kept." if again else None
        )
        box = h.input(
            ".input",
            {**said.attrs, "placeholder": words or field.hints.get("placeholder")},
            type="password",
            value="",
            autocomplete="new-password",
        )
        if not kept:
            return said.frame(box, draw_empty(field, pen, place, MISSING if again else value, textual=True))
        return said.frame(
            box,
            h.input(type="hidden", name=MODE + place.pointer, value="kept"),
            h.label(".form-choice")[
                h.input(".input", type="checkbox", name=SIDE + place.pointer, value="remove"),
                h.span[f"Remove {field.label}"],
            ],
        )

    def read(self, field: Field, post: Post, place: Place) -> Any:
        text = post.value(place)
        way = post.way(place)
        if text:
            return text
        if way == "kept":
            if post.text(SIDE + place.pointer) == "remove":
                return None if field.nullable and field.required else MISSING
            post.kept.append(place.dotted)
            return MASK
        if text is None and way is None:
            return MISSING
        return read_empty(field, post, place, textual=True)


register_widget("secret", Secret())
