"""Schemas: those of an OpenAPI document as JSON Schemas of 2020-12, with what they refer to beside them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Literal

from handrail.bridges.openapi.document import OpenAPIDocument, OpenAPIError

Direction = Literal["in", "out"]

_ONE = frozenset(
    "not if then else contains propertyNames unevaluatedItems unevaluatedProperties items additionalItems "
    "additionalProperties".split()
)
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

    def __init__(
        self, document: OpenAPIDocument, direction: Direction, translated_refs: TranslatedRefs
    ) -> None:
        self._document = document
        self._direction = direction
        self._hidden = "readOnly" if direction == "in" else "writeOnly"
        self._translated_refs = translated_refs
        self._refs: set[str] = set()

    def translate(self, node: Any) -> Any:
        """One schema; a boolean stands for itself."""
        if isinstance(node, bool):
            return node
        if not isinstance(node, Mapping):
            raise OpenAPIError(f"{node!r} stands where a schema belongs", remedy="correct the document")
        if isinstance(node.get("$ref"), str):
            beside = {} if self._document.is_3_0 else {key: node[key] for key in node if key != "$ref"}
            self._refs.add(node["$ref"])
            more = self._translated(beside) if beside else {}
            return {"$ref": f"#/$defs/{_name(node['$ref'])}", **more}
        return self._translated(node)

    def is_hidden(self, node: Any) -> bool:
        """Whether a property goes the other way only."""
        return isinstance(node, Mapping) and self._document.part(node).get(self._hidden) is True

    def with_defs(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The schema with all that it refers to, however far that leads."""
        defs: dict[str, Any] = {}
        pending = list(self._refs)
        while pending:
            ref = pending.pop()
            name = _name(ref)
            if name not in defs:
                defs[name], more = self._target(ref)
                pending += more
        return {**schema, "$defs": dict(sorted(defs.items()))} if defs else schema

    def _target(self, ref: str) -> tuple[Any, frozenset[str]]:
        """The schema that a reference leads to, and the references in it."""
        if ref not in self._translated_refs:
            self._document.part({"$ref": ref})  # one that leads to itself has no end
            inner = SchemaTranslator(self._document, self._direction, self._translated_refs)
            self._translated_refs[ref] = inner.translate(self._document.at(ref)), frozenset(inner._refs)
        return self._translated_refs[ref]

    def _translated(self, node: Mapping[str, Any]) -> dict[str, Any]:
        schema = {
            key: value for key, value in node.items() if key not in _LEFT_OUT and not key.startswith("x-")
        }
        for key, value in schema.items():
            if key in _MANY or (key in _ONE and isinstance(value, list)):
                parts = value if isinstance(value, list) else [value]
                schema[key] = [self.translate(part) for part in parts]
            elif key in _ONE:
                schema[key] = self.translate(value)
            elif key in _NAMED and isinstance(value, Mapping):
                schema[key] = {
                    name: self.translate(part)
                    for name, part in value.items()
                    if not (key == "properties" and self.is_hidden(part))
                }
        _require(schema, node)
        _bound(schema, node)
        return _nullable(schema) if node.get("nullable") is True else schema


def _require(schema: dict[str, Any], node: Mapping[str, Any]) -> None:
    required = node.get("required")
    if isinstance(required, list):
        hidden = set(node.get("properties") or {}) - set(schema.get("properties") or {})
        names = [name for name in required if name not in hidden]
        if names:
            schema["required"] = names


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if isinstance(kind, str) and not any(key in schema for key in _MANY):
        enum = schema.get("enum")
        more = {"enum": [*enum, None]} if isinstance(enum, list) and None not in enum else {}
        return {**schema, "type": [kind, "null"], **more}
    return {"anyOf": [schema, {"type": "null"}]}


def _bound(schema: dict[str, Any], node: Mapping[str, Any]) -> None:
    """Bounds that exclude: in 3.0 a word beside the bound, in 3.1 the bound itself."""
    for word, beside in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        value = node.get(word)
        if value is True and beside in schema:
            schema[word] = schema.pop(beside)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            schema[word] = value


def _name(ref: str) -> str:
    """A component keeps its name, unless it is odd; of any other reference, a digest."""
    head, _, last = ref.rpartition("/")
    if head == "#/components/schemas" and _SIMPLE.match(last):
        return last
    return f"schema_{hashlib.sha256(ref.encode()).hexdigest()[:10]}"
