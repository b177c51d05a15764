"""JSON Schema as a form needs it: references followed, parts merged, and which branch a value fits best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from handrail.core.define.schema import resolve

ResolvedSchema = dict[str, Any]

CONDITIONS = "\0when"
"""Under this name: pairs of a condition and the properties that come with it."""
_MAX_DEPTH = 16

_ONLY_RESTRICTS = frozenset(
    {"required", "not", "if", "then", "else", "dependentRequired", "minProperties", "description"}
)
_ANNOTATIONS = ("title", "description", "default", "examples")


def resolve_schema(node: Any, root: Mapping[str, Any]) -> tuple[ResolvedSchema, frozenset[str]]:
    """The shape of a schema, and the references that led to it."""
    met: set[str] = set()
    schema = _resolved(node, root, met, 0)
    return schema, frozenset(met)


def _resolved(node: Any, root: Mapping[str, Any], seen: set[str], depth: int) -> ResolvedSchema:
    if not isinstance(node, Mapping) or depth > _MAX_DEPTH:
        return {}
    ref = node.get("$ref")
    if isinstance(ref, str):
        seen.add(ref)
        node = resolve(node, root)
    schema = _with_conditions(node)
    for part in schema.pop("allOf", None) or ():
        own = {key: schema[key] for key in _ANNOTATIONS if key in schema}
        schema = {**_merged(schema, _resolved(part, root, seen, depth + 1)), **own}
    return schema


def _with_conditions(node: Mapping[str, Any]) -> ResolvedSchema:
    """A copy whose conditions stand together in one list."""
    schema = dict(node)
    schema.pop("$ref", None)
    conditions: list[tuple[Any, Any]] = []
    test = schema.pop("if", None)
    then, other = schema.pop("then", None), schema.pop("else", None)
    if test is not None:
        conditions += [(test, then)] if isinstance(then, Mapping) else []
        conditions += [({"not": test}, other)] if isinstance(other, Mapping) else []
    for key in ("dependentSchemas", "dependencies"):
        depends = schema.pop(key, None)
        for name, part in depends.items() if isinstance(depends, Mapping) else ():
            if isinstance(part, Mapping):
                conditions.append(({"required": [name]}, part))
    if conditions:
        schema[CONDITIONS] = conditions
    return schema


def _merged(first: ResolvedSchema, second: ResolvedSchema) -> ResolvedSchema:
    """What both say together."""
    both: ResolvedSchema = {**first, **second}
    for key in ("properties", "patternProperties"):
        if isinstance(first.get(key), Mapping) and isinstance(second.get(key), Mapping):
            both[key] = _merged_properties(first[key], second[key])
    if isinstance(first.get("required"), list) and isinstance(second.get("required"), list):
        both["required"] = list(dict.fromkeys([*first["required"], *second["required"]]))
    if "type" in first and "type" in second:
        both["type"] = _common_types(first["type"], second["type"])
    if isinstance(first.get("enum"), list) and isinstance(second.get("enum"), list):
        both["enum"] = [value for value in first["enum"] if value in second["enum"]] or first["enum"]
    if CONDITIONS in first and CONDITIONS in second:
        both[CONDITIONS] = [*first[CONDITIONS], *second[CONDITIONS]]
    return both


def _merged_properties(first: Mapping[str, Any], second: Mapping[str, Any]) -> ResolvedSchema:
    return {
        **first,
        **{name: {"allOf": [first[name], part]} if name in first else part for name, part in second.items()},
    }


def _common_types(first: Any, second: Any) -> Any:
    types = first if isinstance(first, list) else [first]
    others = second if isinstance(second, list) else [second]
    shared = [kind for kind in types if kind in others]
    if not shared and {"integer", "number"} <= {*types, *others}:
        shared = ["integer"]
    return shared[0] if len(shared) == 1 else shared or first


def merge_branch(schema: ResolvedSchema, part: ResolvedSchema) -> ResolvedSchema:
    """A branch together with what stands beside the choice; the branch has its own words."""
    base = {key: value for key, value in schema.items() if key not in ("oneOf", "anyOf", *_ANNOTATIONS)}
    return _merged(base, part)


def branches_of(schema: ResolvedSchema, root: Mapping[str, Any]) -> list[tuple[Any, ResolvedSchema]]:
    """The branches of a choice, each as written and as its shape; none if they only restrict."""
    for key in ("oneOf", "anyOf"):
        written = schema.get(key)
        if isinstance(written, list) and written:
            branches = [(node, resolve_schema(node, root)[0]) for node in written]
            if not all(set(branch) <= _ONLY_RESTRICTS for _, branch in branches):
                return branches
    return []


def is_null(schema: ResolvedSchema) -> bool:
    return schema.get("type") == "null" or schema.get("const", 0) is None or schema.get("enum") == [None]


def conditional_properties(schema: ResolvedSchema, root: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Properties that come with a condition: name, schema, condition. Also those of the choices inside."""
    for test, part in schema.get(CONDITIONS, ()):
        inner, _ = resolve_schema(part, root)
        for source in (inner, *(branch for _, branch in branches_of(inner, root))):
            for name, node in (source.get("properties") or {}).items():
                yield name, node, test
        for name, node, further in conditional_properties(inner, root):
            yield name, node, {"allOf": [test, further]}


_PYTHON_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "array": list,
    "object": dict,
    "integer": int,
    "number": (int, float),
}


_KEYWORDS = {
    "object": ("properties", "additionalProperties", "patternProperties"),
    "array": ("items", "prefixItems"),
    "string": ("pattern", "minLength", "maxLength", "format", "contentMediaType"),
    "number": ("minimum", "maximum", "multipleOf", "exclusiveMinimum"),
}
"""By type: what only a schema of that type says."""


def types_of(schema: ResolvedSchema) -> list[str]:
    """The types that a shape says or lets one guess."""
    types = schema.get("type")
    if types is not None:
        return list(types) if isinstance(types, list) else [types]
    guessed = (name for name, keywords in _KEYWORDS.items() if any(key in schema for key in keywords))
    return list(islice(guessed, 1))


def is_of_type(value: Any, kind: str) -> bool:
    if kind == "null":
        return value is None
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return kind in _PYTHON_TYPES and isinstance(value, _PYTHON_TYPES[kind])


def match_score(schema: ResolvedSchema, root: Mapping[str, Any], value: Any, depth: int = 0) -> int:
    """More is better; below zero the value has another shape."""
    kinds = types_of(schema)
    if kinds and not any(is_of_type(value, kind) for kind in kinds):
        return -1000
    if "const" in schema and schema["const"] != value:
        return -500
    if isinstance(schema.get("enum"), list) and value not in schema["enum"]:
        return -500
    score = 1 if kinds else 0
    if isinstance(value, dict) and depth < 4:
        score += _object_match_score(schema, root, value, depth)
    if isinstance(value, list) and value and isinstance(schema.get("items"), Mapping) and depth < 4:
        score += min(
            match_score(resolve_schema(schema["items"], root)[0], root, item, depth + 1) for item in value[:5]
        )
    return score


def _object_match_score(
    schema: ResolvedSchema, root: Mapping[str, Any], value: Mapping[str, Any], depth: int
) -> int:
    score = 0
    properties = schema.get("properties") or {}
    for name, part in value.items():
        if name not in properties:
            score -= 3 if schema.get("additionalProperties") is False else 1
            continue
        inner = match_score(resolve_schema(properties[name], root)[0], root, part, depth + 1)
        score += 3 if inner >= 0 else -50 if inner > -1000 else -20
    return score - 10 * sum(name not in value for name in schema.get("required") or ())
