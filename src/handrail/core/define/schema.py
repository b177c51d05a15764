"""JSON Schema: from Python types to what a model sees, and what to watch for in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import unquote

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaWarningKind

JsonSchema = dict[str, Any]

_COMBINATORS = ("oneOf", "anyOf", "allOf", "not", "if", "then", "else", "enum", "const")
_IDENTITY = ("$ref", "$schema", "$id")
_PRINTED_DECIMAL = r"^-?\d+(\.\d+)?(E[+-]?\d+)?$"
_MAX_HOPS = 32


class _Emit(GenerateJsonSchema):
    """Pydantic's schemas as a model should read them.

    Without the titles derived from names, which cost tokens and say nothing new. Objects that leave open what
    happens to unknown names say that they are refused, as the guard does.
    """

    ignored_warning_kinds: ClassVar[set[JsonSchemaWarningKind]] = {  # type: ignore[misc]
        "skipped-choice",
        "non-serializable-default",
    }

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def decimal_schema(self, schema: Any) -> JsonSchema:
        emitted = super().decimal_schema(schema)
        for part in emitted.get("anyOf", [emitted]):
            if part.get("type") == "string":
                pattern = _decimal(schema.get("decimal_places"))
                part["pattern"] = pattern if self.mode == "validation" else _PRINTED_DECIMAL
        return emitted

    def tagged_union_schema(self, schema: Any) -> JsonSchema:
        emitted = super().tagged_union_schema(schema)
        emitted.pop("discriminator", None)  # OpenAPI's word; each branch names its tag as a constant
        return emitted

    def model_schema(self, schema: Any) -> JsonSchema:
        return self._closed(super().model_schema(schema), "extra" in schema["cls"].model_config)

    def dataclass_schema(self, schema: Any) -> JsonSchema:
        return self._closed(super().dataclass_schema(schema), _decided(schema))

    def typed_dict_schema(self, schema: Any) -> JsonSchema:
        return self._closed(super().typed_dict_schema(schema), _decided(schema))

    def _closed(self, emitted: JsonSchema, decided: bool) -> JsonSchema:
        if self.mode == "validation" and not decided and "properties" in emitted:
            emitted.setdefault("additionalProperties", False)
        return emitted


def _decimal(places: int | None) -> str:
    """The text of a decimal number, as a person would write it."""
    if places is None:
        return r"^-?\d+(\.\d+)?$"
    return rf"^-?\d+(\.\d{{1,{places}}})?$" if places else r"^-?\d+$"


def _decided(schema: Mapping[str, Any]) -> bool:
    return "extra_fields_behavior" in (schema.get("config") or {})


def schema_of(
    kind: type[BaseModel] | TypeAdapter[Any], mode: JsonSchemaMode, name: str | None = None
) -> JsonSchema:
    """The JSON Schema (2020-12) of a Python type, as it goes in (validation) or comes out (serialization)."""
    if isinstance(kind, TypeAdapter):
        schema = kind.json_schema(schema_generator=_Emit, mode=mode)
    else:
        schema = kind.model_json_schema(schema_generator=_Emit, mode=mode)
    for own, definition in schema.get("$defs", {}).items():
        _drop_title(definition, own)
    if "$ref" in schema:  # a recursive type stands among its own definitions; its parts belong at the top
        schema = {**resolve(schema, schema), "$defs": schema["$defs"]}
    _drop_title(schema, name or getattr(kind, "__name__", None))
    return schema


def _drop_title(schema: JsonSchema, derived: str | None) -> None:
    if derived is not None and schema.get("title") == derived:
        del schema["title"]


def provider_schema(schema: Mapping[str, Any]) -> JsonSchema:
    """The input schema in the shape providers take: an object with properties at the top.

    The properties of top-level `allOf`, `anyOf` and `oneOf` are shown together; which of them go together is
    left out here and still enforced by the guard.
    """
    top = resolve(schema, schema)
    properties, required = _flat(top, schema, set())
    emitted: JsonSchema = {"type": "object", "properties": properties}
    definitions = {name: schema[name] for name in ("$defs", "definitions") if name in schema}
    for key, value in {**top, **definitions}.items():
        if key not in emitted and key not in _COMBINATORS and key not in _IDENTITY:
            emitted[key] = value
    if required:
        emitted["required"] = required
    return emitted


def _flat(node: Mapping[str, Any], root: Mapping[str, Any], seen: set[int]) -> tuple[JsonSchema, list[str]]:
    """Properties and required names of an object schema, those of its combinators included."""
    properties: JsonSchema = dict(node.get("properties") or {})
    required = list(node.get("required") or ())
    for part in _parts(node, ("allOf",), root, seen):
        more, needed = _flat(part, root, seen)
        properties = {**more, **properties}
        required += needed
    for key in ("anyOf", "oneOf"):
        variants = [_flat(part, root, seen) for part in _parts(node, (key,), root, seen)]
        for name, choices in _choices([more for more, _ in variants]).items():
            properties.setdefault(name, choices[0] if len(choices) == 1 else {"anyOf": choices})
        if variants:
            common = set.intersection(*(set(needed) for _, needed in variants))
            required += [name for name in variants[0][1] if name in common]
    return properties, list(dict.fromkeys(required))


def _parts(
    node: Mapping[str, Any], keys: tuple[str, ...], root: Mapping[str, Any], seen: set[int]
) -> Iterator[Mapping[str, Any]]:
    """The parts under a node's combinators, each of a schema only once, so that recursion ends."""
    for key in keys:
        for part in node.get(key) or ():
            if id(part) not in seen:
                seen.add(id(part))
                yield resolve(part, root)


def _choices(variants: list[JsonSchema]) -> dict[str, list[Any]]:
    """For each property its different schemas among the variants of an object."""
    choices: dict[str, list[Any]] = {}
    for variant in variants:
        for name, part in variant.items():
            schemas = choices.setdefault(name, [])
            if part not in schemas:
                schemas.append(part)
    return choices


def resolve(node: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema a local `$ref` points to, with what stands beside the reference; anything else as it is."""
    hops = 0
    while isinstance(node, Mapping) and isinstance(node.get("$ref"), str) and hops < _MAX_HOPS:
        target = resolve_pointer(root, node["$ref"])
        if target is None:
            return node
        node = _joined(target, {key: value for key, value in node.items() if key != "$ref"})
        hops += 1
    return node if isinstance(node, Mapping) else {}


def _joined(target: Mapping[str, Any], beside: Mapping[str, Any]) -> Mapping[str, Any]:
    if not beside:
        return target
    joined = {**target, **beside}
    if isinstance(target.get("properties"), Mapping) and isinstance(beside.get("properties"), Mapping):
        joined["properties"] = {**target["properties"], **beside["properties"]}
    if isinstance(target.get("required"), list) and isinstance(beside.get("required"), list):
        joined["required"] = list(dict.fromkeys([*target["required"], *beside["required"]]))
    return joined


def resolve_pointer(root: Mapping[str, Any], ref: str) -> Mapping[str, Any] | None:
    """What `#/$defs/name` or `#anchor` points to, or None."""
    if not ref.startswith("#"):
        return None
    pointer = unquote(ref[1:])
    if pointer and not pointer.startswith("/"):
        return _anchored(root, pointer)
    node: Any = root
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and token.isdecimal() and int(token) < len(node):
            node = node[int(token)]
        elif isinstance(node, Mapping) and token in node:
            node = node[token]
        else:
            return None
    return node if isinstance(node, Mapping) else None


def _anchored(root: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    return next((node for node in objects_in(root) if node.get("$anchor") == name), None)


def objects_in(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Every object inside a schema."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping):
            yield node
            stack += node.values()
        elif isinstance(node, list):
            stack += node


def objects_at(schema: Mapping[str, Any], path: tuple[int | str, ...]) -> list[Mapping[str, Any]]:
    """The schemas that may describe the value at a path: one, or each branch of a union."""
    nodes = list(branches(schema, schema))
    for part in path:
        steps = {id(step): step for node in nodes if (step := _step(node, part)) is not None}
        nodes = [branch for step in steps.values() for branch in branches(step, schema)]
    return nodes


def branches(
    node: Any, root: Mapping[str, Any], keys: tuple[str, ...] = ("allOf", "anyOf", "oneOf")
) -> Iterator[Mapping[str, Any]]:
    """A schema and the parts of its combinators, all the way down."""
    seen: set[int] = set()
    stack = [resolve(node, root)]
    while stack:
        part = stack.pop()
        yield part
        stack += _parts(part, keys, root, seen)


def _step(node: Mapping[str, Any], part: int | str) -> Any:
    if isinstance(part, int):
        prefix = node.get("prefixItems") or []
        return prefix[part] if part < len(prefix) else node.get("items")
    properties = node.get("properties") or {}
    return properties[part] if part in properties else node.get("additionalProperties")


def canonical_json(value: Any) -> bytes:
    """One spelling for one JSON value, whatever the order of its keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str).encode()


def digest_of(value: Any) -> str:
    """A short fingerprint of a JSON value."""
    return hashlib.sha256(canonical_json(value)).hexdigest()
