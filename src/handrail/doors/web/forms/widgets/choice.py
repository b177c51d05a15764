"""Choices: one of some values, several of some values, yes or no."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import htpy as h

from handrail.doors.web.forms.control_names import (
    MODE,
    VALUE,
    FieldLocation,
    decode_value,
    encode_value,
)
from handrail.doors.web.forms.defaults import read_unanswered
from handrail.doors.web.forms.errors import error_sentence
from handrail.doors.web.forms.fields import (
    MISSING,
    BlankText,
    ChoiceField,
    FormField,
    ListField,
    option_index,
)
from handrail.doors.web.forms.post import FormPost
from handrail.doors.web.forms.render import FieldWrapper, RenderContext, hidden_input, select_box
from handrail.doors.web.forms.widget_registry import WidgetTemplate
from handrail.doors.web.forms.widgets.lists import RowsWidget, list_state
from handrail.platform.display_text import visible_json


def select_options(field: ChoiceField, value: Any) -> list[tuple[str, str, bool]]:
    """What can be chosen: its spelling, its words, and whether it is chosen now."""
    unset = value is MISSING or (isinstance(value, BlankText) and option_index(field.options, "") is None)
    options: list[tuple[str, str, bool]] = []
    has_value = field.required or field.row or field.default is not MISSING
    if unset or not has_value:
        options.append(("", "Choose…" if field.required or field.row else "Not given", unset))
    chosen = None if unset else option_index(field.options, value)
    options += [
        (encode_value(option), words, index == chosen) for index, (option, words) in enumerate(field.options)
    ]
    is_other = not unset and chosen is None
    if (field.nullable and option_index(field.options, None) is None) or (is_other and value is None):
        options.append(("=null", "No value", value is None))
    if is_other and value is not None:
        words = value if isinstance(value, str) else visible_json(value)
        options.append((encode_value(value), f"{words} (not in the list)", True))
    return options


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
            invalid = "true" if wrapper.errors else None
            buttons = _labelled_inputs("radio", wrapper, location, choices, invalid)
            return wrapper.group(buttons, kind="form-choices")
        return wrapper.frame(select_box(wrapper.attrs, choices))

    def read(self, field: ChoiceField, post: FormPost, location: FieldLocation) -> Any:
        text = post.value(location)
        return decode_value(text) if text else read_unanswered(field, post, location)


def _labelled_inputs(
    kind: str,
    wrapper: FieldWrapper,
    location: FieldLocation,
    choices: Iterable[tuple[str, str, bool]],
    invalid: str | None = None,
) -> h.Node:
    """A radio button or a checkbox for each choice."""
    return [
        h.label(".form-choice")[
            h.input(
                ".input",
                type=kind,
                name=VALUE + location.pointer,
                value=value,
                checked=is_chosen,
                id=f"{wrapper.id}:{index}",
                aria_invalid=invalid,
            ),
            h.span[words],
        ]
        for index, (value, words, is_chosen) in enumerate(choices)
    ]


class ConstantWidget(ChoiceWidget):
    """A value that can be nothing else: nobody is asked once it is there."""

    def render(self, field: ChoiceField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        if option_index(field.options, value) is None or ctx.has_errors(location):
            return super().render(field, ctx, location, value)
        return hidden_input(VALUE + location.pointer, encode_value(value))


class CheckboxesWidget(RowsWidget):
    """Several of some values, in their order; other lists are drawn as rows."""

    def render(self, field: ListField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        options = _options(field)
        ticked = _ticked(options, value if isinstance(value, list) else [])
        if ticked is None:
            return super().render(field, ctx, location, value)
        wrapper = FieldWrapper(field, ctx, location)
        choices = [
            (encode_value(option), words, index in ticked) for index, (option, words) in enumerate(options)
        ]
        errors = [error_sentence(field.label, error.reason) for error in ctx.below(location)]
        return wrapper.group(
            hidden_input(MODE + location.pointer, f"ticks:{list_state(value)}"),
            _labelled_inputs("checkbox", wrapper, location, choices),
            [h.p(".form-error")[sentence] for sentence in errors],
            kind="form-choices",
        )

    def read(self, field: ListField, post: FormPost, location: FieldLocation) -> Any:
        way = post.way(location) or ""
        if not way.startswith("ticks:"):
            return super().read(field, post, location)
        values = [decode_value(text) for text in post.texts(VALUE + location.pointer)]
        if values or way == "ticks:here" or (field.row and way == "ticks:out"):
            return values
        return None if way == "ticks:null" else MISSING


def _options(field: ListField) -> tuple[tuple[Any, str], ...]:
    item = field.item() if field.item else None
    return item.options if isinstance(item, ChoiceField) else ()


def _ticked(options: tuple[tuple[Any, str], ...], values: list[Any]) -> set[int] | None:
    """Which options are ticked, if the values are among them, in their order and each once."""
    indices = [option_index(options, value) for value in values]
    ticked = sorted({index for index in indices if index is not None})
    return set(ticked) if indices == ticked else None


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
        unset = "Choose…" if field.required or field.row else "Not given"
        options = [
            ("", unset, value is MISSING or isinstance(value, BlankText)),
            ("true", "Yes", value is True),
            ("false", "No", value is False),
        ]
        if field.nullable or value is None:
            options.append(("null", "No value", value is None))
        return wrapper.frame(select_box(wrapper.attrs, options))

    def read(self, field: FormField, post: FormPost, location: FieldLocation) -> Any:
        text = post.value(location)
        if post.way(location) == "tick":
            return text is not None
        return _BOOLEANS[text] if text in _BOOLEANS else read_unanswered(field, post, location)


def _is_yes_or_no(field: FormField) -> bool:
    """Whether nothing but yes and no is of use."""
    return not field.nullable and (field.required or field.row or isinstance(field.default, bool))


def _checkbox(wrapper: FieldWrapper, location: FieldLocation, value: bool) -> h.Node:
    attrs = {key: part for key, part in wrapper.attrs.items() if key != "aria-required"}
    own = wrapper.field.hints.get("class")
    return wrapper.box(
        f"form-field form-tick {own}" if own else "form-field form-tick",
        hidden_input(MODE + location.pointer, "tick"),
        h.label(".form-tick-label")[
            h.input(".input", attrs, type="checkbox", value="true", checked=value),
            h.span[wrapper.field.label],
        ],
    )
