"""McpToolset: the tools of a foreign server, loaded when they are called, through the same guard as all."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

from handrail import Context, Principal, Result, Tool
from handrail.bridges.mcp.attempt import Lost
from handrail.bridges.mcp.calling import called
from handrail.bridges.mcp.names import is_under
from handrail.bridges.mcp.pool import Down, Pool
from handrail.bridges.mcp.rack import Rack, rack_of, remembered
from handrail.bridges.mcp.server import Server
from handrail.ext import (
    DEFAULT_TENANT_ID,
    Definition,
    DefinitionError,
    MemoryPins,
    Pins,
    ToolError,
    sight,
)

if TYPE_CHECKING:
    from handrail.bridges.mcp.connection import Connection

_log = logging.getLogger("handrail.mcp")
_MOST_RACKS = 1_000
Secrets = Callable[[str, Any], str | None]


class McpToolset:
    """One server's tools. Nothing is started or reached before somebody needs it."""

    def __init__(self, server: Server, *, pins: Pins | None = None, secrets: Secrets | None = None) -> None:
        self.server = server
        self._pins = pins
        self._secrets = secrets
        self._pool = Pool(server)
        self._racks: dict[tuple[str, str | None], Rack] = {}
        """By tenant and user: what is there, as it was last seen."""
        self._latest: dict[str, Rack] = {}
        """By tenant: the rack made last. Users who see the same share one."""
        self._fresh: dict[tuple[str, Connection], tuple[Mapping[str, Definition], Rack]] = {}
        """What a connection told, and the rack made of it."""
        self._loaded: dict[str, set[str]] = {}
        """By tenant: the server's names of the tools that somebody called or read about."""

    def attach(self, secrets: Secrets | None, pins: Pins | None, /) -> None:
        self._secrets = self._secrets or secrets
        self._pins = self._pins or pins

    @property
    def pins(self) -> Pins:
        """Where it is kept what was accepted: in the database, or for the life of this process."""
        if self._pins is None:
            self._pins = MemoryPins()
        return self._pins

    async def close(self) -> None:
        await self._pool.close()

    async def tools(self, principal: Principal, /) -> Sequence[Tool]:
        """What is loaded: all of it where the settings want that, else what was found by its name."""
        if self.server.load == "eager":
            return (await self._seen(principal)).tools(self._body)
        rack = self._racks.get(self._whose(principal))
        loaded = self._loaded.get(self._scope(principal))
        return () if rack is None or not loaded else rack.tools(self._body, loaded)

    async def known(self, principal: Principal, /) -> Sequence[Tool]:
        """What is there, by name and description. A server whose tools were seen before is not asked."""
        return (await self._seen(principal)).outlines

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        """The tool of that name, loaded. One that changed since it was accepted is refused."""
        if not is_under(self.server.prefix, name):
            return None
        rack = await self._current(principal)
        remote = rack.remote(name)
        if remote is None:
            return None
        if remote in rack.held:
            rack = await self._current(principal, again=True)
            if remote in rack.held:
                raise changed(self.server, remote)
        try:
            tool = rack.tool(remote, self._body)
        except DefinitionError as error:
            raise ToolError(f"{name} cannot be used: {error.problem}.", code="TOOL_UNAVAILABLE") from None
        self._loaded.setdefault(self._scope(principal), set()).add(remote)
        return tool

    async def look(self, principal: Principal) -> Sequence[Tool]:
        """Reach the server and read its tools; those that may be called. Raises `ToolError`."""
        try:
            connection = await self._pool.get(self._credential(principal))
            return (await self.checked(connection, principal, again=True)).tools(self._body)
        except Lost as lost:
            raise Down(self.server, str(lost), 0) from None

    async def _seen(self, principal: Principal) -> Rack:
        """What is there as far as anybody knows; a server is reached only if nothing is known of it."""
        rack = self._racks.get(self._whose(principal))
        old = rack is not None and monotonic() - rack.made_at > self.server.refresh
        if rack is not None and not old and not self._is_told_of_changes(principal):
            return rack
        if rack is None or self._open_one(principal) is None:
            pins = await self.pins.read(self._scope(principal), self.server.name)
            if pins and not (old and self.server.load == "eager"):
                return self._keep(principal, remembered(self.server, pins))
        return await self._current(principal, needed=False)

    def _is_told_of_changes(self, principal: Principal) -> bool:
        connection = self._open_one(principal)
        return connection is not None and connection.stale

    def _open_one(self, principal: Principal) -> Connection | None:
        try:
            return self._pool.peek(self._credential(principal))
        except ToolError:
            return None

    async def _current(self, principal: Principal, *, needed: bool = True, again: bool = False) -> Rack:
        """What is there now; what was accepted before where the server does not answer."""
        scope = self._scope(principal)
        try:
            connection = await self._pool.get(self._credential(principal))
            return await self.checked(connection, principal, again=again)
        except (ToolError, Lost) as error:
            pins = await self.pins.read(scope, self.server.name)
            if pins:
                return self._keep(principal, remembered(self.server, pins))
            if needed:
                raise error if isinstance(error, ToolError) else Down(self.server, str(error), 0) from None
            return Rack(self.server, {}, frozenset())  # and not kept: it may be there next time

    async def checked(self, connection: Connection, principal: Principal, *, again: bool = False) -> Rack:
        """What the connection tells, held against what was accepted. Whatever fails in this refuses."""
        scope = self._scope(principal)
        told = await connection.definitions()
        fresh = self._fresh.get((scope, connection))
        if fresh is not None and fresh[0] is told and not again:
            return self._keep(principal, fresh[1])
        pins = await self.pins.read(scope, self.server.name)
        if seen := sight(pins, told, self.server.trust == "first_use"):
            await self.pins.note(scope, self.server.name, seen)
            pins = await self.pins.read(scope, self.server.name)
        if seen.held:
            names = ", ".join(pin.tool for pin in seen.held)
            _log.info("of the MCP server %s wait for acceptance: %s", self.server.name, names)
        rack = self._keep(principal, rack_of(self.server, told, pins))
        self._fresh = {key: made for key, made in self._fresh.items() if key[1].alive}
        self._fresh[scope, connection] = (told, rack)
        return rack

    def _keep(self, principal: Principal, rack: Rack) -> Rack:
        """Remember a rack; the one that is there stays where nothing changed."""
        scope, whose = self._scope(principal), self._whose(principal)
        latest = self._latest.get(scope)
        if rack is not latest and latest is not None and latest.same(rack):
            latest.made_at = rack.made_at
            rack = latest
        if len(self._racks) >= _MOST_RACKS and whose not in self._racks:
            self._racks.clear()
        self._racks[whose] = self._latest[scope] = rack
        return rack

    def _whose(self, principal: Principal) -> tuple[str, str | None]:
        """For whom a rack is made: for everybody, unless each credential may see another."""
        return (principal.tenant, principal.user) if self.server.secrets else (DEFAULT_TENANT_ID, None)

    def _scope(self, principal: Principal) -> str:
        """Whose pins count: everybody's, unless the server may tell each credential something else."""
        return principal.tenant if self.server.secrets else DEFAULT_TENANT_ID

    def _credential(self, principal: Principal) -> dict[str, str]:
        """The secrets the server is told: of the caller's tenant or user, never what the caller sent."""
        found: dict[str, str] = {}
        for name in self.server.secrets:
            value = self._secrets(name, principal) if self._secrets is not None else None
            if value is None:
                raise ToolError(
                    f"The MCP server {self.server.name} needs the secret {name!r}, which is not set up for "
                    "you. Ask an administrator to add it.",
                    code="SECRET_MISSING",
                )
            found[name] = value
        return found

    def _body(self, name: str, definition: Definition) -> Callable[..., Any]:
        async def execute(args: Mapping[str, Any], ctx: Context) -> Result:
            for secret in self.server.secrets:
                ctx.secret(secret)  # from here on it is masked in all that is told of this call
            return await called(self, name, definition, dict(args), ctx)

        return execute

    async def connection(self, name: str, definition: Definition, principal: Principal) -> Connection:
        """A connection whose server still has this very tool."""
        connection = await self._pool.get(self._credential(principal))
        rack = await self.checked(connection, principal)
        if name in rack.held or rack.open.get(name) != definition:
            if name in connection.told:
                raise changed(self.server, name)
            raise ToolError(
                f"The MCP server {self.server.name} has no {name} any more.", code="TOOL_UNAVAILABLE"
            )
        return connection


def changed(server: Server, name: str) -> ToolError:
    return ToolError(
        f"The MCP server {server.name} tells something else of {name} than was accepted, or nobody accepted "
        f"it yet. It is not called until a person accepts it: handrail mcp accept {server.name} {name}",
        code="TOOL_CHANGED",
    )
