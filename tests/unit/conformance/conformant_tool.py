"""A tool that keeps every rule, to be spoiled in one way at a time."""

from __future__ import annotations

from typing import Any

from handrail import Tool, define
from handrail.conformance import Finding, check

LIMIT = {"type": "integer", "minimum": 1, "default": 10, "examples": [5], "description": "How many at most."}


def schema(**properties: Any) -> dict[str, Any]:
    """An object schema with these properties, and nothing else allowed."""
    return {"type": "object", "properties": properties, "additionalProperties": False}


def good(tool_id: str = "data.search", **changes: Any) -> Tool:
    """The tool, with some options changed."""
    given: dict[str, Any] = {
        "description": "Search the records of a region, newest first.",
        "level": "read",
        "input": schema(limit=LIMIT),
        "output": {"type": "array", "items": {"type": "string"}},
        "execute": lambda args: [],
    }
    return define(tool_id, {**given, **changes})


def findings(tool: Tool, *rules: str, **options: Any) -> list[Finding]:
    """What is found about a tool, by these rules or by all."""
    return [one for one in check([tool], **options) if not rules or one.rule in rules]
