"""Files and images: sent as data URLs with their names; an address on the web will do where one is taken."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

import htpy as h

from handrail.doors.web.forms.control_names import KEPT, MODE, SIDE, VALUE, FieldLocation, is_single_line
from handrail.doors.web.forms.defaults import read_empty, render_empty
from handrail.doors.web.forms.fields import MISSING, FormField, ListField, ListRows
from handrail.doors.web.forms.post import FormPost
from handrail.doors.web.forms.render import FieldWrapper, RenderContext, decorative, form_button
from handrail.doors.web.forms.widget_registry import register_widget
from handrail.doors.web.forms.widgets.lists import fits_texts, item_errors, list_state

_DATA = re.compile(r"data:(?P<kind>[^;,]*)(?P<params>(?:;[^;,]*)*),(?P<data>.*)", re.S)


def file_description(value: str) -> str:
    """A file in words: its name, kind and size; an address as it is."""
    found = _DATA.match(value)
    if not found:
        return value
    params = dict(part.partition("=")[::2] for part in found["params"].split(";") if part)
    size = len(found["data"]) * 3 // 4 if "base64" in params else len(found["data"])
    shown = f"{size / 1024:.0f} kB" if size >= 1024 else f"{size} bytes"
    return f"{unquote(params.get('name', '')) or 'File'} ({found['kind'] or 'text/plain'}, {shown})"


class FileWidget:
    """`ImageDropzoneUploader`: one file, dropped, chosen or named by its address."""

    def __init__(self, image: bool = False) -> None:
        self._image = image

    def fits(self, field: FormField, value: Any) -> bool:
        return value is MISSING or value is None or (isinstance(value, str) and is_single_line(value))

    def render(self, field: FormField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        kept = _kept_file(field, location, 0, value) if isinstance(value, str) and value else None
        empty = render_empty(field, ctx, location, value, textual=True)
        return _dropzone(field, wrapper, location, self._image, False, kept, empty)

    def read(self, field: FormField, post: FormPost, location: FieldLocation) -> Any:
        files = post.uploads(VALUE + location.pointer)
        if files:
            return files[-1].to_data_url()
        address = post.text(SIDE + location.pointer)
        if address:
            return address
        kept = post.text(KEPT + location.pointer)
        removed = post.asked("remove", FieldLocation(f"{location.pointer}/0"))
        if kept and not removed:
            return kept
        if not removed and address is None and post.way(location) is None and not field.row:
            return MISSING
        return read_empty(field, post, location, textual=True)


class FilesWidget:
    """Several files."""

    def __init__(self, image: bool = False) -> None:
        self._image = image

    def fits(self, field: ListField, value: Any) -> bool:
        return fits_texts(value)

    def render(self, field: ListField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        state = list_state(value)
        files = value if isinstance(value, list) else []
        kept = [_kept_file(field, location, at, one) for at, one in enumerate(files)]
        mode = h.input(type="hidden", name=MODE + location.pointer, value=state)
        inner = item_errors(field, ctx, location)
        return _dropzone(field, wrapper, location, self._image, True, kept, mode, inner)

    def read(self, field: ListField, post: FormPost, location: FieldLocation) -> Any:
        kept = post.texts(KEPT + location.pointer)
        found = [
            one
            for at, one in enumerate(kept)
            if not post.asked("remove", FieldLocation(f"{location.pointer}/{at}"))
        ]
        found += [file.to_data_url() for file in post.uploads(VALUE + location.pointer)]
        found += [address for address in post.texts(SIDE + location.pointer) if address]
        way = post.way(location)
        if found or way == "here" or (field.row and way != "null"):
            return ListRows(found)
        return None if way == "null" else MISSING


def _kept_file(field: FormField, location: FieldLocation, at: int, value: str) -> h.Node:
    return h.div(".form-file")[
        h.input(type="hidden", name=KEPT + location.pointer, value=value),
        h.span[file_description(value)],
        form_button(
            "remove",
            f"{location.pointer}/{at}",
            decorative("✕"),
            f"Remove {file_description(value)[:80]}",
            "ghost",
        ),
    ]


def _dropzone(
    field: FormField,
    wrapper: FieldWrapper,
    location: FieldLocation,
    image: bool,
    many: bool,
    kept: h.Node,
    *more: h.Node,
) -> h.Node:
    compact = bool(field.hints.get("compact"))
    by_hand = not compact and not field.hints.get("hide_manual_url") and _takes_address(field)
    accept = field.hints.get("accept") or ("image/*" if image else None)
    attrs = {key: value for key, value in wrapper.attrs.items() if key != "readonly"}
    return h.div({"class": "form-field", "data-invalid": "true" if wrapper.errors else None})[
        h.label(".form-label", for_=wrapper.id)[wrapper.title()],
        kept,
        h.div({"class": "form-drop form-compact" if compact else "form-drop", "data-drop": True})[
            h.input(".input", attrs, type="file", accept=accept, multiple=many),
            None if compact else h.p(".form-help")["Drop a file here, or choose one."],
        ],
        h.input(
            ".input",
            type="text",
            inputmode="url",
            name=SIDE + location.pointer,
            value="",
            placeholder="https://",
            aria_label=f"{field.label}: address",
        )
        if by_hand
        else None,
        more,
        wrapper.help(),
        wrapper.error(),
    ]


def _takes_address(field: FormField) -> bool:
    """Whether the schema takes an address on the web and not a file alone."""
    schema = field.schema
    items = schema.get("items")
    inner = items if isinstance(items, dict) else schema
    return inner.get("format") != "data-url" and not str(inner.get("pattern", "")).startswith("^data:")


register_widget("file", FileWidget())
register_widget("image", FileWidget(image=True))
register_widget("files", FilesWidget())
register_widget("images", FilesWidget(image=True))
