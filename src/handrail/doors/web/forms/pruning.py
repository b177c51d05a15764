"""What a form holds as a whole: its pickers, its conditions, and what an embed must not take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from handrail.doors.web.forms.field import Field, ListField, ObjectField, UnionField
from handrail.doors.web.forms.widgets.picker import entity_type

_DEEP = 6


def _inner(field: Field, depth: int = 0) -> Iterator[Field]:
    """A field and those in it, as deep as a person is likely to look."""
    yield field
    if depth >= _DEEP or (field.demand and depth > 0):
        return
    if isinstance(field, ObjectField):
        for child in field.children:
            yield from _inner(child.later(), depth + 1)
    elif isinstance(field, ListField):
        for later in (*field.first, *((field.item,) if field.item else ())):
            yield from _inner(later(), depth + 1)
    elif isinstance(field, UnionField):
        for branch in field.branches:
            yield from _inner(branch.later(), depth + 1)


def picked_types(root: Field) -> tuple[str, ...]:
    """The types of things that the pickers of a form pick from."""
    found = (entity_type(field) for field in _inner(root) if field.widget in ("picker", "pickers"))
    return tuple(dict.fromkeys(filter(None, found)))


def conditions(root: Field) -> bool:
    """Whether some field is shown only at times."""
    return any(
        child.when is not None
        for field in _inner(root)
        if isinstance(field, ObjectField)
        for child in field.children
    )


def pruned(field: Field, value: Any) -> Any:
    """A value without operators' fields, however they came into it."""
    if isinstance(field, ObjectField) and isinstance(value, dict):
        known = {child.name: child for child in field.children}
        return {
            name: pruned(known[name].later() if name in known else field.rest(name), part)
            for name, part in value.items()
            if name not in field.hidden
        }
    if isinstance(field, ListField) and isinstance(value, list):
        for at, part in enumerate(value):
            later = field.first[at] if at < len(field.first) else field.item
            if later is not None:
                value[at] = pruned(later(), part)
        return value
    if isinstance(field, UnionField):
        for branch in field.branches:
            value = pruned(branch.later(), value)
    return value
