"""Further values of an object: under names that the schema does not list. What is there is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import htpy as h

from handrail.doors.web.forms.field import BLANK, MISSING, ObjectField
from handrail.doors.web.forms.initial import initial
from handrail.doors.web.forms.pen import Pen, button, sign
from handrail.doors.web.forms.place import Place
from handrail.doors.web.forms.post import Post
from handrail.doors.web.forms.registry import draw_field, read_field
from handrail.doors.web.forms.wire import KEY, ROW, spelled, unspelled


def draw_further(field: ObjectField, pen: Pen, place: Place, value: Mapping[str, Any]) -> h.Node:
    """A row for each value that has no field, and a way to add one where the schema allows it."""
    strange = [name for name in value if name not in field.names]
    if not strange and not field.grows:
        return None
    return h.div(".form-further")[
        [_row(field, pen, place, str(at), name, value[name]) for at, name in enumerate(strange)],
        button("add", f"{place.pointer}/~k", "Add a value", _to("Add a value", field))
        if field.grows
        else None,
    ]


def _to(words: str, field: ObjectField) -> str | None:
    return f"{words} to {field.label}" if field.label else None


def _row(field: ObjectField, pen: Pen, place: Place, key: str, name: str, value: Any) -> h.Node:
    spot = place.further(key, name)
    id = f"{pen.id_of(spot)}:name"
    return h.div(".form-row", id=f"{pen.id_of(spot)}:row")[
        h.input(type="hidden", name=ROW + place.pointer, value=key),
        h.div(".form-field.form-key")[
            h.label(".form-label", for_=id)["Name"],
            h.input(
                ".input", type="text", id=id, name=KEY + spot.pointer, value=spelled(name), autocomplete="off"
            ),
        ],
        h.div(".form-row-body")[
            draw_field(replace(field.rest(name), label=name or "Value"), pen, spot, value)
        ],
        h.div(".form-row-tools")[button("remove", spot.pointer, sign("✕"), f"Remove {name}", "ghost")],
    ]


def read_further(field: ObjectField, post: Post, place: Place) -> dict[str, Any]:
    """The values of the rows, by the names typed there. A name that is taken loses no value."""
    found: dict[str, Any] = {}
    for key in dict.fromkeys(post.texts(ROW + place.pointer)):
        bare = place.further(key, "")
        if post.asked("remove", bare):
            continue
        name = unspelled(post.text(KEY + bare.pointer) or "")
        if not isinstance(name, str):
            name = post.text(KEY + bare.pointer) or ""
        if name in field.hidden:
            continue
        free = _free(name, found, field) if name in field.names or name in found else name
        spot = place.further(key, free)
        value = read_field(field.rest(name), post, spot)
        if free != name:
            post.wrong(spot, f"cannot be called {name}: there is one already")
        found[free] = BLANK if value is MISSING else value
    if field.grows and post.asked("add", Place(f"{place.pointer}/~k")):
        value = initial(field.rest(""), asked=True)
        found[_free("name", found, field)] = BLANK if value is MISSING else value
    return found


def _free(name: str, taken: Mapping[str, Any], field: ObjectField) -> str:
    number = 2
    if name not in taken and name not in field.names:
        return name
    while f"{name} {number}" in taken or f"{name} {number}" in field.names:
        number += 1
    return f"{name} {number}"
