"""How servers are written in handrail.toml: [mcp.servers.NAME]."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any, get_args

from handrail.bridges.mcp.server import Load, Secret, Server, ServerError, ToolRule, Trust, check_prefixes
from handrail.ext import LEVELS


def servers_of(table: Mapping[str, Any], where: str, folder: Path | None = None) -> tuple[Server, ...]:
    """The servers of the table [mcp], sorted by name. Their commands run in the folder, or below it."""
    if unknown := [key for key in table if key != "servers"]:
        raise ServerError(f"{where}: {unknown[0]!r} is not known here", remedy="write [mcp.servers.NAME]")
    given = table.get("servers", {})
    if not isinstance(given, Mapping) or not all(isinstance(one, Mapping) for one in given.values()):
        raise ServerError(f"{where}: servers are tables", remedy="write [mcp.servers.NAME]")
    servers = tuple(
        server_of(name, one, f"{where}.servers.{name}", folder) for name, one in sorted(given.items())
    )
    check_prefixes(servers)
    return servers


def server_of(name: str, given: Mapping[str, Any], where: str, folder: Path | None = None) -> Server:
    """One server, as it is written."""
    read: dict[str, Any] = {}
    for key, value in given.items():
        if key not in _READERS:
            raise ServerError(f"{where}: {key!r} is not a setting of a server", remedy=_meant(key))
        try:
            read[key] = _READERS[key](value)
        except ValueError as error:
            # a table may hold what nobody else should read
            told = "is not what belongs here" if isinstance(value, Mapping) else f"is {value!r}"
            raise ServerError(f"{where}: {key} {told}", remedy=f"{error}") from None
    if folder is not None and "command" in read:
        read["cwd"] = str(folder / read.get("cwd", ""))
    return Server(name, **read)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError("give text")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError('give a list, such as ["one", "two"]')
    return tuple(one if one == "" else _text(one) for one in value)


def _env(value: Any) -> dict[str, str | Secret]:
    if not isinstance(value, Mapping):
        raise ValueError('give a table, such as { MODE = "quiet", TOKEN = { secret = "name" } }')
    return {_text(name): _variable(name, given) for name, given in value.items()}


def _variable(name: str, given: Any) -> str | Secret:
    if isinstance(given, Mapping):
        if given.keys() != {"secret"}:
            raise ValueError(f'{name}: name a secret as {{ secret = "name" }}')
        return Secret(_text(given["secret"]))
    if not isinstance(given, str) or "\0" in given:
        raise ValueError(f"{name}: give text")
    return given


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < inf:
        raise ValueError("give a number above 0")
    return float(value)


def _one_of(choices: Sequence[str]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if value not in choices:
            raise ValueError(f"use one of: {', '.join(choices)}")
        return value

    return read


def _rules(value: Any) -> dict[str, ToolRule]:
    if not isinstance(value, Mapping) or not all(isinstance(one, Mapping) for one in value.values()):
        raise ValueError('write [mcp.servers.NAME.tools.TOOL] and level = "read"')
    return {name: _rule(given) for name, given in value.items()}


def _rule(given: Mapping[str, Any]) -> ToolRule:
    if unknown := given.keys() - {"level", "idempotent"}:
        raise ValueError(f"{sorted(unknown)[0]!r} is not known; there are: level, idempotent")
    if not isinstance(given.get("idempotent", False), bool):
        raise ValueError("idempotent is true or false")
    return ToolRule(
        _one_of(LEVELS)(given["level"]) if "level" in given else None, given.get("idempotent", False)
    )


_READERS: dict[str, Callable[[Any], Any]] = {
    "command": _text,
    "args": _texts,
    "env": _env,
    "inherit": _texts,
    "cwd": _text,
    "url": _text,
    "secret": _text,
    "prefix": _text,
    "level": _one_of(LEVELS),
    "tools": _rules,
    "allow": _texts,
    "deny": _texts,
    "trust": _one_of(get_args(Trust)),
    "load": _one_of(get_args(Load)),
    "timeout": _number,
    "connect_timeout": _number,
    "refresh": _number,
    "max_bytes": lambda value: int(_number(value)),
}
"""Every setting of a server, and what reads it."""


def _meant(word: str) -> str:
    near = difflib.get_close_matches(word, _READERS, 1, 0.5)
    return f"did you mean {near[0]!r}?" if near else f"use one of: {', '.join(_READERS)}"
