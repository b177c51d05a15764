"""Unions: a chooser says which of several shapes a value has; only that one is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import htpy as h

from handrail.doors.web.forms.field import (
    BLANK,
    MISSING,
    Blank,
    ChoiceField,
    Chosen,
    ObjectField,
    Shaped,
    UnionField,
    known_options,
)
from handrail.doors.web.forms.initial import initial
from handrail.doors.web.forms.pen import Pen, Said, button
from handrail.doors.web.forms.place import Place
from handrail.doors.web.forms.post import Post
from handrail.doors.web.forms.registry import draw_field, read_field, register_widget
from handrail.doors.web.forms.wire import DRAWN, VALUE


class Union:
    """One of some shapes, or nothing yet."""

    def fits(self, field: UnionField, value: Any) -> bool:
        return True

    def draw(self, field: UnionField, pen: Pen, place: Place, value: Any) -> h.Node:
        now = _state(field, value)
        none = "Choose…" if field.required or field.row or field.top else "Not given"
        states = [("out", none)] if now == "out" or not (field.required or field.row) else []
        states += [(str(at), branch.label) for at, branch in enumerate(field.branches)]
        states += [("null", "No value")] if field.nullable or now == "null" else []
        said = Said(field, pen, place, silent=now.isdecimal())
        id = f"{said.id}:which"
        inner = None
        if now.isdecimal():
            own = (
                BLANK
                if isinstance(value, Chosen) and field.row
                else MISSING
                if isinstance(value, Chosen)
                else value
            )
            inner = draw_field(field.branches[int(now)].later(), pen, place.within(), own)
        return h.fieldset(said.group_attrs | {"id": f"{said.id}:union"}, class_="form-group form-union")[
            h.legend(".form-legend")[said.title() if field.label else "Kind"],
            said.help(),
            said.error(),
            h.div(".form-which")[
                h.label(".form-label", for_=id)["Kind"],
                h.select(".select", {"data-choose": True}, id=id, name=VALUE + place.pointer)[
                    (h.option(value=state, selected=state == now)[words] for state, words in states)
                ],
                h.input(type="hidden", name=DRAWN + place.pointer, value=now),
                button("choose", place.pointer, "Show", f"Show the fields of {field.label or 'this kind'}"),
            ],
            inner,
        ]

    def read(self, field: UnionField, post: Post, place: Place) -> Any:
        drawn = post.text(DRAWN + place.pointer)
        if drawn is None:
            return MISSING
        chosen = post.text(VALUE + place.pointer) or drawn
        before = MISSING
        if _is_branch(field, drawn):
            before = read_field(field.branches[int(drawn)].later(), post, place.within())
        asked = post.asked("choose", place)
        if chosen != drawn:
            post.done = post.done or "choose"  # its fields were not there to be filled in
            return _begun(field, chosen, before, post, place)
        if not _is_branch(field, drawn):
            return _none(field, drawn, post, place, asked)
        if before is MISSING and (field.row or post.do):
            return Chosen.of(int(drawn))
        return Shaped.of(before, int(drawn)) if isinstance(before, dict) else before


def _state(field: UnionField, value: Any) -> str:
    if isinstance(value, (Chosen, Shaped)) and value.at < len(field.branches):
        return str(value.at)
    if value is MISSING or isinstance(value, Blank):
        return "out"
    if value is None and field.nullable:
        return "null"
    likeness = [branch.likeness(value) for branch in field.branches]
    return str(likeness.index(max(likeness)))


def _is_branch(field: UnionField, state: str) -> bool:
    return state.isascii() and state.isdecimal() and int(state) < len(field.branches)


def _none(field: UnionField, state: str, post: Post, place: Place, asked: bool) -> Any:
    if state == "null":
        return None
    if not field.row:
        return MISSING
    if not asked:
        post.needs(field, place)
    return BLANK


def _begun(field: UnionField, chosen: str, before: Any, post: Post, place: Place) -> Any:
    """The value of a shape that was just chosen; what the old one shares with it goes along."""
    if not _is_branch(field, chosen):
        return _none(field, chosen, post, place, asked=True)
    branch = field.branches[int(chosen)].later()
    value = initial(branch, asked=True)
    if isinstance(branch, ObjectField) and isinstance(value, dict):
        shared = before if isinstance(before, dict) else {}
        return Shaped.of({**value, **_carried(branch, shared)}, int(chosen))
    return Chosen.of(int(chosen)) if value is MISSING else value


def _carried(branch: ObjectField, before: Mapping[str, Any]) -> dict[str, Any]:
    """What of an object of another shape this one takes; a constant gets its own value."""
    found: dict[str, Any] = {}
    for child in branch.children:
        if child.name not in before:
            continue
        field = child.later()
        if not isinstance(field, ChoiceField) or known_options(field.options, before[child.name]) is not None:
            found[child.name] = before[child.name]
        elif field.widget == "constant":
            found[child.name] = field.options[0][0]
    return found


register_widget("union", Union())
