"""Files and images: sent as data URLs with their names; an address on the web will do where one is taken."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

import htpy as h

from handrail.doors.web.forms.control_names import KEPT, MODE, SIDE, VALUE, FieldLocation
from handrail.doors.web.forms.defaults import read_empty, render_empty
from handrail.doors.web.forms.fields import MISSING, FormField, ListField
from handrail.doors.web.forms.post import FormPost
from handrail.doors.web.forms.render import FieldWrapper, RenderContext, hidden_input, icon_button
from handrail.doors.web.forms.widgets.lists import TextListWidget, item_errors, list_state
from handrail.doors.web.forms.widgets.text import LineWidget

_DATA = re.compile(r"data:(?P<kind>[^;,]*)(?P<params>(?:;[^;,]*)*),(?P<data>.*)", re.S)


def file_description(value: str) -> str:
    """A file in words: its name, kind and size; an address as it is."""
    match = _DATA.match(value)
    if not match:
        return value
    params = dict(part.partition("=")[::2] for part in match["params"].split(";") if part)
    size = len(match["data"]) * 3 // 4 if "base64" in params else len(match["data"])
    shown = f"{size / 1024:.0f} kB" if size >= 1024 else f"{size} bytes"
    return f"{unquote(params.get('name', '')) or 'File'} ({match['kind'] or 'text/plain'}, {shown})"


class FileWidget(LineWidget):
    """`ImageDropzoneUploader`: one file, dropped, chosen or named by its address."""

    def __init__(self, image: bool = False) -> None:
        self._image = image

    def render(self, field: FormField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        file = _current_file(location, 0, value) if isinstance(value, str) and value else None
        empty = render_empty(field, ctx, location, value, textual=True)
        return _dropzone(field, wrapper, location, self._image, False, file, empty)

    def read(self, field: FormField, post: FormPost, location: FieldLocation) -> Any:
        files = post.uploads(VALUE + location.pointer)
        if files:
            return files[-1].to_data_url()
        address = post.text(SIDE + location.pointer)
        if address:
            return address
        current = post.text(KEPT + location.pointer)
        is_removed = post.asked("remove", FieldLocation(f"{location.pointer}/0"))
        if current and not is_removed:
            return current
        if not is_removed and address is None and post.way(location) is None and not field.row:
            return MISSING
        return read_empty(field, post, location, textual=True)


class FilesWidget(TextListWidget):
    """Several files."""

    def __init__(self, image: bool = False) -> None:
        self._image = image

    def render(self, field: ListField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        files = value if isinstance(value, list) else []
        current = [_current_file(location, at, file) for at, file in enumerate(files)]
        mode = hidden_input(MODE + location.pointer, list_state(value))
        inner = item_errors(field, ctx, location)
        return _dropzone(field, wrapper, location, self._image, True, current, mode, inner)

    def added(self, post: FormPost, location: FieldLocation) -> list[str]:
        files = [file.to_data_url() for file in post.uploads(VALUE + location.pointer)]
        return files + [address for address in post.texts(SIDE + location.pointer) if address]


def _current_file(location: FieldLocation, at: int, value: str) -> h.Node:
    description = file_description(value)
    return h.div(".form-file")[
        hidden_input(KEPT + location.pointer, value),
        h.span[description],
        icon_button("remove", f"{location.pointer}/{at}", "✕", f"Remove {description[:80]}"),
    ]


def _dropzone(
    field: FormField,
    wrapper: FieldWrapper,
    location: FieldLocation,
    image: bool,
    many: bool,
    current: h.Node,
    *more: h.Node,
) -> h.Node:
    compact = bool(field.hints.get("compact"))
    by_hand = not compact and not field.hints.get("hide_manual_url") and _takes_address(field)
    accept = field.hints.get("accept") or ("image/*" if image else None)
    attrs = {key: value for key, value in wrapper.attrs.items() if key != "readonly"}
    return wrapper.box(
        "form-field",
        wrapper.label(),
        current,
        h.div({"class": "form-drop form-compact" if compact else "form-drop", "data-drop": True})[
            h.input(".input", attrs, type="file", accept=accept, multiple=many),
            None if compact else h.p(".form-help")["Drop a file here, or choose one."],
        ],
        _address_box(field, location) if by_hand else None,
        more,
    )


def _address_box(field: FormField, location: FieldLocation) -> h.Node:
    return h.input(
        ".input",
        type="text",
        inputmode="url",
        name=SIDE + location.pointer,
        value="",
        placeholder="https://",
        aria_label=f"{field.label}: address",
    )


def _takes_address(field: FormField) -> bool:
    """Whether the schema takes an address on the web and not a file alone."""
    schema = field.schema
    items = schema.get("items")
    inner = items if isinstance(items, dict) else schema
    return inner.get("format") != "data-url" and not str(inner.get("pattern", "")).startswith("^data:")
