"""Unions: a chooser says which of several shapes a value has; only that one is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import htpy as h

from handrail.doors.web.forms.control_names import DRAWN, VALUE, FieldLocation
from handrail.doors.web.forms.defaults import initial_value, read_unanswered
from handrail.doors.web.forms.fields import (
    BLANK,
    MISSING,
    BlankText,
    ChoiceField,
    ChosenBranch,
    ChosenObject,
    ObjectField,
    UnionField,
    option_index,
)
from handrail.doors.web.forms.post import FormPost
from handrail.doors.web.forms.render import FieldWrapper, RenderContext, form_button, hidden_input, select_box
from handrail.doors.web.forms.widget_registry import read_field, render_field


class UnionWidget:
    """One of some shapes, or nothing yet."""

    def fits(self, field: UnionField, value: Any) -> bool:
        return True

    def render(self, field: UnionField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        now = _state(field, value)
        unset = "Choose…" if field.required or field.row or field.top else "Not given"
        states = [("out", unset)] if now == "out" or not (field.required or field.row) else []
        states += [(str(at), branch.label) for at, branch in enumerate(field.branches)]
        states += [("null", "No value")] if field.nullable or now == "null" else []
        wrapper = FieldWrapper(field, ctx, location, silent=now.isdecimal())
        id = f"{wrapper.id}:which"
        attrs = {"data-choose": True, "id": id, "name": VALUE + location.pointer}
        inner = None
        if now.isdecimal():
            if isinstance(value, ChosenBranch):
                value = BLANK if field.row else MISSING
            inner = render_field(field.branches[int(now)].lazy_field(), ctx, location.within(), value)
        return h.fieldset(
            wrapper.group_attrs | {"id": f"{wrapper.id}:union"}, class_="form-group form-union"
        )[
            h.legend(".form-legend")[wrapper.title() if field.label else "Kind"],
            wrapper.help(),
            wrapper.error(),
            h.div(".form-which")[
                h.label(".form-label", for_=id)["Kind"],
                select_box(attrs, [(state, words, state == now) for state, words in states]),
                hidden_input(DRAWN + location.pointer, now),
                form_button(
                    "choose", location.pointer, "Show", f"Show the fields of {field.label or 'this kind'}"
                ),
            ],
            inner,
        ]

    def read(self, field: UnionField, post: FormPost, location: FieldLocation) -> Any:
        drawn = post.text(DRAWN + location.pointer)
        if drawn is None:
            return MISSING
        chosen = post.text(VALUE + location.pointer) or drawn
        before = MISSING
        if _is_branch(field, drawn):
            before = read_field(field.branches[int(drawn)].lazy_field(), post, location.within())
        asked = post.asked("choose", location)
        if chosen != drawn:
            post.done = post.done or "choose"  # its fields were not there to be filled in
            return _start_branch(field, chosen, before, post, location)
        if not _is_branch(field, drawn):
            return _no_branch(field, drawn, post, location, asked)
        if before is MISSING and (field.row or post.do):
            return ChosenBranch.of(int(drawn))
        return ChosenObject.of(before, int(drawn)) if isinstance(before, dict) else before


def _state(field: UnionField, value: Any) -> str:
    if isinstance(value, (ChosenBranch, ChosenObject)) and value.at < len(field.branches):
        return str(value.at)
    if value is MISSING or isinstance(value, BlankText):
        return "out"
    if value is None and field.nullable:
        return "null"
    scores = [branch.match_score(value) for branch in field.branches]
    return str(scores.index(max(scores)))


def _is_branch(field: UnionField, state: str) -> bool:
    return state.isascii() and state.isdecimal() and int(state) < len(field.branches)


def _no_branch(field: UnionField, state: str, post: FormPost, location: FieldLocation, asked: bool) -> Any:
    if state == "null":
        return None
    if field.row and asked:
        return BLANK
    return read_unanswered(field, post, location)


def _start_branch(
    field: UnionField, chosen: str, before: Any, post: FormPost, location: FieldLocation
) -> Any:
    """The value of a shape that was just chosen; what the old one shares with it goes along."""
    if not _is_branch(field, chosen):
        return _no_branch(field, chosen, post, location, asked=True)
    branch = field.branches[int(chosen)].lazy_field()
    value = initial_value(branch, asked=True)
    if isinstance(branch, ObjectField) and isinstance(value, dict):
        shared = before if isinstance(before, dict) else {}
        return ChosenObject.of({**value, **_shared_values(branch, shared)}, int(chosen))
    return ChosenBranch.of(int(chosen)) if value is MISSING else value


def _shared_values(branch: ObjectField, before: Mapping[str, Any]) -> dict[str, Any]:
    """What of an object of another shape this one takes; a constant gets its own value."""
    shared: dict[str, Any] = {}
    for child in branch.children:
        if child.name not in before:
            continue
        field = child.lazy_field()
        if not isinstance(field, ChoiceField) or option_index(field.options, before[child.name]) is not None:
            shared[child.name] = before[child.name]
        elif field.widget == "constant":
            shared[child.name] = field.options[0][0]
    return shared
