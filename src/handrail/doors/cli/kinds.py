"""Kinds: which values a schema takes, as far as a command line needs to know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handrail.core.define.schema import resolve

Kinds = frozenset[str]

ANY: Kinds = frozenset("string integer number boolean null array object".split())
SCALARS: Kinds = frozenset("string integer number boolean null".split())
_MAX_DEPTH = 16


@dataclass(frozen=True, slots=True)
class Values:
    """The JSON types of the values, and the values themselves where the schema lists them."""

    kinds: Kinds
    choices: tuple[Any, ...] | None = None


def values_of(part: Any, root: Mapping[str, Any], depth: int = 0) -> Values:
    """The kinds of values a schema takes, and which ones if it lists them."""
    if part is False:
        return Values(frozenset())
    node = resolve(part, root)
    found = Values(ANY)
    if isinstance(node.get("enum"), list):
        found = _both(found, _listed(node["enum"]))
    if "const" in node:
        found = _both(found, _listed([node["const"]]))
    kind = node.get("type")
    if kind is not None:
        named = frozenset(kind if isinstance(kind, list) else [kind]) & ANY
        found = _both(found, Values(named | {"integer"} if "number" in named else named))
    if depth < _MAX_DEPTH:
        for key in ("anyOf", "oneOf"):
            if branches := node.get(key):
                found = _both(found, _either([values_of(one, root, depth + 1) for one in branches]))
        for one in node.get("allOf") or ():
            found = _both(found, values_of(one, root, depth + 1))
    return found


def _listed(values: Sequence[Any]) -> Values:
    kinds = frozenset(kind_of(value) for value in values)
    return Values(kinds | {"integer"} if "number" in kinds else kinds, tuple(values))


def _both(one: Values, other: Values) -> Values:
    choices = one.choices if one.choices is not None else other.choices
    return Values(one.kinds & other.kinds, choices)


def _either(branches: Sequence[Values]) -> Values:
    kinds = frozenset(kind for branch in branches for kind in branch.kinds)
    choices: list[Any] = []
    for branch in branches:
        if branch.choices is None and branch.kinds != {"null"}:
            return Values(kinds)
        choices += (None,) if branch.choices is None else branch.choices
    return Values(kinds, tuple(choices) if any(one is not None for one in choices) else None)


def items_of(part: Any, root: Mapping[str, Any], depth: int = 0) -> Values | None:
    """The values of the items of a list, or None when they are not all alike."""
    node = resolve(part, root)
    if "prefixItems" in node or depth > _MAX_DEPTH:
        return None
    if "items" in node:
        return values_of(node["items"], root)
    found = [
        items
        for key in ("anyOf", "oneOf", "allOf")
        for one in node.get(key) or ()
        if (items := items_of(one, root, depth + 1)) is not None
    ]
    return found[0] if len(found) == 1 else None


def kind_of(value: Any) -> str:
    """The JSON type of a value."""
    if value is None:
        return "null"
    return _KINDS.get(type(value), "object")


_KINDS: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
