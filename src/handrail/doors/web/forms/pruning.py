"""What a form holds as a whole: its pickers, its conditions, and what an embed must not take."""

from __future__ import annotations

from typing import Any

from handrail.core.define.schema import JsonSchema, objects_in
from handrail.core.define.sections import FormSpec
from handrail.doors.web.forms.field import Field, ListField, ObjectField, Rows, Shaped, UnionField

_CONDITIONS = ("if", "dependencies", "dependentSchemas")


def picked_types(schema: JsonSchema, spec: FormSpec) -> tuple[str, ...]:
    """The types of things that the pickers of a form pick from."""
    found = [node.get("x-entity-type") for node in objects_in(schema)]
    found += [hints.get(key) for hints in spec.hints.values() for key in ("entity", "options")]
    return tuple(dict.fromkeys(one for one in found if isinstance(one, str)))


def has_conditions(schema: JsonSchema, spec: FormSpec) -> bool:
    """Whether some field is shown only at times."""
    hinted = any("visible_when" in hints for hints in spec.hints.values())
    return hinted or any(key in node for node in objects_in(schema) for key in _CONDITIONS)


def pruned(field: Field, value: Any) -> Any:
    """A value without operators' fields, however they came into it."""
    if isinstance(field, ObjectField) and isinstance(value, dict):
        known = {child.name: child for child in field.children}
        kept_names = {
            name: pruned(known[name].later() if name in known else field.rest(name), part)
            for name, part in value.items()
            if name not in field.hidden
        }
        return Shaped.of(kept_names, value.at) if isinstance(value, Shaped) else kept_names
    if isinstance(field, ListField) and isinstance(value, list):
        kept = value.copy() if not isinstance(value, Rows) else value
        for at, part in enumerate(kept):
            later = field.first[at] if at < len(field.first) else field.item
            if later is not None:
                kept[at] = pruned(later(), part)
        return kept
    if isinstance(field, UnionField):
        for branch in field.branches:
            value = pruned(branch.later(), value)
    return value
