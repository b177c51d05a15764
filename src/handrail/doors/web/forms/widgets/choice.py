"""Choices: one of some values, as a list or as buttons, and several of some values as boxes to tick."""

from __future__ import annotations

from typing import Any

import htpy as h

from handrail.doors.web.forms.field import BLANK, MISSING, Blank, ChoiceField, ListField, known_options
from handrail.doors.web.forms.pen import Pen, Said
from handrail.doors.web.forms.place import Place
from handrail.doors.web.forms.post import Post
from handrail.doors.web.forms.registry import Mould, register_widget
from handrail.doors.web.forms.widgets.rows import RowsWidget
from handrail.doors.web.forms.wire import MODE, VALUE, spelled, unspelled, written
from handrail.doors.web.forms.words import in_words


def offered(field: ChoiceField, value: Any) -> list[tuple[str, str, bool]]:
    """What can be chosen: its spelling, its words, and whether it is chosen now."""
    unset = value is MISSING or (isinstance(value, Blank) and known_options(field.options, "") is None)
    found: list[tuple[str, str, bool]] = []
    settled = field.required or field.row or field.default is not MISSING
    if unset or not settled:
        found.append(("", "Choose…" if field.required or field.row else "Not given", unset))
    chosen = None if unset else known_options(field.options, value)
    found += [(spelled(one), words, index == chosen) for index, (one, words) in enumerate(field.options)]
    if field.nullable and known_options(field.options, None) is None:
        found.append(("=null", "No value", value is None))
    elif not unset and chosen is None and value is None:
        found.append(("=null", "No value", True))
    if not unset and chosen is None and value is not None:
        found.append(
            (spelled(value), f"{value if isinstance(value, str) else written(value)} (not in the list)", True)
        )
    return found


class Choice:
    """One of some values."""

    def __init__(self, buttons: bool = False) -> None:
        self._buttons = buttons

    def fits(self, field: ChoiceField, value: Any) -> bool:
        return True

    def mould(self, field: ChoiceField, value: Any) -> Mould | None:
        if value is MISSING:
            return Mould("out", value)
        at = known_options(field.options, value)
        return None if at is None else Mould(str(at), value)

    def draw(self, field: ChoiceField, pen: Pen, place: Place, value: Any) -> h.Node:
        said = Said(field, pen, place)
        choices = offered(field, value)
        if self._buttons:
            return said.group(_buttons(said, place, choices), kind="form-choices")
        return said.frame(
            h.select(".select", said.attrs)[
                (h.option(value=one, selected=chosen)[words] for one, words, chosen in choices)
            ]
        )

    def read(self, field: ChoiceField, post: Post, place: Place) -> Any:
        text = post.value(place)
        if text:
            return unspelled(text)
        if not field.row:
            return MISSING
        post.needs(field, place)
        return BLANK


def _buttons(said: Said, place: Place, choices: list[tuple[str, str, bool]]) -> h.Node:
    invalid = "true" if said.errors else None
    return [
        h.label(".form-choice")[
            h.input(
                ".input",
                type="radio",
                name=VALUE + place.pointer,
                value=one,
                checked=chosen,
                id=f"{said.id}:{index}",
                aria_invalid=invalid,
            ),
            h.span[words],
        ]
        for index, (one, words, chosen) in enumerate(choices)
    ]


class Constant(Choice):
    """A value that can be nothing else: nobody is asked once it is there."""

    def draw(self, field: ChoiceField, pen: Pen, place: Place, value: Any) -> h.Node:
        if known_options(field.options, value) is None or pen.has_errors(place):
            return super().draw(field, pen, place, value)
        return h.input(type="hidden", name=VALUE + place.pointer, value=spelled(value))


class Ticks:
    """Several of some values, in their order; other lists are drawn as rows."""

    _rows = RowsWidget()

    def fits(self, field: ListField, value: Any) -> bool:
        return self._rows.fits(field, value)

    def draw(self, field: ListField, pen: Pen, place: Place, value: Any) -> h.Node:
        options = _options(field)
        ticked: set[int] | None = (
            set()
            if value is MISSING or value is None or isinstance(value, Blank)
            else _ticked(options, value)
        )
        if ticked is None:
            return self._rows.draw(field, pen, place, value)
        said = Said(field, pen, place)
        state = "out" if value is MISSING else "null" if value is None else "here"
        return said.group(
            h.input(type="hidden", name=MODE + place.pointer, value=f"ticks:{state}"),
            [
                h.label(".form-choice")[
                    h.input(
                        ".input",
                        type="checkbox",
                        name=VALUE + place.pointer,
                        value=spelled(one),
                        checked=index in ticked,
                        id=f"{said.id}:{index}",
                    ),
                    h.span[words],
                ]
                for index, (one, words) in enumerate(options)
            ],
            _inner_errors(pen, place, field),
            kind="form-choices",
        )

    def read(self, field: ListField, post: Post, place: Place) -> Any:
        way = post.way(place) or ""
        if not way.startswith("ticks:"):
            return self._rows.read(field, post, place)
        found = [unspelled(text) for text in post.texts(VALUE + place.pointer)]
        if found or way == "ticks:here" or (field.row and way == "ticks:out"):
            return found
        return None if way == "ticks:null" else MISSING


def _inner_errors(pen: Pen, place: Place, field: ListField) -> h.Node:
    errors = pen.below(place)
    return [h.p(".form-error")[in_words(field.label, error.reason)] for error in errors]


def _options(field: ListField) -> tuple[tuple[Any, str], ...]:
    item = field.item() if field.item else None
    return item.options if isinstance(item, ChoiceField) else ()


def _ticked(options: tuple[tuple[Any, str], ...], values: list[Any]) -> set[int] | None:
    """Which options are ticked, if the values are among them, in their order and each once."""
    places = [known_options(options, value) for value in values]
    last = -1
    for at in places:
        if at is None or at <= last:
            return None
        last = at
    return {at for at in places if at is not None}


register_widget("choice", Choice())
register_widget("radio", Choice(buttons=True))
register_widget("constant", Constant())
register_widget("checkboxes", Ticks())
