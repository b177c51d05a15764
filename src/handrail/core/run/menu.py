"""Menus: tools by category with name and short description, for a prompt that has no room for schemas."""

from __future__ import annotations

from collections.abc import Iterable

from handrail.core.errors import UsageError

Entry = tuple[str, str | None, str]
"""Name, category, description."""

_TOKEN = 4
"""Characters that count as one token."""
_LEAST = 60
_DESCRIPTION = 160
_OTHERS = "other categories"
_NOT_ALL = "Not every tool is listed here."
_SEARCH = "Find others with search_tools and read about one with describe_tool."


def prompt_menu(entries: Iterable[Entry]) -> str:
    """Name and short description of each tool under the heading of its category."""
    return _written(_by_category(entries).items())


def short_menu(entries: Iterable[Entry], max_tokens: int, searchable: bool) -> str:
    """The menu within so many tokens. Categories share the room; of the rest, their number is told."""
    if max_tokens < _LEAST:
        raise UsageError(f"A menu needs room for {_LEAST} tokens or more, not {max_tokens}.")
    by_category = _by_category((name, category, _shortened(told)) for name, category, told in entries)
    whole = _written(by_category.items())
    if len(whole) <= max_tokens * _TOKEN:
        return whole
    hint = f"{_NOT_ALL} {_SEARCH}" if searchable else _NOT_ALL
    total = sum(map(len, by_category.values()))
    shown = _chosen(by_category, max_tokens * _TOKEN - len(f"\n\n## {_OTHERS} ({total})\n\n{hint}"))
    told = [(_heading(one, len(lines), len(by_category[one])), lines) for one, lines in sorted(shown.items())]
    if left := by_category.keys() - shown.keys():
        told.append((f"{_OTHERS} ({sum(len(by_category[one]) for one in left)})", []))
    return f"{_written(told)}\n\n{hint}"


def _chosen(by_category: dict[str, list[str]], room: int) -> dict[str, list[str]]:
    """The lines there is room for: headings first, of large categories before small ones, then in turns."""
    chosen: dict[str, list[str]] = {}
    for category in sorted(by_category, key=lambda one: -len(by_category[one])):
        number = len(by_category[category])
        heading = len(f"## {category} ({number} of {number})\n\n")
        if heading <= room:
            room -= heading
            chosen[category] = []
    turns = sorted(chosen)
    while turns:
        for category in list(turns):
            there, lines = by_category[category], chosen[category]
            if len(lines) == len(there) or len(there[len(lines)]) + 1 > room:
                turns.remove(category)
            else:
                room -= len(there[len(lines)]) + 1
                lines.append(there[len(lines)])
    return chosen


def _by_category(entries: Iterable[Entry]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, category, description in entries:
        found.setdefault(category or "general", []).append(f"- {name}: {description}")
    return dict(sorted(found.items()))


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
