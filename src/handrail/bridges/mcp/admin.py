"""ServerAdmin: which servers there are, what waits of their tools, and how somebody accepts it."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from dataclasses import dataclass

from handrail import Principal, ToolError
from handrail.bridges.mcp.definitions import differences
from handrail.bridges.mcp.server_settings import Server
from handrail.bridges.mcp.tool_names import local_names
from handrail.bridges.mcp.toolset import McpToolset
from handrail.ext.compat import DEFAULT_TENANT_ID
from handrail.ext.errors import UsageError
from handrail.ext.ports import Pins
from handrail.ext.toolsets import Pin


@dataclass(frozen=True, slots=True)
class PendingTool:
    """A tool that is not called until somebody accepts what its server says of it now."""

    tool: str
    """The server's own name for it."""
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ServerState:
    """What is known of one server."""

    server: Server
    tools: tuple[str, ...]
    """Those that may be called, by the names that they have here."""
    waiting: tuple[PendingTool, ...]
    problem: str | None = None
    """Why it could not be reached, where somebody tried."""


class ServerAdmin:
    """For whoever looks after the servers."""

    def __init__(self, servers: Iterable[Server], pins: Pins) -> None:
        self._servers = {server.name: server for server in servers}
        self._pins = pins

    def server(self, name: str) -> Server:
        found = self._servers.get(name)
        if found is None:
            names = ", ".join(self._servers) or "none"
            raise UsageError(f"There is no MCP server {name!r}. There are: {names}.")
        return found

    async def list(self, tenant: str) -> list[ServerState]:
        """Every server, as it was last seen. None is reached for it."""
        return [await self.state(server, tenant) for server in self._servers.values()]

    async def state(self, server: Server, tenant: str, problem: str | None = None) -> ServerState:
        pins = await self._pins.read(_scope(server, tenant), server.name)
        names = local_names(server.prefix, (name for name in pins if server.takes(name)))
        listed = [pins[name] for name in sorted(names)]
        opened = tuple(names[pin.tool] for pin in listed if pin.held is None and pin.accepted is not None)
        waiting = (
            PendingTool(pin.tool, tuple(differences(pin.accepted, pin.held))) for pin in listed if pin.held
        )
        return ServerState(server, opened, tuple(waiting), problem)

    async def check(self, toolset: McpToolset, principal: Principal) -> ServerState:
        """Ask a server what its tools are now, and what of that is new."""
        problem: str | None = None
        try:
            await toolset.look(principal)
        except ToolError as error:
            problem = str(error)
        return await self.state(toolset.server, principal.tenant, problem)

    async def accept(
        self, name: str, tool: str | None = None, *, tenant: str, by: str | None = None
    ) -> builtins.list[Pin]:
        """Accept what waits of a server, or of one of its tools; by its own name for it, or ours."""
        server = self.server(name)
        scope = _scope(server, tenant)
        if tool is not None:
            pins = await self._pins.read(scope, name)
            ours = {own: remote for remote, own in local_names(server.prefix, pins).items()}
            tool = tool if tool in pins else ours.get(tool, tool)
        return await self._pins.accept(scope, name, tool, by=by)

    async def forget(self, name: str, *, tenant: str) -> int:
        """Forget what was accepted of a server, for everybody and for the tenant."""
        scopes = dict.fromkeys((DEFAULT_TENANT_ID, tenant))
        return sum([await self._pins.forget(scope, name) for scope in scopes])


def _scope(server: Server, tenant: str) -> str:
    return tenant if server.secrets else DEFAULT_TENANT_ID
