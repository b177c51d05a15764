"""JSON Schema: from Python types to what a model sees, and what to watch for in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

JsonSchema = dict[str, Any]

_COMBINATORS = ("oneOf", "anyOf", "allOf", "not", "if", "then", "else", "enum", "const")


class _Emit(GenerateJsonSchema):
    """Without the titles pydantic derives from names: they cost tokens and say nothing new."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema_of(kind: type[BaseModel] | TypeAdapter[Any], mode: JsonSchemaMode) -> JsonSchema:
    """The JSON Schema (2020-12) of a Python type, as it goes in (validation) or comes out (serialization)."""
    if isinstance(kind, TypeAdapter):
        schema = kind.json_schema(schema_generator=_Emit, mode=mode)
    else:
        schema = kind.model_json_schema(schema_generator=_Emit, mode=mode)
    own = kind.__name__ if isinstance(kind, type) else schema.get("title")
    _drop_title(schema, own)
    for name, definition in schema.get("$defs", {}).items():
        _drop_title(definition, name)
    return schema


def _drop_title(schema: JsonSchema, derived: str | None) -> None:
    if derived is not None and schema.get("title") == derived:
        del schema["title"]


def provider_schema(schema: Mapping[str, Any]) -> JsonSchema:
    """The input schema in the shape providers take: an object with properties at the top.

    What only a validator can read (top-level combinators) is left out here and still enforced by the guard.
    """
    top = dict(resolve(schema, schema))
    if "$defs" in schema:
        top.setdefault("$defs", schema["$defs"])
    if "definitions" in schema:
        top.setdefault("definitions", schema["definitions"])
    properties = dict(top.get("properties", {}))
    for part in top.get("allOf", ()):
        part = resolve(part, schema)
        properties = {**part.get("properties", {}), **properties}
    emitted: JsonSchema = {"type": "object", "properties": properties}
    for key, value in top.items():
        if key not in emitted and key not in _COMBINATORS and key not in ("$ref", "$schema", "$id"):
            emitted[key] = value
    return emitted


def resolve(node: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema a local `$ref` points to, keys beside it kept; anything else as it is."""
    seen = 0
    while isinstance(node, Mapping) and isinstance(node.get("$ref"), str) and seen < 32:
        target = pointer(root, node["$ref"])
        if target is None:
            return node
        beside = {key: value for key, value in node.items() if key != "$ref"}
        node = {**target, **beside}
        seen += 1
    return node if isinstance(node, Mapping) else {}


def pointer(root: Mapping[str, Any], ref: str) -> Mapping[str, Any] | None:
    """What `#/$defs/name` points to, or None."""
    if not ref.startswith("#"):
        return None
    here: Any = root
    for token in ref[1:].split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        if not isinstance(here, Mapping) or token not in here:
            return None
        here = here[token]
    return here if isinstance(here, Mapping) else None


def open_maps(schema: Mapping[str, Any]) -> Iterator[str]:
    """Where values of any kind are taken under any name: strict providers may refuse such a schema."""
    stack: list[tuple[str, Any]] = [("", schema)]
    while stack:
        path, node = stack.pop()
        if isinstance(node, Mapping):
            if node.get("additionalProperties", False) in ({}, True) and not node.get("properties"):
                yield path or "/"
            stack += [(f"{path}/{key}", value) for key, value in node.items()]
        elif isinstance(node, list):
            stack += [(f"{path}/{index}", value) for index, value in enumerate(node)]


def canonical(value: Any) -> bytes:
    """One spelling for one JSON value, whatever the order of its keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str).encode()


def digest_of(value: Any) -> str:
    """A short fingerprint of a JSON value."""
    return hashlib.sha256(canonical(value)).hexdigest()
