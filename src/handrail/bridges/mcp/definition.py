"""What a server says of a tool: as data that can be pinned, compared, and made a tool of."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from handrail import Tool, from_json_schema
from handrail.bridges.mcp.server import Server, ToolRule
from handrail.bridges.mcp.weight import weight_of
from handrail.ext import LEVELS, Definition, DefinitionError, Level, humanize_field_name

if TYPE_CHECKING:
    from mcp_types import Tool as RemoteTool

_PARTS = ("title", "description", "input_schema", "output_schema", "annotations")
_LARGEST = 200_000
_LONGEST_NAME = 128
_WORDS = frozenset({"title", "description", "$comment"})
_COMPARED = frozenset({"const", "default", "enum", "examples"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_SHORT = 200
_TITLE = 80
_SENTENCE = re.compile(r"(?<=[.!?])\s")


def definition_of(tool: RemoteTool) -> Definition | None:
    """All of it that counts, or None where nobody could want it: it is too large, or has no proper name."""
    if not tool.name or len(tool.name) > _LONGEST_NAME or not tool.name.isprintable():
        return None
    told = tool.model_dump(mode="json", exclude_none=True)
    definition = {part: told[part] for part in _PARTS if told.get(part)}
    return definition if size_of(definition) <= _LARGEST else None


def size_of(definition: Definition) -> int:
    """How long it is, written as JSON."""
    return len(json.dumps(definition))


def level_of(server: Server, name: str, definition: Definition) -> Level:
    """How grave a call is. What the server claims can make it graver, never less grave than it is set."""
    rule = server.tools.get(name, ToolRule())
    if rule.level is not None:
        return rule.level
    claims = definition.get("annotations") or {}
    claimed: Level = "destructive" if claims.get("destructive_hint") is True else "read"
    return max(server.level, claimed, key=LEVELS.index)


def texts_of(name: str, definition: Definition) -> tuple[str, str]:
    """A short description for lists, and all of it where it is longer."""
    text = str(definition.get("description") or definition.get("title") or humanize_field_name(name)).strip()
    line = visible(text)
    if len(line) <= _SHORT:
        return line or "A tool of another server.", ""
    first = _SENTENCE.split(line, maxsplit=1)[0]
    guidance = "\n".join(map(visible, text.splitlines()))
    return (first if len(first) <= _SHORT else f"{line[: _SHORT - 1]}…"), guidance


def visible(text: str) -> str:
    """One line of it, without what a model would read and a person would not see."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())


def _cleaned(schema: Any) -> Any:
    """A schema whose words are visible; what data are compared with stays as it is."""
    if isinstance(schema, list):
        return [_cleaned(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {key: _cleaned_part(key, value) for key, value in schema.items()}


def _cleaned_part(key: str, value: Any) -> Any:
    if key in _WORDS and isinstance(value, str):
        return "\n".join(map(visible, value.splitlines()))
    if key in _NAMED and isinstance(value, Mapping):
        return {name: _cleaned(part) for name, part in value.items()}
    return value if key in _COMPARED else _cleaned(value)


def outline(tool_id: str, name: str, server: Server, definition: Definition) -> Tool:
    """The tool as a menu shows it, not loaded."""
    return Tool(
        id=tool_id,
        description=texts_of(name, definition)[0],
        category=server.prefix,
        level=level_of(server, name, definition),
        origin="mcp",
    )


def tool_of(tool_id: str, name: str, server: Server, definition: Definition, execute: Any) -> Tool:
    """The tool as it is called. A schema that cannot be used raises `DefinitionError`."""
    if weight_of(definition.get("input_schema")) == "heavy":
        remedy = "leave it out, or ask whoever runs the server for a flatter schema"
        raise DefinitionError("its schema takes too long to check anything against", remedy=remedy)
    output = definition.get("output_schema")  # a promise that is too costly to check is none
    description, guidance = texts_of(name, definition)
    rule = server.tools.get(name, ToolRule())
    title = definition.get("title") or (definition.get("annotations") or {}).get("title")
    made: Tool = from_json_schema(
        tool_id,
        _cleaned(definition.get("input_schema") or {"type": "object"}),
        execute=execute,
        description=description,
        guidance=guidance,
        name=visible(str(title or humanize_field_name(name)))[:_TITLE] or name,
        category=server.prefix,
        level=level_of(server, name, definition),
        idempotent=rule.idempotent,
        output=_cleaned(output) if weight_of(output) == "light" else None,
        timeout=server.timeout,
        origin="mcp",
    )
    return replace(made, place=None)


def differences(old: Definition | None, new: Definition | None) -> list[str]:
    """What changed, a line for each part, for whoever is to accept it."""
    before, now = old or {}, new or {}
    parts = ((part, before.get(part), now.get(part)) for part in _PARTS)
    changes = [f"{part}: {_shown(one)} → {_shown(other)}" for part, one, other in parts if one != other]
    return ["it is new", *changes] if old is None else changes


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    return json.dumps(value, sort_keys=True) if isinstance(value, Mapping) else ascii(value)
