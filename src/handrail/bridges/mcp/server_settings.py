"""Server: how a foreign MCP server is reached, and how [mcp.servers.NAME] is read."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import inf
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from handrail.bridges.mcp.tool_names import MAX_PREFIX, PREFIX
from handrail.ext.errors import DefinitionError
from handrail.ext.guard import LEVELS, Level
from handrail.ext.tools import slug_of

Trust = Literal["first_use", "ask"]
Load = Literal["lazy", "eager"]


class ServerError(DefinitionError):
    """An MCP server cannot be used as it is written."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that a tenant or a user keeps as a secret."""

    name: str


@dataclass(frozen=True, slots=True)
class ToolRule:
    """What an operator says of one tool, whatever the server claims."""

    level: Level | None = None
    idempotent: bool = False
    """Whether twice does no more than once, so that a call may be repeated when its answer is lost."""


@dataclass(frozen=True, slots=True)
class Server:
    """One server. Either a command that is started and spoken to over its pipes, or an address."""

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str | Secret] = field(default_factory=dict)
    """All that the command finds in its environment, beside what it inherits."""
    inherit: tuple[str, ...] = ("HOME", "PATH")
    """Variables of our own environment that it gets."""
    cwd: str | None = None
    url: str | None = None
    secret: str | None = None
    """The name of the secret that an address gets as a bearer token: the user's own, or the tenant's."""
    prefix: str = ""
    """What its tools' names begin with; the server's name unless another is given."""
    level: Level = "write"
    """How grave its tools are unless a rule says otherwise; what the server claims can only add to it."""
    tools: Mapping[str, ToolRule] = field(default_factory=dict)
    allow: tuple[str, ...] = ("*",)
    """Patterns of the tools that are taken from it, by the server's own names."""
    deny: tuple[str, ...] = ()
    trust: Trust = "first_use"
    """Whether a tool may be called as it was first seen, or somebody accepts it before."""
    load: Load = "lazy"
    timeout: float = 60.0
    """Seconds for one call."""
    connect_timeout: float = 10.0
    refresh: float = 300.0
    """Seconds after which it is asked again what its tools are."""
    max_bytes: int = 10_000_000
    """The longest message that is taken from it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "prefix", self.prefix or self.name)
        for problem, remedy in self._problems():
            raise ServerError(f"the MCP server {self.name!r} {problem}", remedy=remedy)

    def _problems(self) -> Iterable[tuple[str, str]]:
        for what in (self.name, self.prefix):
            if not PREFIX.match(what) or len(what) > MAX_PREFIX:
                yield (
                    f"is called {what!r}, which its tools' names cannot begin with",
                    f"use letters, digits and single `-` or `_` between them, at most {MAX_PREFIX}",
                )
        if (self.command is None) == (self.url is None):
            yield "has a command and a url, or neither", "give one of the two"
        if self.url is not None:
            yield from _url_problems(self.url)
            if self.args or self.env or self.cwd:
                yield "has an address, which takes no args, env or cwd", "give it a secret instead"
        elif self.secret is not None:
            yield "is a command, which takes no bearer token", 'write env = { TOKEN = { secret = "name" } }'

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the secrets it is told."""
        names = [value.name for value in self.env.values() if isinstance(value, Secret)]
        return tuple(dict.fromkeys(names if self.secret is None else [*names, self.secret]))

    def takes(self, tool: str) -> bool:
        """Whether a tool is taken from it at all."""
        return any(fnmatchcase(tool, pattern) for pattern in self.allow) and not any(
            fnmatchcase(tool, pattern) for pattern in self.deny
        )


def _url_problems(url: str) -> Iterable[tuple[str, str]]:
    try:
        parts = urlsplit(url)
        host, credentials = parts.hostname, parts.username or parts.password
    except ValueError:
        host, credentials, parts = None, None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        yield f"has the url {url!r}, which is no web address", "write http:// or https:// and a host"
    elif credentials:
        yield "has a name or a password in its url", "keep it as a secret, and name the secret"


def check_prefixes(servers: Sequence[Server]) -> None:
    """No name can belong to tools of two servers."""
    heads = [(f"{slug_of(server.prefix)}-", server) for server in servers]
    for head, server in heads:
        for other_head, other in heads:
            if server is not other and other_head.startswith(head):
                raise ServerError(
                    f"names of the MCP servers {server.name!r} and {other.name!r} would run into each other",
                    remedy=f"give one of them another prefix than {server.prefix!r} and {other.prefix!r}",
                )


def servers_of(table: Mapping[str, Any], where: str, folder: Path | None = None) -> tuple[Server, ...]:
    """The servers of the table [mcp], sorted by name. Their commands run in the folder, or below it."""
    if unknown := [key for key in table if key != "servers"]:
        raise ServerError(f"{where}: {unknown[0]!r} is not known here", remedy="write [mcp.servers.NAME]")
    tables = table.get("servers", {})
    if not isinstance(tables, Mapping) or not all(
        isinstance(settings, Mapping) for settings in tables.values()
    ):
        raise ServerError(f"{where}: servers are tables", remedy="write [mcp.servers.NAME]")
    servers = tuple(
        server_of(name, settings, f"{where}.servers.{name}", folder)
        for name, settings in sorted(tables.items())
    )
    check_prefixes(servers)
    return servers


def server_of(name: str, settings: Mapping[str, Any], where: str, folder: Path | None = None) -> Server:
    """One server, as it is written."""
    read: dict[str, Any] = {}
    for key, value in settings.items():
        if key not in _READERS:
            raise ServerError(f"{where}: {key!r} is not a setting of a server", remedy=_meant(key))
        try:
            read[key] = _READERS[key](value)
        except ValueError as error:
            # a table may hold what nobody else should read
            problem = "is not what belongs here" if isinstance(value, Mapping) else f"is {value!r}"
            raise ServerError(f"{where}: {key} {problem}", remedy=f"{error}") from None
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
    return tuple(text if text == "" else _text(text) for text in value)


def _env(value: Any) -> dict[str, str | Secret]:
    if not isinstance(value, Mapping):
        raise ValueError('give a table, such as { MODE = "quiet", TOKEN = { secret = "name" } }')
    return {_text(name): _variable(name, setting) for name, setting in value.items()}


def _variable(name: str, setting: Any) -> str | Secret:
    if isinstance(setting, Mapping):
        if setting.keys() != {"secret"}:
            raise ValueError(f'{name}: name a secret as {{ secret = "name" }}')
        return Secret(_text(setting["secret"]))
    if not isinstance(setting, str) or "\0" in setting:
        raise ValueError(f"{name}: give text")
    return setting


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
    if not isinstance(value, Mapping) or not all(isinstance(rule, Mapping) for rule in value.values()):
        raise ValueError('write [mcp.servers.NAME.tools.TOOL] and level = "read"')
    return {name: _rule(rule) for name, rule in value.items()}


def _rule(settings: Mapping[str, Any]) -> ToolRule:
    if unknown := settings.keys() - {"level", "idempotent"}:
        raise ValueError(f"{sorted(unknown)[0]!r} is not known; there are: level, idempotent")
    if not isinstance(settings.get("idempotent", False), bool):
        raise ValueError("idempotent is true or false")
    return ToolRule(
        _one_of(LEVELS)(settings["level"]) if "level" in settings else None, settings.get("idempotent", False)
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
