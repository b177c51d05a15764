"""listing: tools under their categories, for a terminal of any width."""

from __future__ import annotations

from itertools import groupby

from rich.table import Table
from rich.text import Text

from handrail.core.define.permission import LEVELS, Level
from handrail.core.define.tool import Tool
from handrail.doors.cli.draw import heading, indented, words
from handrail.doors.cli.screen import Side
from handrail.doors.visible import one_line

_ROOMY = 72
"""Columns from which on a table reads better than lines under each other."""
_STYLES: dict[Level, str] = {"read": "green", "draft": "green", "write": "yellow", "destructive": "red"}


def draw_tools(out: Side, tools: list[Tool], ranked: bool) -> None:
    """Every tool with its level and what it does; under its category, unless the order means something."""
    widest = max(len(tool.id) for tool in tools)
    roomy = out.width >= _ROOMY and widest <= out.width // 2
    ordered = sorted(tools, key=lambda tool: (_category(tool), tool.id))
    groups = [("", iter(tools))] if ranked else groupby(ordered, _category)
    for category, group in groups:
        if category:
            out.draw(heading(category))
        if roomy:
            out.draw(indented(_table(list(group), widest)))
        else:
            for tool in group:
                out.draw(indented(words(f"{tool.id}  ", "cyan") + _level(tool)))
                out.draw(indented(words(one_line(tool.description)), 4))
        out.say()


def _category(tool: Tool) -> str:
    return tool.category or ""


def _table(tools: list[Tool], widest: int) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(width=widest)
    table.add_column(width=max(map(len, LEVELS)))
    table.add_column()
    for tool in tools:
        table.add_row(words(tool.id, "cyan"), _level(tool), words(one_line(tool.description)))
    return table


def _level(tool: Tool) -> Text:
    return words(tool.level, _STYLES[tool.level])
