"""Edits of a settings file: a table is added or removed, every other line stays."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from handrail.doors.cli.exit_codes import CommandError


def with_table(text: str, path: tuple[str, ...], values: Mapping[str, Any]) -> str:
    """The text with one more table at its end."""
    lines = [f"[{'.'.join(path)}]", *(f"{name} = {_toml_value(value)}" for name, value in values.items())]
    whole = f"{text.rstrip()}\n\n" if text.strip() else ""
    return _checked(whole + "\n".join(lines) + "\n", _set(tomllib.loads(text), path, dict(values)))


def without_table(text: str, path: tuple[str, ...]) -> str:
    """The text without a table and those below it."""
    kept: list[str] = []
    inside = False
    for line in text.splitlines():
        head = _header(line)
        if head is not None:
            inside = head[: len(path)] == path
        if not inside:
            kept.append(line)
    return _checked("\n".join(kept).rstrip() + "\n", _set(tomllib.loads(text), path, None))


def _header(line: str) -> tuple[str, ...] | None:
    """The path of the table that a line opens."""
    if not line.lstrip().startswith("["):
        return None
    try:
        node: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None
    path: list[str] = []
    while isinstance(node, (dict, list)) and node:
        if isinstance(node, list):
            node = node[0]
            continue
        name, node = next(iter(node.items()))
        path.append(name)
    return tuple(path)


def _set(table: dict[str, Any], path: tuple[str, ...], value: dict[str, Any] | None) -> dict[str, Any]:
    inner = table
    for name in path[:-1]:
        inner = inner.setdefault(name, {})
    if value is None:
        inner.pop(path[-1], None)
    else:
        inner[path[-1]] = value
    return table


def _checked(text: str, wanted: dict[str, Any]) -> str:
    """The text, if it says what is wanted; a file that is written in another way is left to a person."""
    try:
        same = _without_empty(tomllib.loads(text)) == _without_empty(wanted)
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise CommandError("this cannot be written into the settings for you", "change the file by hand")
    return text


def _without_empty(table: Any) -> Any:
    """The table without those inside that are empty."""
    if not isinstance(table, dict):
        return table
    found = {name: _without_empty(value) for name, value in table.items()}
    return {name: value for name, value in found.items() if value != {}}


def _toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{json.dumps(name)} = {_toml_value(one)}" for name, one in value.items()) + " }"
        )
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
