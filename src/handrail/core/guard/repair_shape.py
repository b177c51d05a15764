"""Shape: what a JSON Schema lets one place of the arguments hold, references and allOf folded in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import unquote

MAX_DEPTH = 40
"""Levels of data and schema that are looked at; far below Python's own recursion limit."""
MAX_VISITS = 100_000
"""Places looked at in one call, so that no schema makes unions of unions run away."""
MAX_PARTS = 100

_NAMES = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}
_EVERY_TYPE = frozenset(_NAMES.values())
_CONDITIONS = frozenset(("if", "dependentSchemas", "unevaluatedProperties", "$dynamicRef"))
_ELSEWHERE = {"$dynamicRef": "#"}
"""Stands for a schema that cannot be reached from here."""


def type_of(value: object) -> str | None:
    """The JSON type of a value; None for what JSON does not know. A float is never an integer here."""
    return _NAMES.get(type(value))


def is_vast(value: object) -> bool:
    """A whole number beyond what a float can count: an integer to JSON Schema, and read as nothing else."""
    return isinstance(value, float) and value.is_integer() and abs(value) > 2**53


def same(one: object, other: object) -> bool:
    """JSON equality (1 is 1.0 but not true), with its own stack because data may be nested thousands deep."""
    pairs = [(one, other)]
    while pairs:
        a, b = pairs.pop()
        if a is b:
            continue
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            pairs.extend((a[key], b[key]) for key in a)
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif isinstance(a, (dict, list, bool)) or isinstance(b, (dict, list, bool)) or a != b:
            return False
    return True


@dataclass(frozen=True, slots=True)
class Shape:
    """What one place may hold. With branches, each of them already includes everything around it."""

    types: frozenset[str]
    choices: tuple[Any, ...] | None
    """The members of enum, or the one const."""
    properties: Mapping[str, Any]
    required: frozenset[str]
    patterns: Mapping[str, Any]
    additional: Any
    """The schema for other keys; None when the author said nothing about them."""
    prefix: tuple[Any, ...]
    items: Any
    branches: tuple[Any, ...]
    description: str
    examples: tuple[Any, ...]
    conditional: bool
    """More properties may be known under conditions that are not read here."""

    def takes(self, value: object) -> bool:
        """Whether type and choice are right; what the value contains is not looked at."""
        if type_of(value) not in self.types and not ("integer" in self.types and is_vast(value)):
            return False
        return self.choices is None or any(same(value, choice) for choice in self.choices)

    def entry(self, key: str) -> Any:
        """The schema of the value under a key."""
        if key in self.properties:
            return self.properties[key]
        for pattern, schema in self.patterns.items():
            matched = _matches(pattern, key)
            if matched is None:
                return True
            if matched:
                return schema
        return True if self.additional is None else self.additional

    def welcomes(self, key: str) -> bool:
        """Whether the author foresaw keys like this one beside the named properties."""
        if self.conditional or self.additional not in (None, False):
            return True
        return any(_matches(pattern, key) is not False for pattern in self.patterns)

    def item(self, index: int) -> Any:
        """The schema of one element of a list."""
        return self.prefix[index] if index < len(self.prefix) else self.items


class Shapes:
    """Reads the subschemas of one root schema, each once, within one budget of visits."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._visits = MAX_VISITS
        # Keyed by identity; the schema is kept beside its shape so that an id is never reused.
        self._read: dict[int, tuple[Any, Shape]] = {}

    def of(self, schema: Any) -> Shape:
        """The shape of a subschema."""
        if id(schema) not in self._read:
            self._read[id(schema)] = (schema, _shape(list(self._parts(schema))))
        return self._read[id(schema)][1]

    def exhausted(self, depth: int) -> bool:
        """Counts one visit; true when the rest is to be left as it came."""
        self._visits -= 1
        return depth > MAX_DEPTH or self._visits < 0

    def fits(self, value: object, schema: Any, depth: int = 0) -> bool:
        """Whether types, choices and keys are right all the way down; ranges and formats are not read."""
        if schema is True or self.exhausted(depth):
            return True
        shape = self.of(schema)
        if shape.branches:
            return any(self.fits(value, branch, depth + 1) for branch in shape.branches)
        if not shape.takes(value):
            return False
        if isinstance(value, dict):
            return shape.required <= value.keys() and all(
                self.fits(inner, shape.entry(key), depth + 1) for key, inner in value.items()
            )
        if isinstance(value, list):
            return all(self.fits(inner, shape.item(index), depth + 1) for index, inner in enumerate(value))
        return True

    def _parts(self, schema: Any) -> Iterator[Any]:
        """The schema, what it refers to and what it must all be, without those links."""
        waiting, seen = [schema], set[int]()
        while waiting and len(seen) < MAX_PARTS:
            part = waiting.pop(0)
            if id(part) in seen:
                continue
            seen.add(id(part))
            if part is False:
                yield part
            if isinstance(part, Mapping):
                if "$id" in part and part is not self._root:
                    part = _ELSEWHERE  # a resource of its own: its references do not start at our root
                yield {key: value for key, value in part.items() if key not in ("$ref", "allOf")}
                waiting.append(self._target(part.get("$ref")))
                waiting.extend(_list(part.get("allOf")))

    def _target(self, ref: object) -> Any:
        """What a local reference points to."""
        if ref == "#":
            return self._root
        if not isinstance(ref, str) or not ref.startswith("#/"):
            return True if ref is None else _ELSEWHERE
        found = self._root
        for step in unquote(ref[2:]).split("/"):
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping):
                found = found.get(name, _ELSEWHERE)
            elif isinstance(found, list) and re.fullmatch("[0-9]{1,6}", name) and int(name) < len(found):
                found = found[int(name)]
            else:
                return _ELSEWHERE
        return found


def _shape(parts: list[Any]) -> Shape:
    """The parts of one subschema, all of which must hold, as one shape."""
    maps = [part for part in parts if part is not False]
    get = partial(_stated, maps)
    types = _EVERY_TYPE if len(maps) == len(parts) else frozenset[str]()
    for stated in get("type"):
        types &= _types(stated)
    choices = _choices(maps, types)
    if choices is not None:
        types &= _types([type_of(choice) for choice in choices])
    additional = get("additionalProperties")
    return Shape(
        types=types,
        choices=choices,
        properties=_merged(get("properties")),
        required=frozenset(name for names in get("required") for name in _list(names) if type(name) is str),
        patterns=_merged(get("patternProperties")),
        additional=None if not additional else False if False in additional else _both(additional),
        prefix=next((tuple(_list(items)) for items in get("prefixItems")), ()),
        items=_both(get("items")),
        branches=_branches(parts),
        description="\n".join(text for text in get("description") if isinstance(text, str)),
        examples=tuple(example for examples in get("examples") for example in _list(examples)),
        conditional=any(not _CONDITIONS.isdisjoint(part) for part in maps),
    )


def _branches(parts: list[Any]) -> tuple[Any, ...]:
    """The first union among the parts, each alternative joined with everything outside that union."""
    for index, part in enumerate(parts):
        for word in ("anyOf", "oneOf"):
            if part is not False and (alternatives := _list(part.get(word))):
                rest = [{key: part[key] for key in part if key != word}, *parts[:index], *parts[index + 1 :]]
                return tuple({"allOf": [*rest, alternative]} for alternative in alternatives)
    return ()


def _stated(parts: list[Any], word: str) -> list[Any]:
    return [part[word] for part in parts if word in part]


def _list(value: object) -> list[Any]:
    """A malformed keyword asks for nothing."""
    return value if isinstance(value, list) else []


def _types(stated: object) -> frozenset[str]:
    names = {name for name in (stated if isinstance(stated, list) else [stated]) if isinstance(name, str)}
    if "number" in names:
        names.add("integer")
    return _EVERY_TYPE & names or _EVERY_TYPE


def _choices(parts: list[Any], types: frozenset[str]) -> tuple[Any, ...] | None:
    stated = [enum for enum in _stated(parts, "enum") if isinstance(enum, list)]
    stated += [[const] for const in _stated(parts, "const")]
    if not stated:
        return None
    first, *others = stated
    # 1.0 may be written for the integer 1.
    wanted = types | {"number"} if "integer" in types else types
    return tuple(
        choice
        for choice in first
        if type_of(choice) in wanted and all(any(same(choice, one) for one in other) for other in others)
    )


def _merged(maps: list[Any]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for one in maps:
        for name, schema in one.items() if isinstance(one, Mapping) else ():
            merged[name] = _both([merged[name], schema]) if name in merged else schema
    return merged


def _both(schemas: list[Any]) -> Any:
    return True if not schemas else schemas[0] if len(schemas) == 1 else {"allOf": schemas}


def _matches(pattern: str, key: str) -> bool | None:
    """Whether a key matches; None for a pattern that Python may read differently or run on for long."""
    if "(" in pattern or len(key) > 100 or sum(map(pattern.count, "*+?{")) > 2:
        return None
    try:
        return re.search(pattern, key) is not None
    except (re.error, OverflowError, Warning):
        return None
