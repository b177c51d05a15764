"""Files and images: sent as data URLs with their names; an address on the web will do where one is taken."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

import htpy as h

from handrail.doors.web.forms.empty import draw_empty, read_empty
from handrail.doors.web.forms.field import MISSING, Field, ListField, Rows
from handrail.doors.web.forms.pen import Pen, Said, button, sign
from handrail.doors.web.forms.place import Place
from handrail.doors.web.forms.post import Post
from handrail.doors.web.forms.registry import register_widget
from handrail.doors.web.forms.widgets.several import fits_texts, state_of, wrong_below
from handrail.doors.web.forms.wire import KEPT, MODE, SIDE, VALUE, one_line

_DATA = re.compile(r"data:(?P<kind>[^;,]*)(?P<params>(?:;[^;,]*)*),(?P<data>.*)", re.S)


def described(value: str) -> str:
    """A file in words: its name, kind and size; an address as it is."""
    found = _DATA.match(value)
    if not found:
        return value
    params = dict(part.partition("=")[::2] for part in found["params"].split(";") if part)
    size = len(found["data"]) * 3 // 4 if "base64" in params else len(found["data"])
    shown = f"{size / 1024:.0f} kB" if size >= 1024 else f"{size} bytes"
    return f"{unquote(params.get('name', '')) or 'File'} ({found['kind'] or 'text/plain'}, {shown})"


class Media:
    """`ImageDropzoneUploader`: one file, dropped, chosen or named by its address."""

    def __init__(self, image: bool = False) -> None:
        self._image = image

    def fits(self, field: Field, value: Any) -> bool:
        return value is MISSING or value is None or (isinstance(value, str) and one_line(value))

    def draw(self, field: Field, pen: Pen, place: Place, value: Any) -> h.Node:
        said = Said(field, pen, place)
        kept = _kept(field, place, 0, value) if isinstance(value, str) and value else None
        empty = draw_empty(field, pen, place, value, textual=True)
        return _dropzone(field, said, place, self._image, False, kept, empty)

    def read(self, field: Field, post: Post, place: Place) -> Any:
        files = post.uploads(VALUE + place.pointer)
        if files:
            return files[-1].to_data_url()
        address = post.text(SIDE + place.pointer)
        if address:
            return address
        kept = post.text(KEPT + place.pointer)
        removed = post.asked("remove", Place(f"{place.pointer}/0"))
        if kept and not removed:
            return kept
        if not removed and address is None and post.way(place) is None and not field.row:
            return MISSING
        return read_empty(field, post, place, textual=True)


class ManyMedia:
    """Several files."""

    def __init__(self, image: bool = False) -> None:
        self._image = image

    def fits(self, field: ListField, value: Any) -> bool:
        return fits_texts(value)

    def draw(self, field: ListField, pen: Pen, place: Place, value: Any) -> h.Node:
        said = Said(field, pen, place)
        state = state_of(value)
        files = value if isinstance(value, list) else []
        kept = [_kept(field, place, at, one) for at, one in enumerate(files)]
        mode = h.input(type="hidden", name=MODE + place.pointer, value=state)
        inner = wrong_below(field, pen, place)
        return _dropzone(field, said, place, self._image, True, kept, mode, inner)

    def read(self, field: ListField, post: Post, place: Place) -> Any:
        kept = post.texts(KEPT + place.pointer)
        found = [
            one for at, one in enumerate(kept) if not post.asked("remove", Place(f"{place.pointer}/{at}"))
        ]
        found += [file.to_data_url() for file in post.uploads(VALUE + place.pointer)]
        found += [address for address in post.texts(SIDE + place.pointer) if address]
        way = post.way(place)
        if found or way == "here" or (field.row and way != "null"):
            return Rows(found)
        return None if way == "null" else MISSING


def _kept(field: Field, place: Place, at: int, value: str) -> h.Node:
    return h.div(".form-file")[
        h.input(type="hidden", name=KEPT + place.pointer, value=value),
        h.span[described(value)],
        button("remove", f"{place.pointer}/{at}", sign("✕"), f"Remove {described(value)[:80]}", "ghost"),
    ]


def _dropzone(
    field: Field, said: Said, place: Place, image: bool, many: bool, kept: h.Node, *more: h.Node
) -> h.Node:
    compact = bool(field.hints.get("compact"))
    by_hand = not compact and not field.hints.get("hide_manual_url") and _takes_address(field)
    accept = field.hints.get("accept") or ("image/*" if image else None)
    attrs = {key: value for key, value in said.attrs.items() if key != "readonly"}
    return h.div({"class": "form-field", "data-invalid": "true" if said.errors else None})[
        h.label(".form-label", for_=said.id)[said.title()],
        kept,
        h.div({"class": "form-drop form-compact" if compact else "form-drop", "data-drop": True})[
            h.input(".input", attrs, type="file", accept=accept, multiple=many),
            None if compact else h.p(".form-help")["Drop a file here, or choose one."],
        ],
        h.input(
            ".input",
            type="text",
            inputmode="url",
            name=SIDE + place.pointer,
            value="",
            placeholder="https://",
            aria_label=f"{field.label}: address",
        )
        if by_hand
        else None,
        more,
        said.help(),
        said.error(),
    ]


def _takes_address(field: Field) -> bool:
    """Whether the schema takes an address on the web and not a file alone."""
    schema = field.schema
    items = schema.get("items")
    inner = items if isinstance(items, dict) else schema
    return inner.get("format") != "data-url" and not str(inner.get("pattern", "")).startswith("^data:")


register_widget("file", Media())
register_widget("image", Media(image=True))
register_widget("files", ManyMedia())
register_widget("images", ManyMedia(image=True))
