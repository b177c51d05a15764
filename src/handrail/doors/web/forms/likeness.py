"""Likeness: how well a value fits a shape, to tell which of several it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.doors.web.forms.shape import Shape, shape_of

_KINDS: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "array": list,
    "object": dict,
    "integer": int,
    "number": (int, float),
}


def kinds_of(shape: Shape) -> list[str]:
    """The types that a shape says or lets one guess."""
    said = shape.get("type")
    if said is not None:
        return list(said) if isinstance(said, list) else [said]
    if any(key in shape for key in ("properties", "additionalProperties", "patternProperties")):
        return ["object"]
    if any(key in shape for key in ("items", "prefixItems")):
        return ["array"]
    if any(key in shape for key in ("pattern", "minLength", "maxLength", "format", "contentMediaType")):
        return ["string"]
    if any(key in shape for key in ("minimum", "maximum", "multipleOf", "exclusiveMinimum")):
        return ["number"]
    return []


def is_kind(value: Any, kind: str) -> bool:
    if kind == "null":
        return value is None
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return kind in _KINDS and isinstance(value, _KINDS[kind])


def likeness(shape: Shape, root: Mapping[str, Any], value: Any, depth: int = 0) -> int:
    """More is better; below zero the value has another shape."""
    kinds = kinds_of(shape)
    if kinds and not any(is_kind(value, kind) for kind in kinds):
        return -1000
    if "const" in shape and shape["const"] != value:
        return -500
    if isinstance(shape.get("enum"), list) and value not in shape["enum"]:
        return -500
    score = 1 if kinds else 0
    if isinstance(value, dict) and depth < 4:
        score += _object_likeness(shape, root, value, depth)
    if isinstance(value, list) and value and isinstance(shape.get("items"), Mapping) and depth < 4:
        score += min(likeness(shape_of(shape["items"], root)[0], root, one, depth + 1) for one in value[:5])
    return score


def _object_likeness(shape: Shape, root: Mapping[str, Any], value: Mapping[str, Any], depth: int) -> int:
    score = 0
    properties = shape.get("properties") or {}
    for name, part in value.items():
        if name not in properties:
            score -= 3 if shape.get("additionalProperties") is False else 1
            continue
        inner = likeness(shape_of(properties[name], root)[0], root, part, depth + 1)
        score += 3 if inner >= 0 else -50 if inner > -1000 else -20
    return score - 10 * sum(name not in value for name in shape.get("required") or ())
