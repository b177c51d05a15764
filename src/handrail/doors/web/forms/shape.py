"""Shapes: a schema as a form can draw it, references followed and what holds together merged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from handrail.core.define.schema import resolve

Shape = dict[str, Any]
WHEN = "\0when"
"""Under this name: pairs of a condition and the properties that come with it."""

_DEEP = 16
_SAYS_NOTHING = frozenset(
    {"required", "not", "if", "then", "else", "dependentRequired", "minProperties", "description"}
)
_OWN = ("title", "description", "default", "examples")


def shape_of(node: Any, root: Mapping[str, Any]) -> tuple[Shape, frozenset[str]]:
    """The shape of a schema, and the references that led to it."""
    met: set[str] = set()
    shape = _whole(node, root, met, 0)
    return shape, frozenset(met)


def _whole(node: Any, root: Mapping[str, Any], seen: set[str], depth: int) -> Shape:
    if not isinstance(node, Mapping) or depth > _DEEP:
        return {}
    ref = node.get("$ref")
    if isinstance(ref, str):
        seen.add(ref)
        node = resolve(node, root)
    shape = _lifted(node)
    for part in shape.pop("allOf", None) or ():
        own = {key: shape[key] for key in _OWN if key in shape}
        shape = {**_merged(shape, _whole(part, root, seen, depth + 1)), **own}
    return shape


def _lifted(node: Mapping[str, Any]) -> Shape:
    """A copy whose conditions stand together in one list."""
    shape = dict(node)
    shape.pop("$ref", None)
    conditions: list[tuple[Any, Any]] = []
    test = shape.pop("if", None)
    then, other = shape.pop("then", None), shape.pop("else", None)
    if test is not None:
        conditions += [(test, then)] if isinstance(then, Mapping) else []
        conditions += [({"not": test}, other)] if isinstance(other, Mapping) else []
    for key in ("dependentSchemas", "dependencies"):
        depends = shape.pop(key, None)
        for name, part in depends.items() if isinstance(depends, Mapping) else ():
            if isinstance(part, Mapping):
                conditions.append(({"required": [name]}, part))
    if conditions:
        shape[WHEN] = conditions
    return shape


def _merged(one: Shape, other: Shape) -> Shape:
    """What both say together."""
    both: Shape = {**one, **other}
    for key in ("properties", "patternProperties"):
        if isinstance(one.get(key), Mapping) and isinstance(other.get(key), Mapping):
            both[key] = _together(one[key], other[key])
    if isinstance(one.get("required"), list) and isinstance(other.get("required"), list):
        both["required"] = list(dict.fromkeys([*one["required"], *other["required"]]))
    if "type" in one and "type" in other:
        both["type"] = _common(one["type"], other["type"])
    if isinstance(one.get("enum"), list) and isinstance(other.get("enum"), list):
        both["enum"] = [value for value in one["enum"] if value in other["enum"]] or one["enum"]
    if WHEN in one and WHEN in other:
        both[WHEN] = [*one[WHEN], *other[WHEN]]
    return both


def _together(one: Mapping[str, Any], other: Mapping[str, Any]) -> Shape:
    return {
        **one,
        **{name: {"allOf": [one[name], part]} if name in one else part for name, part in other.items()},
    }


def _common(one: Any, other: Any) -> Any:
    first = one if isinstance(one, list) else [one]
    second = other if isinstance(other, list) else [other]
    shared = [kind for kind in first if kind in second]
    if not shared and {"integer", "number"} <= {*first, *second}:
        shared = ["integer"]
    return shared[0] if len(shared) == 1 else shared or one


def merged_with(shape: Shape, part: Shape) -> Shape:
    """A branch together with what stands beside the choice; the branch has its own words."""
    base = {key: value for key, value in shape.items() if key not in ("oneOf", "anyOf", *_OWN)}
    return _merged(base, part)


def alternatives(shape: Shape, root: Mapping[str, Any]) -> list[tuple[Any, Shape]]:
    """The branches of a choice, each as written and as its shape; none if they only restrict."""
    for key in ("oneOf", "anyOf"):
        written = shape.get(key)
        if isinstance(written, list) and written:
            found = [(one, shape_of(one, root)[0]) for one in written]
            if not all(set(one) <= _SAYS_NOTHING for _, one in found):
                return found
    return []


def is_null(shape: Shape) -> bool:
    return (
        shape.get("type") == "null"
        or ("const" in shape and shape["const"] is None)
        or shape.get("enum") == [None]
    )


def conditional(shape: Shape, root: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Properties that come with a condition: name, schema, condition. Also those of the choices inside."""
    for test, part in shape.get(WHEN, ()):
        inner, _ = shape_of(part, root)
        for source in (inner, *(one for _, one in alternatives(inner, root))):
            for name, node in (source.get("properties") or {}).items():
                yield name, node, test
        for name, node, further in conditional(inner, root):
            yield name, node, {"allOf": [test, further]}
