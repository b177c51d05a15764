"""What a server says of a tool: as data that can be pinned, compared, weighed, and made a tool of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from handrail import Tool, from_json_schema
from handrail.bridges.mcp.server_settings import Server, ToolRule
from handrail.ext.errors import DefinitionError
from handrail.ext.forms import humanize_field_name
from handrail.ext.guard import LEVELS, Level
from handrail.ext.toolsets import Definition

if TYPE_CHECKING:
    from mcp_types import Tool as RemoteTool

SchemaCost = Literal["light", "branching", "heavy"]
"""branching: data can be nested so that the work doubles with each level; heavy: it is too much for any."""
_MAX_STEPS = 20_000
_MAX_RETURNS = 100
_NO_SCHEMA = frozenset({"const", "default", "enum", "examples", "$defs", "definitions", "required"})
_OF_NAMES = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
_ITEMS = frozenset({"items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"})
_MEMBERS = frozenset({"additionalProperties", "patternProperties", "unevaluatedProperties"})
_ELSEWHERE = ("$dynamicRef", "$recursiveRef")

DataPath = tuple[str, ...]
"""From some data to a part of it; `*` may be any member."""


class _TooCostly(Exception):
    """It is known to be too much."""


def schema_cost(schema: Any) -> SchemaCost:
    """How heavy a schema is with each of its references written out."""
    walk = _SchemaWalk(schema)
    try:
        walk.read(schema, {"#": _FollowedRef(())}, ())
    except (_TooCostly, RecursionError):
        return "heavy"
    return "branching" if walk.branching else "light"


@dataclass(frozen=True, slots=True)
class _FollowedRef:
    """A reference that was followed: from which data, and by which ways it was come back to."""

    at: DataPath
    returns: list[DataPath] = field(default_factory=list)


class _SchemaWalk:
    """One walk over a schema; it ends after so many steps."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._left = _MAX_STEPS
        self.branching = False

    def read(self, node: Any, entered: Mapping[str, _FollowedRef], path: DataPath) -> None:
        """`entered` are the references that led here, `path` the data that the node is about."""
        self._left -= 1
        if self._left < 0:
            raise _TooCostly
        if not isinstance(node, Mapping):
            return
        if any(name in node for name in _ELSEWHERE):
            raise _TooCostly
        if isinstance(ref := node.get("$ref"), str):
            self._follow(ref, entered, path)
        for step, part in _subschemas(node):
            self.read(part, entered, path + step)

    def _follow(self, ref: str, entered: Mapping[str, _FollowedRef], path: DataPath) -> None:
        if ref not in entered:
            self.read(_resolve(self._root, ref), {**entered, ref: _FollowedRef(path)}, path)
            return
        since, ways = entered[ref].at, entered[ref].returns
        if path == since or len(ways) >= _MAX_RETURNS:
            raise _TooCostly
        self.branching = self.branching or any(_meet(way, path) for way in ways)
        ways.append(path)


def _subschemas(node: Mapping[str, Any]) -> Iterator[tuple[DataPath, Any]]:
    """The schemas in a schema, each with the step that leads to the data it is about."""
    for key, value in node.items():
        if key in _NO_SCHEMA or key.startswith("$"):
            continue
        if key in _OF_NAMES and isinstance(value, Mapping):
            for name, part in value.items():
                yield ((name,) if key == "properties" else ("*",) if key in _MEMBERS else ()), part
        elif isinstance(value, list):
            yield from (((("[]",) if key in _ITEMS else ()), part) for part in value)
        elif isinstance(value, Mapping):
            yield (("[]",) if key in _ITEMS else ("*",) if key in _MEMBERS else ()), value


def _resolve(root: Any, ref: str) -> Any:
    """What a reference within the schema stands for."""
    if ref != "#" and not ref.startswith("#/"):
        raise _TooCostly  # by an anchor or an address: nobody knows how much that is
    node = root
    for part in ref[2:].split("/") if ref != "#" else ():
        name = part.replace("~1", "/").replace("~0", "~")
        node = node.get(name) if isinstance(node, Mapping) else None
    return node


def _meet(path: DataPath, other: DataPath) -> bool:
    """Whether two ways can lead to the same data."""
    return len(path) == len(other) and all(a == b or "*" in (a, b) for a, b in zip(path, other, strict=True))


_PARTS = ("title", "description", "input_schema", "output_schema", "annotations")
_MAX_SIZE = 200_000
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
    data = tool.model_dump(mode="json", exclude_none=True)
    definition = {part: data[part] for part in _PARTS if data.get(part)}
    return definition if size_of(definition) <= _MAX_SIZE else None


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


def description_and_guidance(name: str, definition: Definition) -> tuple[str, str]:
    """A short description for lists, and all of it where it is longer."""
    text = str(definition.get("description") or definition.get("title") or humanize_field_name(name)).strip()
    line = printable_line(text)
    if len(line) <= _SHORT:
        return line or "A tool of another server.", ""
    first = _SENTENCE.split(line, maxsplit=1)[0]
    guidance = "\n".join(map(printable_line, text.splitlines()))
    return (first if len(first) <= _SHORT else f"{line[: _SHORT - 1]}…"), guidance


def printable_line(text: str) -> str:
    """One line of it, without what a model would read and a person would not see."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def _cleaned(schema: Any) -> Any:
    """A schema whose words are visible; what data are compared with stays as it is."""
    if isinstance(schema, list):
        return [_cleaned(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {key: _cleaned_part(key, value) for key, value in schema.items()}


def _cleaned_part(key: str, value: Any) -> Any:
    if key in _WORDS and isinstance(value, str):
        return "\n".join(map(printable_line, value.splitlines()))
    if key in _NAMED and isinstance(value, Mapping):
        return {name: _cleaned(part) for name, part in value.items()}
    return value if key in _COMPARED else _cleaned(value)


def tool_outline(tool_id: str, name: str, server: Server, definition: Definition) -> Tool:
    """The tool as a menu shows it, not loaded."""
    return Tool(
        id=tool_id,
        description=description_and_guidance(name, definition)[0],
        category=server.prefix,
        level=level_of(server, name, definition),
        origin="mcp",
    )


def tool_of(tool_id: str, name: str, server: Server, definition: Definition, execute: Any) -> Tool:
    """The tool as it is called. A schema that cannot be used raises `DefinitionError`."""
    if schema_cost(definition.get("input_schema")) == "heavy":
        remedy = "leave it out, or ask whoever runs the server for a flatter schema"
        raise DefinitionError("its schema takes too long to check anything against", remedy=remedy)
    output = definition.get("output_schema")  # a promise that is too costly to check is none
    description, guidance = description_and_guidance(name, definition)
    rule = server.tools.get(name, ToolRule())
    title = definition.get("title") or (definition.get("annotations") or {}).get("title")
    tool: Tool = from_json_schema(
        tool_id,
        _cleaned(definition.get("input_schema") or {"type": "object"}),
        execute=execute,
        description=description,
        guidance=guidance,
        name=printable_line(str(title or humanize_field_name(name)))[:_TITLE] or name,
        category=server.prefix,
        level=level_of(server, name, definition),
        idempotent=rule.idempotent,
        output=_cleaned(output) if schema_cost(output) == "light" else None,
        timeout=server.timeout,
        origin="mcp",
    )
    return replace(tool, location=None)


def differences(old: Definition | None, new: Definition | None) -> list[str]:
    """What changed, a line for each part, for whoever is to accept it."""
    before, now = old or {}, new or {}
    parts = ((part, before.get(part), now.get(part)) for part in _PARTS)
    changes = [
        f"{part}: {_as_text(old_part)} → {_as_text(new_part)}"
        for part, old_part, new_part in parts
        if old_part != new_part
    ]
    return ["it is new", *changes] if old is None else changes


def _as_text(value: Any) -> str:
    if value is None:
        return "nothing"
    return json.dumps(value, sort_keys=True) if isinstance(value, Mapping) else ascii(value)
