"""Displays: a stored value of each of the twelve kinds, for reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import htpy as h

from handrail.core.define.fields import FieldDefinition, StorageType
from handrail.doors.web.forms.compile import sentence
from handrail.doors.web.forms.widgets.media import described
from handrail.doors.web.forms.wire import written

Show = Callable[[FieldDefinition, Any], h.Node]
"""How a value inside another is shown."""
Display = Callable[[FieldDefinition, Any, Show], h.Node]
"""(definition, value that is there, show) -> what a person sees of it."""

_HIDDEN = "••••••"


def label_of(one: FieldDefinition) -> str:
    return one.label or sentence(one.name)


def plain(value: Any) -> str:
    return value if isinstance(value, str) else written(value)


def pairs(fields: tuple[FieldDefinition, ...], value: Mapping[str, Any], show: Show) -> h.Node:
    """Names with values; further values stand last."""
    names = {one.name for one in fields}
    further = [FieldDefinition(name=name, type="text") for name in value if name not in names]
    return h.dl(".form-shown")[
        [h.div[h.dt[label_of(one)], h.dd[show(one, value.get(one.name))]] for one in (*fields, *further)]
    ]


def text(one: FieldDefinition, value: Any, show: Show) -> h.Node:
    if one.variant == "secret":
        return _HIDDEN
    kind = "form-shown-lines" if one.variant in ("lines", "markdown") else "form-shown-text"
    return h.span({"class": kind})[plain(value)]


def number(one: FieldDefinition, value: Any, show: Show) -> h.Node:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return plain(value)
    shown = f"{value:,}".replace(",", " ") if abs(value) < 1e15 else repr(value)
    return h.span(".form-number")[f"{shown} %" if one.variant == "percent" else shown]


def boolean(one: FieldDefinition, value: Any, show: Show) -> h.Node:
    return {True: "Yes", False: "No"}[value] if isinstance(value, bool) else plain(value)


def date(one: FieldDefinition, value: Any, show: Show) -> h.Node:
    return h.time(datetime=plain(value))[plain(value).replace("T", " ", 1)]


def enum(one: FieldDefinition, value: Any, show: Show) -> h.Node:
    found = next((option for option in one.options if option.value == value), None)
    words = (found.label if found else "") or plain(value)
    return h.span(".badge")[words] if one.variant == "badge" else words


def url(one: FieldDefinition, value: Any, show: Show) -> h.Node:
    address = plain(value)
    if not _is_web(address):
        return address
    look = {"class": "btn", "data-variant": "outline"} if one.variant == "button" else {"class": "form-link"}
    return h.a(look, href=address, rel="noopener noreferrer nofollow")[address]


def _is_web(address: str) -> bool:
    try:
        return urlsplit(address).scheme in ("http", "https")
    except ValueError:
        return False


def email(one: FieldDefinition, value: Any, show: Show) -> h.Node:
    return h.a(href=f"mailto:{quote(plain(value), safe='@')}")[plain(value)]


def phone(one: FieldDefinition, value: Any, show: Show) -> h.Node:
    digits = "".join(sign for sign in plain(value) if sign.isdigit() or sign == "+")
    return h.a(href=f"tel:{digits}")[plain(value)] if digits else plain(value)


def media(one: FieldDefinition, value: Any, show: Show) -> h.Node:
    address = plain(value)
    return h.a(href=address, rel="noopener noreferrer")[address] if _is_web(address) else described(address)


def relation(one: FieldDefinition, value: Any, show: Show) -> h.Node:
    return h.span(".form-relation", title=one.target)[plain(value)]


def object_(one: FieldDefinition, value: Any, show: Show) -> h.Node:
    if not isinstance(value, Mapping) or one.variant == "json" or not one.fields:
        return h.code[written(value)]
    return pairs(one.fields, value, show)


def array(one: FieldDefinition, value: Any, show: Show) -> h.Node:
    items = one.items
    if not isinstance(value, list) or items is None:
        return h.code[written(value)]
    if not value:
        return h.span(".form-help")["None"]
    if one.variant == "tags":
        return h.span(".form-picks")[(h.span(".badge")[show(items, part)] for part in value)]
    return h.ul(".form-shown-list")[(h.li[show(items, part)] for part in value)]


DISPLAYS: Mapping[StorageType, Display] = {
    "text": text,
    "number": number,
    "boolean": boolean,
    "date": date,
    "enum": enum,
    "url": url,
    "email": email,
    "phone": phone,
    "media": media,
    "relation": relation,
    "object": object_,
    "array": array,
}
