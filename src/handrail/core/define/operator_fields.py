"""Operator fields: arguments that are for those who look after a tool, and for no visitor of a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from handrail.core.define.field_specs import form_spec_of
from handrail.core.define.schema import resolve
from handrail.core.define.tool import Tool

MARK = "x-operator-only"
"""In a schema: this property is for operators. In a form, the hint `operator_only` says the same."""
_DEEPEST = 12


def operator_paths(tool: Tool) -> tuple[str, ...]:
    """The paths of the fields that are for operators only: names with dots between, `*` for any item."""
    spec = form_spec_of(f"tool:{tool.slug}") or tool.form
    hinted: Mapping[str, Any] = {} if spec is None else spec.hints
    found = {
        path for path, hints in hinted.items() if isinstance(hints, Mapping) and hints.get("operator_only")
    }
    return tuple(sorted(found | set(_marked(tool.input_schema, "", _DEEPEST, tool.input_schema))))


def without_operator_fields(tool: Tool, args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without what is for operators: the tool's defaults stand in its place."""
    left: Any = dict(args)
    for path in operator_paths(tool):
        left = _without(left, tuple(path.split(".")))
    return dict(left)


def unfilled_operator_fields(tool: Tool) -> list[str]:
    """Fields for operators that a call cannot be without: no visitor can make one."""
    needed = set(tool.input_schema.get("required", ()))
    return [path for path in operator_paths(tool) if path in needed]


def _marked(schema: Any, path: str, depth: int, whole: Any) -> Iterator[str]:
    if not isinstance(schema, Mapping) or depth == 0:
        return
    schema = resolve(schema, whole)
    if path and schema.get(MARK) is True:
        yield path
        return
    for name in ("anyOf", "oneOf", "allOf"):
        for part in schema.get(name, ()):
            yield from _marked(part, path, depth - 1, whole)
    properties = schema.get("properties")
    for name, part in (properties if isinstance(properties, Mapping) else {}).items():
        yield from _marked(part, f"{path}.{name}" if path else str(name), depth - 1, whole)
    yield from _marked(schema.get("items"), f"{path}.*" if path else "*", depth - 1, whole)


def _without(value: Any, path: tuple[str, ...]) -> Any:
    head, rest = path[0], path[1:]
    if isinstance(value, Mapping):
        reached = list(value) if head == "*" else [head]
        if not rest:
            return {name: part for name, part in value.items() if name not in reached}
        return {name: _without(part, rest) if name in reached else part for name, part in value.items()}
    if isinstance(value, list) and head == "*":
        return [_without(item, rest) for item in value] if rest else []
    return value
