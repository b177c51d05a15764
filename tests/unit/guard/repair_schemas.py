"""Small schemas and helpers for the tests of repair."""

from __future__ import annotations

import json
from typing import Any

from handrail.core.guard.repair import repair

INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
BOOLEAN = {"type": "boolean"}
STRING = {"type": "string"}
NULL = {"type": "null"}
STRINGS = {"type": "array", "items": STRING}
INTEGERS = {"type": "array", "items": INTEGER}
STATUS = {"enum": ["todo", "in_progress", "done"]}
POINT = {
    "type": "object",
    "properties": {"x": INTEGER, "y": INTEGER},
    "required": ["x"],
    "additionalProperties": False,
}


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def described(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "description": description}


def either(*branches: Any) -> dict[str, Any]:
    return {"anyOf": list(branches)}


def repaired(value: Any, schema: Any) -> Any:
    """The value after repair, as the required parameter `p`."""
    args, _ = repair({"p": value}, {**closed(p=schema), "required": ["p"]})
    return args.get("p")


def exactly(value: Any) -> str:
    """JSON text, because 1, 1.0 and True are equal in Python."""
    return json.dumps(value)
