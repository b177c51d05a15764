"""walk: the parts of a JSON Schema that describe values, each once, under a name that people can read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from handrail.core.define.schema import resolve_pointer as target_of

_COMBINATORS = ("allOf", "anyOf", "oneOf")
_DEFINITIONS = ("$defs", "definitions")


@dataclass(frozen=True, slots=True)
class SchemaPart:
    """One schema inside another."""

    path: str
    """For people: `note.title`, `rows[].name`; empty for the whole."""
    pointer: str
    """For machines: `#/properties/note`."""
    node: Mapping[str, Any]
    declared: frozenset[str] = frozenset()
    """Names that the object already declares where this part is one more condition on it."""

    @property
    def name(self) -> str:
        return self.path or "the input as a whole"


def schema_parts(schema: Mapping[str, Any]) -> Iterator[SchemaPart]:
    """Every part of a schema that says what a value looks like.

    A definition is visited where it is referred to, and only once, so that recursion ends. Conditions (`not`,
    `if`, `then`, `else`) describe no value of their own and are left out.
    """
    seen: set[str] = set()
    stack = [SchemaPart("", "#", schema)]
    while stack:
        part = stack.pop()
        if part.pointer in seen or not isinstance(part.node, Mapping):
            continue
        seen.add(part.pointer)
        yield part
        stack += reversed([*_children(part), *_referred(part, schema)])


def _children(part: SchemaPart) -> Iterator[SchemaPart]:
    node, path, pointer = part.node, part.path, part.pointer
    for name, inner in _mapping(node.get("properties")).items():
        yield SchemaPart(_below(path, name), f"{pointer}/properties/{_token(name)}", inner)
    for pattern, inner in _mapping(node.get("patternProperties")).items():
        yield SchemaPart(_below(path, "*"), f"{pointer}/patternProperties/{_token(pattern)}", inner)
    if others := _mapping(node.get("additionalProperties")):
        yield SchemaPart(_below(path, "*"), f"{pointer}/additionalProperties", others)
    items = node.get("items")
    for key, several in (("items", items), ("prefixItems", node.get("prefixItems"))):
        for index, inner in enumerate(several if isinstance(several, list) else ()):
            yield SchemaPart(f"{path}[{index}]", f"{pointer}/{key}/{index}", inner)
    if isinstance(items, Mapping):
        yield SchemaPart(f"{path}[]", f"{pointer}/items", items)
    declared = part.declared | _mapping(node.get("properties")).keys()
    for key in _COMBINATORS:
        several = node.get(key)
        for index, inner in enumerate(several if isinstance(several, list) else ()):
            yield SchemaPart(path, f"{pointer}/{key}/{index}", inner, declared)


def _referred(part: SchemaPart, root: Mapping[str, Any]) -> Iterator[SchemaPart]:
    """The definition that a part refers to; it goes by its own name."""
    ref = part.node.get("$ref")
    if not isinstance(ref, str) or (target := target_of(root, ref)) is None:
        return
    way = ref.split("/")
    named = len(way) == 3 and way[1] in _DEFINITIONS
    yield SchemaPart(way[2] if named else part.path, ref, target, part.declared)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _token(name: str) -> str:
    """A name as a step of a JSON pointer in an address."""
    return quote(str(name).replace("~", "~0").replace("/", "~1"), safe="~$")
