"""Choices: one of some values, several of some values, yes or no."""

from __future__ import annotations

from typing import Any

import htpy as h

from handrail.doors.web.forms.control_names import (
    MODE,
    VALUE,
    FieldLocation,
    compact_json,
    decode_value,
    encode_value,
)
from handrail.doors.web.forms.errors import error_sentence
from handrail.doors.web.forms.fields import (
    BLANK,
    MISSING,
    BlankText,
    ChoiceField,
    FormField,
    ListField,
    option_index,
)
from handrail.doors.web.forms.post import FormPost
from handrail.doors.web.forms.render import FieldWrapper, RenderContext
from handrail.doors.web.forms.widget_registry import WidgetTemplate, register_widget
from handrail.doors.web.forms.widgets.lists import RowsWidget


def select_options(field: ChoiceField, value: Any) -> list[tuple[str, str, bool]]:
    """What can be chosen: its spelling, its words, and whether it is chosen now."""
    unset = value is MISSING or (isinstance(value, BlankText) and option_index(field.options, "") is None)
    found: list[tuple[str, str, bool]] = []
    settled = field.required or field.row or field.default is not MISSING
    if unset or not settled:
        found.append(("", "Choose…" if field.required or field.row else "Not given", unset))
    chosen = None if unset else option_index(field.options, value)
    found += [(encode_value(one), words, index == chosen) for index, (one, words) in enumerate(field.options)]
    if field.nullable and option_index(field.options, None) is None:
        found.append(("=null", "No value", value is None))
    elif not unset and chosen is None and value is None:
        found.append(("=null", "No value", True))
    if not unset and chosen is None and value is not None:
        found.append(
            (
                encode_value(value),
                f"{value if isinstance(value, str) else compact_json(value)} (not in the list)",
                True,
            )
        )
    return found


class ChoiceWidget:
    """One of some values."""

    def __init__(self, buttons: bool = False) -> None:
        self._buttons = buttons

    def fits(self, field: ChoiceField, value: Any) -> bool:
        return True

    def template(self, field: ChoiceField, value: Any) -> WidgetTemplate | None:
        if value is MISSING:
            return WidgetTemplate("out", value)
        at = option_index(field.options, value)
        return None if at is None else WidgetTemplate(str(at), value)

    def render(self, field: ChoiceField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        choices = select_options(field, value)
        if self._buttons:
            return wrapper.group(_radio_buttons(wrapper, location, choices), kind="form-choices")
        return wrapper.frame(
            h.select(".select", wrapper.attrs)[
                (h.option(value=one, selected=chosen)[words] for one, words, chosen in choices)
            ]
        )

    def read(self, field: ChoiceField, post: FormPost, location: FieldLocation) -> Any:
        text = post.value(location)
        if text:
            return decode_value(text)
        if not field.row:
            return MISSING
        post.needs(field, location)
        return BLANK


def _radio_buttons(
    wrapper: FieldWrapper, location: FieldLocation, choices: list[tuple[str, str, bool]]
) -> h.Node:
    invalid = "true" if wrapper.errors else None
    return [
        h.label(".form-choice")[
            h.input(
                ".input",
                type="radio",
                name=VALUE + location.pointer,
                value=one,
                checked=chosen,
                id=f"{wrapper.id}:{index}",
                aria_invalid=invalid,
            ),
            h.span[words],
        ]
        for index, (one, words, chosen) in enumerate(choices)
    ]


class ConstantWidget(ChoiceWidget):
    """A value that can be nothing else: nobody is asked once it is there."""

    def render(self, field: ChoiceField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        if option_index(field.options, value) is None or ctx.has_errors(location):
            return super().render(field, ctx, location, value)
        return h.input(type="hidden", name=VALUE + location.pointer, value=encode_value(value))


class CheckboxesWidget:
    """Several of some values, in their order; other lists are drawn as rows."""

    _rows = RowsWidget()

    def fits(self, field: ListField, value: Any) -> bool:
        return self._rows.fits(field, value)

    def render(self, field: ListField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        options = _options(field)
        ticked: set[int] | None = (
            set()
            if value is MISSING or value is None or isinstance(value, BlankText)
            else _ticked(options, value)
        )
        if ticked is None:
            return self._rows.render(field, ctx, location, value)
        wrapper = FieldWrapper(field, ctx, location)
        state = "out" if value is MISSING else "null" if value is None else "here"
        return wrapper.group(
            h.input(type="hidden", name=MODE + location.pointer, value=f"ticks:{state}"),
            [
                h.label(".form-choice")[
                    h.input(
                        ".input",
                        type="checkbox",
                        name=VALUE + location.pointer,
                        value=encode_value(one),
                        checked=index in ticked,
                        id=f"{wrapper.id}:{index}",
                    ),
                    h.span[words],
                ]
                for index, (one, words) in enumerate(options)
            ],
            _item_errors(ctx, location, field),
            kind="form-choices",
        )

    def read(self, field: ListField, post: FormPost, location: FieldLocation) -> Any:
        way = post.way(location) or ""
        if not way.startswith("ticks:"):
            return self._rows.read(field, post, location)
        found = [decode_value(text) for text in post.texts(VALUE + location.pointer)]
        if found or way == "ticks:here" or (field.row and way == "ticks:out"):
            return found
        return None if way == "ticks:null" else MISSING


def _item_errors(ctx: RenderContext, location: FieldLocation, field: ListField) -> h.Node:
    errors = ctx.below(location)
    return [h.p(".form-error")[error_sentence(field.label, error.reason)] for error in errors]


def _options(field: ListField) -> tuple[tuple[Any, str], ...]:
    item = field.item() if field.item else None
    return item.options if isinstance(item, ChoiceField) else ()


def _ticked(options: tuple[tuple[Any, str], ...], values: list[Any]) -> set[int] | None:
    """Which options are ticked, if the values are among them, in their order and each once."""
    places = [option_index(options, value) for value in values]
    last = -1
    for at in places:
        if at is None or at <= last:
            return None
        last = at
    return {at for at in places if at is not None}


register_widget("choice", ChoiceWidget())
register_widget("radio", ChoiceWidget(buttons=True))
register_widget("constant", ConstantWidget())
register_widget("checkboxes", CheckboxesWidget())


_BOOLEANS = {"true": True, "false": False, "null": None}


class BooleanWidget:
    """Yes or no; left out; null."""

    def fits(self, field: FormField, value: Any) -> bool:
        return value is MISSING or value is None or isinstance(value, (bool, BlankText))

    def template(self, field: FormField, value: Any) -> WidgetTemplate | None:
        return (
            WidgetTemplate(repr(value), value)
            if value is MISSING or value is None or isinstance(value, bool)
            else None
        )

    def render(self, field: FormField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        if isinstance(value, bool) and _is_yes_or_no(field):
            return _checkbox(wrapper, location, value)
        now = "null" if value is None else "true" if value is True else "false" if value is False else ""
        none = "Choose…" if field.required or field.row else "Not given"
        states = [("", none), ("true", "Yes"), ("false", "No"), ("null", "No value")]
        offered = [one for one in states if one[0] == now or one[0] != "null" or field.nullable]
        return wrapper.frame(
            h.select(".select", wrapper.attrs)[
                (h.option(value=state, selected=state == now)[words] for state, words in offered)
            ]
        )

    def read(self, field: FormField, post: FormPost, location: FieldLocation) -> Any:
        text = post.value(location)
        if post.way(location) == "tick":
            return text is not None
        if text in _BOOLEANS:
            return _BOOLEANS[text]
        if not field.row:
            return MISSING
        post.needs(field, location)
        return BLANK


def _is_yes_or_no(field: FormField) -> bool:
    """Whether nothing but yes and no is of use."""
    return not field.nullable and (field.required or field.row or isinstance(field.default, bool))


def _checkbox(wrapper: FieldWrapper, location: FieldLocation, value: bool) -> h.Node:
    attrs = {key: one for key, one in wrapper.attrs.items() if key != "aria-required"}
    own = wrapper.field.hints.get("class")
    return h.div(
        {"class": ["form-field", "form-tick", own], "data-invalid": "true" if wrapper.errors else None}
    )[
        h.input(type="hidden", name=MODE + location.pointer, value="tick"),
        h.label(".form-tick-label")[
            h.input(".input", attrs, type="checkbox", value="true", checked=value),
            h.span[wrapper.field.label],
        ],
        wrapper.help(),
        wrapper.error(),
    ]


register_widget("boolean", BooleanWidget())
