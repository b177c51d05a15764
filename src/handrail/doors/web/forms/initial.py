"""What a form holds when it is first shown: defaults, and the parts that must be there."""

from __future__ import annotations

from typing import Any

from handrail.core.define.jsonvalue import copy_value
from handrail.doors.web.forms.field import BLANK, MISSING, ChoiceField, Field, ListField, ObjectField

_MOST_ROWS = 10
_MOST_FIELDS = 1_000


def initial(field: Field, asked: bool = False, left: list[int] | None = None) -> Any:
    """The value to begin with, or MISSING; what is drawn on demand begins when somebody asks for it."""
    left = [_MOST_FIELDS] if left is None else left
    left[0] -= 1
    if left[0] < 0:
        return MISSING
    if field.default is not MISSING and not (asked and field.default is None):
        return copy_value(field.default)
    if not (field.required or field.row or field.top or asked):
        return MISSING
    if (field.nullable or field.demand) and not (field.top or asked):
        return MISSING
    if isinstance(field, ChoiceField):
        return field.options[0][0] if field.widget == "constant" else MISSING
    if isinstance(field, ObjectField):
        started = {child.name: initial(child.later(), left=left) for child in field.children}
        return {name: value for name, value in started.items() if value is not MISSING}
    if isinstance(field, ListField):
        return [_item(field, left) for _ in range(min(field.least, _MOST_ROWS))] if field.item else []
    return MISSING


def _item(field: ListField, left: list[int]) -> Any:
    value = initial(field.item(), left=left) if field.item else MISSING
    return BLANK if value is MISSING else value
