"""Weight: how much work it is to check data against a schema. A small one can be written that never ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Weight = Literal["light", "branching", "heavy"]
"""branching: data can be nested so that the work doubles with each level; heavy: it is too much for any."""

_MOST = 20_000
_MOST_RETURNS = 100
_NO_SCHEMA = frozenset({"const", "default", "enum", "examples", "$defs", "definitions", "required"})
_OF_NAMES = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
_ITEMS = frozenset({"items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"})
_MEMBERS = frozenset({"additionalProperties", "patternProperties", "unevaluatedProperties"})
_ELSEWHERE = ("$dynamicRef", "$recursiveRef")
Path = tuple[str, ...]
"""From some data to a part of it; `*` may be any member."""


class _Heavy(Exception):
    """It is known to be too much."""


def weight_of(schema: Any) -> Weight:
    """How heavy a schema is with each of its references written out."""
    reading = _Reading(schema)
    try:
        reading.read(schema, {"#": _Entered(())}, ())
    except (_Heavy, RecursionError):
        return "heavy"
    return "branching" if reading.branching else "light"


@dataclass(frozen=True, slots=True)
class _Entered:
    """A reference that was followed: from which data, and by which ways it was come back to."""

    at: Path
    returns: list[Path] = field(default_factory=list)


class _Reading:
    """One walk over a schema; it ends after so many steps."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._left = _MOST
        self.branching = False

    def read(self, node: Any, entered: Mapping[str, _Entered], path: Path) -> None:
        """`entered` are the references that led here, `path` the data that the node is about."""
        self._left -= 1
        if self._left < 0:
            raise _Heavy
        if not isinstance(node, Mapping):
            return
        if any(name in node for name in _ELSEWHERE):
            raise _Heavy
        if isinstance(ref := node.get("$ref"), str):
            self._follow(ref, entered, path)
        for step, part in _parts(node):
            self.read(part, entered, path + step)

    def _follow(self, ref: str, entered: Mapping[str, _Entered], path: Path) -> None:
        if ref not in entered:
            self.read(_found(self._root, ref), {**entered, ref: _Entered(path)}, path)
            return
        since, ways = entered[ref].at, entered[ref].returns
        if path == since or len(ways) >= _MOST_RETURNS:
            raise _Heavy
        self.branching = self.branching or any(_meet(way, path) for way in ways)
        ways.append(path)


def _parts(node: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    """The schemas in a schema, each with the step that leads to the data it is about."""
    for key, value in node.items():
        if key in _NO_SCHEMA or key.startswith("$"):
            continue
        if key in _OF_NAMES and isinstance(value, Mapping):
            for name, part in value.items():
                yield ((name,) if key == "properties" else ("*",) if key in _MEMBERS else ()), part
        elif isinstance(value, list):
            yield from (((("[]",) if key in _ITEMS else ()), part) for part in value)
        elif isinstance(value, Mapping):
            yield (("[]",) if key in _ITEMS else ("*",) if key in _MEMBERS else ()), value


def _found(root: Any, ref: str) -> Any:
    """What a reference within the schema stands for."""
    if ref != "#" and not ref.startswith("#/"):
        raise _Heavy  # by an anchor or an address: nobody knows how much that is
    node = root
    for part in ref[2:].split("/") if ref != "#" else ():
        name = part.replace("~1", "/").replace("~0", "~")
        node = node.get(name) if isinstance(node, Mapping) else None
    return node


def _meet(one: Path, other: Path) -> bool:
    """Whether two ways can lead to the same data."""
    return len(one) == len(other) and all(a == b or "*" in (a, b) for a, b in zip(one, other, strict=True))
