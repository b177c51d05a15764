"""The spellings under which definitions arrive, folded into one."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from handrail.core.define.names import words
from handrail.core.errors import DefinitionError, Place

_OTHER_NAMES = {
    "permission_level": "level",
    "danger_level": "danger",
    "get_danger_level": "danger_fn",
    "required_permission": "requires",
    "permission_policy": "policy",
    "tenant_slugs": "tenants",
    "output_sections": "sections",
    "parameters": "input",
    "input_schema": "input",
    "param_schema": "params",
    "required_params": "required",
    "output_schema": "output",
    "output_schema_zod": "output",
    "long_description": "guidance",
    "when_to_use": "guidance",
    "title": "name",
    "form_spec": "form",
    "view_spec": "view",
}
OPTIONS = frozenset(
    "description guidance description_path aliases param_aliases slug name category icon input output params "
    "required level danger level_fn danger_fn capabilities optional_capabilities permissions requires policy "
    "approvals four_eyes tenants reads writes concurrency timeout retry idempotent repeatable isolation "
    "collaborative aggregate undo preview sections form view origin execute resources formats".split()
)


def option_name(key: Any) -> str | None:
    """The option a key stands for, in whatever style it is written, or None."""
    if not isinstance(key, str):
        return None
    snake = "_".join(word.lower() for word in words(key))
    name = _OTHER_NAMES.get(snake, snake)
    return name if name in OPTIONS else None


def _meant(key: object) -> str:
    """The remedy for an option that is not known: the one that is nearly it, or all there are."""
    near = difflib.get_close_matches(str(key), sorted({*OPTIONS, *_OTHER_NAMES}), 1, 0.7)
    return f"did you mean {near[0]!r}?" if near else f"use one of: {', '.join(sorted(OPTIONS))}"


def options(given: Mapping[str, Any], tool: str, place: Place | None) -> dict[str, Any]:
    """Options under their own names, whatever style they were written in: `permissionLevel` is level."""
    folded: dict[str, Any] = {}
    for key, value in given.items():
        name = option_name(key)
        if name is None:
            raise DefinitionError(
                f"{key!r} is not an option of a tool",
                tool=tool,
                place=place,
                remedy=_meant(key),
            )
        if name in folded:
            raise DefinitionError(
                f"{key!r} is given twice, under two spellings", tool=tool, place=place, remedy="keep one"
            )
        folded[name] = value
    return folded
