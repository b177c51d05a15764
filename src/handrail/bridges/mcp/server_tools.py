"""ServerTools: the tools of a server for one tenant, callable or waiting for acceptance."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from handrail import Tool
from handrail.bridges.mcp.definitions import tool_of, tool_outline
from handrail.bridges.mcp.server_settings import Server
from handrail.bridges.mcp.tool_names import local_names
from handrail.ext.errors import DefinitionError
from handrail.ext.tools import slug_of, wire_name
from handrail.ext.toolsets import Definition, Pin, is_accepted

_log = logging.getLogger("handrail.mcp")
Execute = Callable[[str, Definition], Callable[..., Any]]
"""(the server's name for a tool, its definition) -> the body of the tool."""


@dataclass(slots=True)
class ServerTools:
    """Tools by the names that they have here. One is made when it is first wanted."""

    server: Server
    open: Mapping[str, Definition]
    """What may be called, by the server's own names."""
    held: frozenset[str]
    """What waits until somebody accepts it."""
    _remote: dict[str, str] = field(default_factory=dict)
    """Every spelling of a name here, to the server's own."""
    _ids: dict[str, str] = field(default_factory=dict)
    _made: dict[str, Tool] = field(default_factory=dict)
    outlines: tuple[Tool, ...] = ()
    made_at: float = field(default_factory=monotonic)
    """When it was last known to be so."""

    def __post_init__(self) -> None:
        self._ids = local_names(self.server.prefix, [*self.open, *self.held])
        for name, own in self._ids.items():
            self._remote.update(dict.fromkeys((own, wire_name(own), slug_of(own)), name))
        self.outlines = tuple(
            tool_outline(self._ids[name], name, self.server, definition)
            for name, definition in sorted(self.open.items())
        )

    def remote(self, name: str) -> str | None:
        """The server's own name of the tool that is called this here."""
        return self._remote.get(name)

    def tool(self, name: str, execute: Execute) -> Tool:
        """The tool that has this name on the server. Raises `DefinitionError` where it cannot be used."""
        made = self._made.get(name)
        if made is None:
            definition = self.open[name]
            body = execute(name, definition)
            made = self._made[name] = tool_of(self._ids[name], name, self.server, definition, body)
        return made

    def tools(self, execute: Execute, names: Collection[str] | None = None) -> list[Tool]:
        """All that can be used, or those of them that are named, made."""
        found = []
        for name in sorted(self.open if names is None else self.open.keys() & names):
            try:
                found.append(self.tool(name, execute))
            except DefinitionError as error:
                _log.warning(
                    "the tool %r of the MCP server %s is left out: %s", name, self.server.name, error
                )
        return found

    def same(self, other: ServerTools | None) -> bool:
        """Whether nothing changed, so that what was made of it stays."""
        return other is not None and self.open == other.open and self.held == other.held


def accepted_tools(
    server: Server, definitions: Mapping[str, Definition], pins: Mapping[str, Pin]
) -> ServerTools:
    """What a server tells, as far as it was accepted."""
    accepted = {
        name: definition
        for name, definition in definitions.items()
        if is_accepted(pins.get(name), definition)
    }
    return ServerTools(server, accepted, frozenset(definitions.keys() - accepted.keys()))


def remembered_tools(server: Server, pins: Mapping[str, Pin]) -> ServerTools:
    """What was accepted of a server that is not asked, or does not answer."""
    accepted = {
        name: pin.accepted
        for name, pin in pins.items()
        if pin.accepted is not None and pin.held is None and server.takes(name)
    }
    held = {name for name, pin in pins.items() if pin.held is not None and server.takes(name)}
    return ServerTools(server, accepted, frozenset(held))
