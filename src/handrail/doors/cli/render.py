"""Values and lists of tools laid out by rich, for a terminal of any width, without markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeGuard

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from handrail.core.define.levels import LEVELS, Level
from handrail.core.define.names import humanize_field_name
from handrail.core.define.tool import Tool
from handrail.core.define.ui_specs import OutputSection
from handrail.core.present.block_content import fields_in
from handrail.doors.cli.screen import OutputStream
from handrail.platform.display_text import one_line, visible, visible_json

_GAP = 2

_MAX_ITEMS = 500
"""Items of a list that a terminal shows."""

_SENTENCE_WIDTH = 20
"""Columns in which a sentence can be read."""


def plain_text(text: str, style: str = "") -> Text:
    """Text as it is, without markup."""
    return Text(visible(text), style)


def markdown(text: str) -> RenderableType:
    """Markdown; a link shows where it leads, and no image is fetched or hidden."""
    return Markdown(visible(text), hyperlinks=False)


def heading(text: str) -> Text:
    return plain_text(text, "bold")


def indented(what: RenderableType, by: int = _GAP) -> RenderableType:
    return Padding(what, (0, 0, 0, by), expand=False)


def value(data: Any, console: Console) -> RenderableType:
    """Any JSON value."""
    if isinstance(data, Mapping) and data:
        return _pairs(data, console)
    if _are_rows(data):
        return rows(data, console)
    if isinstance(data, list) and data and not any(isinstance(item, (list, Mapping)) for item in data):
        return Group(*(plain_text(f"- {_cell(item)}") for item in data[:_MAX_ITEMS]), *_more(data))
    return plain_text(_cell(data, indent=2))


def _are_rows(data: Any) -> TypeGuard[list[Mapping[str, Any]]]:
    return isinstance(data, list) and any(data) and all(isinstance(row, Mapping) for row in data)


def _more(data: Sequence[Any]) -> Iterator[Text]:
    """What is said of the rest of a long list."""
    if (rest := len(data) - _MAX_ITEMS) > 0:
        yield plain_text(f"… and {rest} more; a pipe and --json get all of them", "dim")


def _label(name: str) -> str:
    return humanize_field_name(name) or name


def _pairs(data: Mapping[str, Any], console: Console) -> RenderableType:
    """Names and values beside each other; what has parts of its own stands under its name."""
    parts: list[RenderableType] = []
    grid: Table | None = None
    for name, item in ((_label(str(key)), item) for key, item in data.items()):
        if isinstance(item, (Mapping, list)) and item:
            parts += [plain_text(name, "dim"), indented(value(item, console))]
            grid = None
            continue
        if grid is None:
            grid = _grid()
            parts.append(grid)
        grid.add_row(plain_text(name, "dim"), plain_text(_cell(item)))
    return Group(*parts)


def _grid() -> Table:
    grid = Table.grid(padding=(0, _GAP))
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold")
    return grid


def rows(
    data: Sequence[Mapping[str, Any]],
    console: Console,
    columns: Sequence[str] | None = None,
    numbered: bool = False,
) -> RenderableType:
    """A table, or where it would not fit one block a row."""
    names = list(columns or dict.fromkeys(str(name) for row in data for name in row))
    labels = [_label(name) for name in names]
    cells = [[_cell(row.get(name)) for name in names] for row in data[:_MAX_ITEMS]]
    if numbered:
        labels.insert(0, "#")
        cells = [[str(number), *row] for number, row in enumerate(cells, start=1)]
    return Group(table(labels, cells, console), *_more(data))


def table(labels: Sequence[str], cells: Iterable[Sequence[str]], console: Console) -> RenderableType:
    """Columns under labels; on a narrow screen the labels stand before the values instead."""
    lines = [[visible(cell) for cell in line] for line in cells]
    needed = [_column_width([label, *column]) for label, *column in zip(labels, *lines, strict=True)]
    if sum(needed) + _GAP * len(needed) <= console.width:
        drawn = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
        for label, width in zip(labels, needed, strict=True):
            drawn.add_column(plain_text(label), overflow="fold", min_width=width)
        for line in lines:
            drawn.add_row(*map(Text, line))
        return drawn
    blocks: list[RenderableType] = []
    for line in lines:
        grid = _grid()
        for label, cell in zip(labels, line, strict=True):
            if cell:
                grid.add_row(plain_text(label, "dim"), Text(cell))
        blocks += [grid, Text()]
    return Group(*blocks[:-1])


def _column_width(texts: Sequence[str]) -> int:
    """The width that a column needs to be read: its longest word, and for sentences some room."""
    longest = max(cell_len(line) for text in texts for line in text.split("\n"))
    word = max((cell_len(word) for text in texts for word in text.split()), default=0)
    return min(longest, max(word, _SENTENCE_WIDTH))


def sections(specs: Sequence[OutputSection], data: Mapping[str, Any], console: Console) -> RenderableType:
    """The parts of an output under their headings; what no section speaks of follows."""
    parts: list[RenderableType] = []
    for section in specs:
        if section.key in data:
            parts += [heading(section.label), indented(_section(section, data[section.key], console)), Text()]
    named = {section.key for section in specs}
    if rest := {name: item for name, item in data.items() if name not in named}:
        parts += [value(rest, console), Text()]
    return Group(*parts[:-1])


def _section(section: OutputSection, data: Any, console: Console) -> RenderableType:
    """One part. A terminal draws charts and radars as the table of their numbers."""
    if section.type == "custom":
        return plain_text(visible_json(data, indent=2))
    if section.type == "summary" and isinstance(data, str):
        return markdown(data)
    if _are_rows(data):
        return rows(data, console, _columns(section), numbered=section.type == "ranking")
    return value(data, console)


def _columns(section: OutputSection) -> list[str] | None:
    columns = (section.config or {}).get("columns")
    return [column["key"] for column in fields_in({"columns": columns}, "columns")] or None


def _cell(data: Any, indent: int | None = None) -> str:
    if data is None or data == []:
        return ""
    return data if isinstance(data, str) else visible_json(data, indent)


_TABLE_WIDTH = 72
"""Columns from which on a table reads better than lines under each other."""
_LEVEL_STYLES: dict[Level, str] = {"read": "green", "draft": "green", "write": "yellow", "destructive": "red"}


def draw_tools(out: OutputStream, tools: list[Tool], ranked: bool) -> None:
    """Every tool with its level and what it does; under its category, unless the order means something."""
    widest = max(len(tool.id) for tool in tools)
    roomy = out.width >= _TABLE_WIDTH and widest <= out.width // 2
    ordered = sorted(tools, key=lambda tool: (_category(tool), tool.id))
    groups = [("", iter(tools))] if ranked else groupby(ordered, _category)
    for category, group in groups:
        if category:
            out.draw(heading(category))
        if roomy:
            out.draw(indented(_tools_table(list(group), widest)))
        else:
            for tool in group:
                out.draw(indented(plain_text(f"{tool.id}  ", "cyan") + _level(tool)))
                out.draw(indented(plain_text(one_line(tool.description)), 4))
        out.say()


def _category(tool: Tool) -> str:
    return tool.category or ""


def _tools_table(tools: list[Tool], widest: int) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(width=widest)
    table.add_column(width=max(map(len, LEVELS)))
    table.add_column()
    for tool in tools:
        table.add_row(plain_text(tool.id, "cyan"), _level(tool), plain_text(one_line(tool.description)))
    return table


def _level(tool: Tool) -> Text:
    return plain_text(tool.level, _LEVEL_STYLES[tool.level])
