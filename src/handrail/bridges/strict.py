"""fits_strict: whether a schema can be promised to OpenAI as it is, so that no model can break it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PLAIN = frozenset(
    "type description title enum const pattern format minimum maximum exclusiveMinimum exclusiveMaximum "
    "multipleOf minItems maxItems".split()
)
"""Keywords that strict mode takes and that hold no schema."""
_FORMATS = frozenset("date-time time date duration email hostname ipv4 ipv6 uuid".split())
_TYPES = frozenset("object array string number integer boolean null".split())
_DEPTH = 10
_PROPERTIES = 5_000
_CHOICES = 1_000


def fits_strict(schema: Mapping[str, Any]) -> bool:
    """Strict mode wants every property required and no other let in, all the way down, in few keywords.

    A schema that says more keeps its words and is sent without the promise: the guard checks it all the same.
    """
    if schema.get("type") != "object" or "anyOf" in schema:
        return False
    defs = schema.get("$defs", {})
    counts = _Counts()
    top = {key: value for key, value in schema.items() if key != "$defs"}
    return (
        isinstance(defs, Mapping)
        and _fits(top, defs, 1, counts)
        and all(_fits(one, defs, 1, counts) for one in defs.values())
    )


class _Counts:
    def __init__(self) -> None:
        self.properties = 0
        self.choices = 0

    def hold(self) -> bool:
        return self.properties <= _PROPERTIES and self.choices <= _CHOICES


def _fits(node: Any, defs: Mapping[str, Any], depth: int, counts: _Counts) -> bool:
    if not isinstance(node, Mapping) or depth > _DEPTH:
        return False
    if "$ref" in node:
        return len(node) == 1 and _leads_to(node["$ref"], defs)
    if "anyOf" in node:
        some = _several(node["anyOf"])
        beside = node.keys() <= {"anyOf", "description", "title"}
        return bool(some) and beside and all(_fits(one, defs, depth, counts) for one in some)
    kinds = node.get("type")
    named = [kinds] if isinstance(kinds, str) else _several(kinds)
    if not named or not all(isinstance(one, str) and one in _TYPES for one in named):
        return False
    counts.choices += len(_several(node.get("enum")))
    if not counts.hold() or str(node.get("format", "date")) not in _FORMATS:
        return False
    rest = node.keys() - _PLAIN
    if "object" in named:
        rest -= {"properties", "required", "additionalProperties"}
        if not _is_closed(node, defs, depth, counts):
            return False
    if "array" in named:
        rest -= {"items"}
        if not _fits(node.get("items"), defs, depth + 1, counts):
            return False
    return not rest


def _is_closed(node: Mapping[str, Any], defs: Mapping[str, Any], depth: int, counts: _Counts) -> bool:
    properties = node.get("properties")
    if not isinstance(properties, Mapping) or node.get("additionalProperties") is not False:
        return False
    counts.properties += len(properties)
    if sorted(map(str, _several(node.get("required")))) != sorted(properties):
        return False
    return all(_fits(one, defs, depth + 1, counts) for one in properties.values())


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _leads_to(ref: Any, defs: Mapping[str, Any]) -> bool:
    return ref == "#" or (isinstance(ref, str) and ref.removeprefix("#/$defs/") in defs)
