"""Server: how a foreign MCP server is reached, and what its tools may do here, as an operator wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal
from urllib.parse import urlsplit

from handrail.bridges.mcp.names import MAX_PREFIX, PREFIX
from handrail.ext import DefinitionError, Level, slug_of

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
        named = [one.name for one in self.env.values() if isinstance(one, Secret)]
        return tuple(dict.fromkeys(named if self.secret is None else [*named, self.secret]))

    def takes(self, tool: str) -> bool:
        """Whether a tool is taken from it at all."""
        return any(fnmatchcase(tool, one) for one in self.allow) and not any(
            fnmatchcase(tool, one) for one in self.deny
        )


def _url_problems(url: str) -> Iterable[tuple[str, str]]:
    try:
        parts = urlsplit(url)
        host, named = parts.hostname, parts.username or parts.password
    except ValueError:
        host, named, parts = None, None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        yield f"has the url {url!r}, which is no web address", "write http:// or https:// and a host"
    elif named:
        yield "has a name or a password in its url", "keep it as a secret, and name the secret"


def check_prefixes(servers: Sequence[Server]) -> None:
    """No name can belong to tools of two servers."""
    heads = [(f"{slug_of(one.prefix)}-", one) for one in servers]
    for head, one in heads:
        for other_head, other in heads:
            if one is not other and other_head.startswith(head):
                raise ServerError(
                    f"names of the MCP servers {one.name!r} and {other.name!r} would run into each other",
                    remedy=f"give one of them another prefix than {one.prefix!r} and {other.prefix!r}",
                )
