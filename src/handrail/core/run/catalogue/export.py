"""The listed tools in the formats of providers, protocols and prompts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal

from handrail.core.define.names import wire_name
from handrail.core.define.schema import provider_schema
from handrail.core.define.tool import Tool
from handrail.core.errors import UsageError
from handrail.core.run.normalise import is_described

MenuEntry = tuple[str, str | None, str]
"""Name, category, description."""

_TOKEN = 4
"""Characters that count as one token."""
_LEAST = 60
_DESCRIPTION = 160
_OTHERS = "other categories"
_NOT_ALL = "Not every tool is listed here."
_SEARCH = "Find others with search_tools and read about one with describe_tool."


def prompt_menu(entries: Iterable[MenuEntry]) -> str:
    """Name and short description of each tool under the heading of its category."""
    return _written(_by_category(entries).items())


def short_menu(entries: Iterable[MenuEntry], max_tokens: int, searchable: bool) -> str:
    """The menu within so many tokens. Categories share the room; of the rest, their number is told."""
    if max_tokens < _LEAST:
        raise UsageError(f"A menu needs room for {_LEAST} tokens or more, not {max_tokens}.")
    by_category = _by_category((name, category, _shortened(parts)) for name, category, parts in entries)
    full = _written(by_category.items())
    if len(full) <= max_tokens * _TOKEN:
        return full
    hint = f"{_NOT_ALL} {_SEARCH}" if searchable else _NOT_ALL
    total = sum(map(len, by_category.values()))
    shown = _chosen(by_category, max_tokens * _TOKEN - len(f"\n\n## {_OTHERS} ({total})\n\n{hint}"))
    parts = [
        (_heading(one, len(lines), len(by_category[one])), lines) for one, lines in sorted(shown.items())
    ]
    if omitted := by_category.keys() - shown.keys():
        parts.append((f"{_OTHERS} ({sum(len(by_category[one]) for one in omitted)})", []))
    return f"{_written(parts)}\n\n{hint}"


def _chosen(by_category: dict[str, list[str]], room: int) -> dict[str, list[str]]:
    """The lines there is room for: headings first, of large categories before small ones, then in turns."""
    chosen: dict[str, list[str]] = {}
    for category in sorted(by_category, key=lambda name: -len(by_category[name])):
        number = len(by_category[category])
        heading = len(f"## {category} ({number} of {number})\n\n")
        if heading <= room:
            room -= heading
            chosen[category] = []
    turns = sorted(chosen)
    while turns:
        for category in list(turns):
            available, lines = by_category[category], chosen[category]
            if len(lines) == len(available) or len(available[len(lines)]) + 1 > room:
                turns.remove(category)
            else:
                room -= len(available[len(lines)]) + 1
                lines.append(available[len(lines)])
    return chosen


def _by_category(entries: Iterable[MenuEntry]) -> dict[str, list[str]]:
    lines: dict[str, list[str]] = {}
    for name, category, description in entries:
        lines.setdefault(category or "general", []).append(f"- {name}: {description}")
    return dict(sorted(lines.items()))


def _shortened(description: str) -> str:
    """A description on one line; one from elsewhere may be of any length."""
    line = " ".join(description.split())
    return line if len(line) <= _DESCRIPTION else f"{line[: _DESCRIPTION - 1]}…"


def _heading(category: str, shown: int, number: int) -> str:
    if shown == number:
        return category
    return f"{category} ({shown} of {number})" if shown else f"{category} ({number})"


def _written(parts: Iterable[tuple[str, list[str]]]) -> str:
    return "\n\n".join("\n".join((f"## {heading}", *lines)) for heading, lines in parts)


Format = Literal["openai", "anthropic", "mcp", "ai_sdk", "prompt_menu"]
Execute = Callable[[Tool, Mapping[str, Any]], Awaitable[Any]]


def export(tools: Iterable[Tool], how: Format, execute: Execute) -> Any:
    """The tools, in the order given, as the format wants them."""
    if how == "ai_sdk":
        return {tool.slug: to_ai_sdk(tool, execute) for tool in tools}
    if how == "prompt_menu":
        return prompt_menu((tool.id, tool.category, tool.description) for tool in tools)
    if how in _EXPORTERS:
        return [_EXPORTERS[how](tool) for tool in tools]
    raise ValueError(f"{how!r} is not a format; use openai, anthropic, mcp, ai_sdk or prompt_menu")


def full_description(tool: Tool) -> str:
    """The description with its guidance, as it goes with the full schema."""
    return f"{tool.description}\n\n{tool.guidance}" if tool.guidance else tool.description


def to_openai(tool: Tool) -> dict[str, Any]:
    function = {
        "name": wire_name(tool.id),
        "description": full_description(tool),
        "parameters": provider_schema(tool.input_schema),
    }
    return {"type": "function", "function": function}


def to_anthropic(tool: Tool) -> dict[str, Any]:
    return {
        "name": wire_name(tool.id),
        "description": full_description(tool),
        "input_schema": provider_schema(tool.input_schema),
    }


def to_mcp(tool: Tool) -> dict[str, Any]:
    exported: dict[str, Any] = {
        "name": wire_name(tool.id),
        "title": tool.name,
        "description": full_description(tool),
        "inputSchema": {**tool.input_schema, "type": "object"},
        "annotations": {
            "title": tool.name,
            "readOnlyHint": tool.level in ("read", "draft"),
            "destructiveHint": tool.level == "destructive" or tool.danger == "dangerous",
            "idempotentHint": tool.idempotent or tool.level in ("read", "draft"),
            "openWorldHint": "network" in tool.capabilities | tool.optional_capabilities,
        },
    }
    if is_described(tool):
        exported["outputSchema"] = tool.output_schema
    return exported


_EXPORTERS = {"openai": to_openai, "anthropic": to_anthropic, "mcp": to_mcp}


def to_ai_sdk(tool: Tool, execute: Execute) -> dict[str, Any]:
    async def run(args: Mapping[str, Any]) -> Any:
        return await execute(tool, args)

    schema = provider_schema(tool.input_schema)
    return {"description": full_description(tool), "inputSchema": schema, "execute": run}
