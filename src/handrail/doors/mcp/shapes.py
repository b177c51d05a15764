"""Shapes: an output as clients know it. Before 2026, structured content was always an object. Pure."""

from __future__ import annotations

from typing import Any

from handrail.core.define.tool import Tool
from handrail.core.define.validation import Invalid
from handrail.core.run.normalise import is_described

_HOISTED = ("$defs", "definitions")


def output_schema(tool: Tool, modern: bool) -> dict[str, Any] | None:
    """What a client is told of a tool's output; None where nothing can be promised to it."""
    schema = tool.output_schema
    if schema is None or not is_described(tool):
        return None
    if modern or schema.get("type") == "object":
        return dict(schema)
    if _names_itself(schema):
        return None
    inner = {name: part for name, part in schema.items() if name not in (*_HOISTED, "$schema")}
    hoisted = {name: schema[name] for name in _HOISTED if name in schema}
    return {"type": "object", "properties": {"result": inner}, "required": ["result"], **hoisted}


def structured(tool: Tool | None, data: Any, modern: bool) -> dict[str, Any]:
    """The structured content of a success: under its name in the answer, or nothing."""
    promised = None if tool is None else output_schema(tool, modern)
    if data is None and not (tool is not None and promised is not None and _may_be_null(tool)):
        return {}
    if modern:
        return {"structuredContent": data}
    assert tool is None or promised is None or tool.output_schema is not None
    if tool is not None and promised is not None and (tool.output_schema or {}).get("type") != "object":
        return {"structuredContent": {"result": data}}
    return {"structuredContent": data} if isinstance(data, dict) else {}


def _may_be_null(tool: Tool) -> bool:
    if tool.check_output is None:
        return False
    try:
        return tool.check_output(None) is None
    except (Invalid, ValueError, TypeError):
        return False


def _names_itself(schema: Any) -> bool:
    """Whether a schema refers to itself as a whole, and so cannot stand inside another."""
    if isinstance(schema, dict):
        return schema.get("$ref") == "#" or any(map(_names_itself, schema.values()))
    return isinstance(schema, list) and any(map(_names_itself, schema))
