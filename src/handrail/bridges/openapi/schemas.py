"""Schemas: those of an OpenAPI document as JSON Schemas of 2020-12, with what they refer to beside them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Literal

from handrail.bridges.openapi.document import OpenAPIDocument, OpenAPIError

Direction = Literal["in", "out"]

_ONE = ("not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties")
_ONE_OR_BOOL = ("items", "additionalProperties", "additionalItems")
_MANY = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
_LEFT_OUT = frozenset(
    "nullable discriminator xml externalDocs example examples deprecated readOnly writeOnly $schema $id "
    "$comment exclusiveMinimum exclusiveMaximum required".split()
)
"""What says nothing to a model, belongs to OpenAPI alone, or is written anew."""
_SIMPLE = re.compile(r"[A-Za-z0-9_.\-]+\Z")


TranslatedRefs = dict[str, tuple[Any, frozenset[str]]]
"""By reference: the schema it leads to, translated, and the references in it."""


class SchemaTranslator:
    """Translates the schemas of one tool. Those they refer to are translated once for a whole document."""

    def __init__(self, document: OpenAPIDocument, direction: Direction, known: TranslatedRefs) -> None:
        self._document = document
        self._direction = direction
        self._hidden = "readOnly" if direction == "in" else "writeOnly"
        self._known = known
        self._refs: set[str] = set()

    def translate(self, node: Any) -> Any:
        """One schema; a boolean stands for itself."""
        if isinstance(node, bool):
            return node
        if not isinstance(node, Mapping):
            raise OpenAPIError(f"{node!r} stands where a schema belongs", remedy="correct the document")
        if isinstance(node.get("$ref"), str):
            beside = {} if self._document.is_3_0 else {key: node[key] for key in node if key != "$ref"}
            told = self._translated(beside) if beside else {}
            self._refs.add(node["$ref"])
            return {"$ref": f"#/$defs/{_name(node['$ref'])}", **told}
        return self._translated(node)

    def is_hidden(self, node: Any) -> bool:
        """Whether a property goes the other way only."""
        return isinstance(node, Mapping) and self._document.part(node).get(self._hidden) is True

    def with_defs(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The schema with all that it refers to, however far that leads."""
        defs: dict[str, Any] = {}
        left = list(self._refs)
        while left:
            ref = left.pop()
            name = _name(ref)
            if name not in defs:
                defs[name], more = self._led_to(ref)
                left += more
        return {**schema, "$defs": dict(sorted(defs.items()))} if defs else schema

    def _led_to(self, ref: str) -> tuple[Any, frozenset[str]]:
        if ref not in self._known:
            self._document.part({"$ref": ref})  # one that leads to itself has no end
            there = SchemaTranslator(self._document, self._direction, self._known)
            self._known[ref] = there.translate(self._document.at(ref)), frozenset(there._refs)
        return self._known[ref]

    def _translated(self, node: Mapping[str, Any]) -> dict[str, Any]:
        made = {
            key: value for key, value in node.items() if key not in _LEFT_OUT and not key.startswith("x-")
        }
        for key in _ONE + _ONE_OR_BOOL:
            if key in made:
                given = made[key]
                made[key] = self._several(given) if isinstance(given, list) else self.translate(given)
        for key in _MANY:
            if key in made:
                made[key] = self._several(made[key])
        for key in _NAMED:
            if isinstance(made.get(key), Mapping):
                made[key] = self._named(made[key], key == "properties")
        self._require(made, node)
        _bound(made, node)
        return self._nullable(made) if node.get("nullable") is True else made

    def _several(self, parts: Any) -> list[Any]:
        return [self.translate(part) for part in (parts if isinstance(parts, list) else [parts])]

    def _named(self, parts: Mapping[str, Any], are_properties: bool) -> dict[str, Any]:
        return {
            name: self.translate(part)
            for name, part in parts.items()
            if not (are_properties and self.is_hidden(part))
        }

    def _require(self, made: dict[str, Any], node: Mapping[str, Any]) -> None:
        required = node.get("required")
        if isinstance(required, list):
            gone = set(node.get("properties") or {}) - set(made.get("properties") or {})
            left = [name for name in required if name not in gone]
            if left:
                made["required"] = left

    def _nullable(self, made: dict[str, Any]) -> dict[str, Any]:
        kind = made.get("type")
        if isinstance(kind, str) and not any(key in made for key in _MANY):
            enum = made.get("enum")
            more = {"enum": [*enum, None]} if isinstance(enum, list) and None not in enum else {}
            return {**made, "type": [kind, "null"], **more}
        return {"anyOf": [made, {"type": "null"}]}


def _bound(made: dict[str, Any], node: Mapping[str, Any]) -> None:
    """Bounds that exclude: in 3.0 a word beside the bound, in 3.1 the bound itself."""
    for word, beside in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        value = node.get(word)
        if value is True and beside in made:
            made[word] = made.pop(beside)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            made[word] = value


def _name(ref: str) -> str:
    """A component keeps its name, unless it is odd; of any other reference, a digest."""
    head, _, last = ref.rpartition("/")
    if head == "#/components/schemas" and _SIMPLE.match(last):
        return last
    return f"schema_{hashlib.sha256(ref.encode()).hexdigest()[:10]}"
