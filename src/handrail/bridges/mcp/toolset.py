"""McpToolset: the tools of a foreign server, loaded when they are called, through the same guard as all."""

from __future__ import annotations

import base64
import binascii
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

from handrail import Attachment, Context, Principal, Result, Tool, ToolError
from handrail.bridges.mcp.definitions import level_of
from handrail.bridges.mcp.errors import ConnectionLost, HeaderMismatch, ServerRefused, UnusableAnswer
from handrail.bridges.mcp.pool import ConnectionPool, ServerDown
from handrail.bridges.mcp.server_settings import Server, ToolRule
from handrail.bridges.mcp.server_tools import ServerTools, accepted_tools, remembered_tools
from handrail.bridges.mcp.tool_names import has_prefix
from handrail.ext.compat import DEFAULT_TENANT_ID
from handrail.ext.errors import DefinitionError, UnknownOutcome
from handrail.ext.ports import MemoryPins, Pins
from handrail.ext.toolsets import Definition, compare_pins

if TYPE_CHECKING:
    from mcp.shared.dispatcher import ProgressFnT
    from mcp_types import CallToolResult

    from handrail.bridges.mcp.connection import Connection

_MAX_QUOTED = 4_000


def result_of(tool_id: str, server: str, answer: CallToolResult) -> Result:
    """Text for the model, data where there is some, everything else beside it."""
    texts: list[str] = []
    attachments: list[Attachment] = []
    for number, block in enumerate(answer.content, 1):
        part = _read_block(block, number)
        if isinstance(part, Attachment):
            attachments.append(part)
        elif part:
            texts.append(part)
    text = "\n".join(texts)
    if answer.is_error:
        return failed_call(tool_id, server, text, attachments=tuple(attachments))
    data = answer.structured_content
    output = text if data is None else None
    return Result(data=data, output=output, attachments=tuple(attachments))


def failed_call(tool_id: str, server: str, words: str, **more: Any) -> Result:
    """A failed result that quotes the server: nobody takes its words for ours."""
    short = words if len(words) <= _MAX_QUOTED else f"{words[:_MAX_QUOTED]}…"
    quote = f" It says, in words of its own: {json.dumps(short, ensure_ascii=False)}" if short else ""
    return Result.fail(f"{tool_id} failed on the MCP server {server}.{quote}", **more)


def _read_block(block: Any, number: int) -> str | Attachment:
    kind = block.type
    if kind == "text":
        return str(block.text)
    if kind in ("image", "audio"):
        return _attachment(block.data, block.mime_type, f"{kind}-{number}")
    if kind == "resource_link":
        return Attachment(block.mime_type or "application/octet-stream", block.name, ref=str(block.uri))
    resource = block.resource
    text = getattr(resource, "text", None)
    if text is not None:
        return str(text)
    return _attachment(resource.blob, resource.mime_type or "application/octet-stream", f"resource-{number}")


def _attachment(encoded: str, mime: str, name: str) -> str | Attachment:
    try:
        return Attachment(mime, name, data=base64.b64decode(encoded, validate=True))
    except (binascii.Error, ValueError):
        return f"[{name}: its data cannot be read]"


_PROGRESS_INTERVAL = 0.05
_MAX_PROGRESS_TEXT = 500


async def call_tool(
    toolset: McpToolset, name: str, definition: Definition, args: dict[str, Any], ctx: Context
) -> Result:
    """The result of a call. One that may have happened already is made again only where that does no harm."""
    server, tries = toolset.server, 2
    while True:
        tries -= 1
        try:
            connection = await toolset.connection(name, definition, ctx.principal)
        except ConnectionLost as lost:
            if tries:
                continue
            raise ServerDown(server, str(lost), 0) from None
        try:
            answer = await connection.call(name, args, _progress_reporter(ctx))
        except ConnectionLost as lost:
            repeatable = not lost.arrived or _is_repeatable(toolset, name, definition)
            if repeatable and tries:
                continue
            if repeatable:
                raise ServerDown(server, str(lost), 0) from None
            raise UnknownOutcome(
                f"The MCP server {server.name} was lost while {name} ran on it: {lost}."
            ) from None
        except ServerRefused as refused:
            return failed_call(name, server.name, str(refused))
        except UnusableAnswer as broken:
            raise ToolError(
                f"{name} ran on the MCP server {server.name}, but its answer cannot be used: {broken}",
                code="INVALID_OUTPUT",
            ) from None
        except HeaderMismatch:
            raise ToolError(
                f"The MCP server {server.name} wants {name} in another shape by now. Read about it again.",
                code="TOOL_CHANGED",
            ) from None
        return result_of(name, server.name, answer)


def _is_repeatable(toolset: McpToolset, name: str, definition: Definition) -> bool:
    """Whether a second run does no harm, as an operator says; what the server claims does not count."""
    server = toolset.server
    rule = server.tools.get(name, ToolRule())
    return rule.idempotent or level_of(server, name, definition) in ("read", "draft")


def _progress_reporter(ctx: Context) -> ProgressFnT:
    """Tells of the server's progress as of ours, a few times a second at most."""
    last = 0.0

    async def report(progress: float, total: float | None, message: str | None) -> None:
        nonlocal last
        now = monotonic()
        if now - last < _PROGRESS_INTERVAL and (total is None or progress < total):
            return
        last = now
        metadata: dict[str, Any] = {"progress": progress}
        if total is not None:
            metadata["total"] = total
        if message:
            metadata["message"] = message[:_MAX_PROGRESS_TEXT]
        ctx.metadata(metadata)

    return report


_log = logging.getLogger("handrail.mcp")
_MAX_USERS = 1_000
Secrets = Callable[[str, Any], str | None]


class McpToolset:
    """One server's tools. Nothing is started or reached before somebody needs it."""

    def __init__(self, server: Server, *, pins: Pins | None = None, secrets: Secrets | None = None) -> None:
        self.server = server
        self._pins = pins
        self._secrets = secrets
        self._pool = ConnectionPool(server)
        self._server_tools: dict[tuple[str, str | None], ServerTools] = {}
        """By tenant and user: the tools as they were last seen."""
        self._latest: dict[str, ServerTools] = {}
        """By tenant: the tools made last. Users who see the same share them."""
        self._fresh: dict[tuple[str, Connection], tuple[Mapping[str, Definition], ServerTools]] = {}
        """What a connection said, and the tools made of it."""
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
        server_tools = self._server_tools.get(self._whose(principal))
        loaded = self._loaded.get(self._scope(principal))
        return () if server_tools is None or not loaded else server_tools.tools(self._body, loaded)

    async def known(self, principal: Principal, /) -> Sequence[Tool]:
        """What is there, by name and description. A server whose tools were seen before is not asked."""
        return (await self._seen(principal)).outlines

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        """The tool of that name, loaded. One that changed since it was accepted is refused."""
        if not has_prefix(self.server.prefix, name):
            return None
        server_tools = await self._current(principal)
        remote = server_tools.remote(name)
        if remote is None:
            return None
        if remote in server_tools.held:
            server_tools = await self._current(principal, again=True)
            if remote in server_tools.held:
                raise changed_error(self.server, remote)
        try:
            tool = server_tools.tool(remote, self._body)
        except DefinitionError as error:
            raise ToolError(f"{name} cannot be used: {error.problem}.", code="TOOL_UNAVAILABLE") from None
        self._loaded.setdefault(self._scope(principal), set()).add(remote)
        return tool

    async def look(self, principal: Principal) -> Sequence[Tool]:
        """Reach the server and read its tools; those that may be called. Raises `ToolError`."""
        try:
            connection = await self._pool.get(self._credential(principal))
            return (await self.checked(connection, principal, again=True)).tools(self._body)
        except ConnectionLost as lost:
            raise ServerDown(self.server, str(lost), 0) from None

    async def _seen(self, principal: Principal) -> ServerTools:
        """What is there as far as anybody knows; a server is reached only if nothing is known of it."""
        server_tools = self._server_tools.get(self._whose(principal))
        old = server_tools is not None and monotonic() - server_tools.made_at > self.server.refresh
        if server_tools is not None and not old and not self._is_told_of_changes(principal):
            return server_tools
        if server_tools is None or self._open_one(principal) is None:
            pins = await self.pins.read(self._scope(principal), self.server.name)
            if pins and not (old and self.server.load == "eager"):
                return self._keep(principal, remembered_tools(self.server, pins))
        return await self._current(principal, needed=False)

    def _is_told_of_changes(self, principal: Principal) -> bool:
        connection = self._open_one(principal)
        return connection is not None and connection.stale

    def _open_one(self, principal: Principal) -> Connection | None:
        try:
            return self._pool.peek(self._credential(principal))
        except ToolError:
            return None

    async def _current(
        self, principal: Principal, *, needed: bool = True, again: bool = False
    ) -> ServerTools:
        """What is there now; what was accepted before where the server does not answer."""
        scope = self._scope(principal)
        try:
            connection = await self._pool.get(self._credential(principal))
            return await self.checked(connection, principal, again=again)
        except (ToolError, ConnectionLost) as error:
            pins = await self.pins.read(scope, self.server.name)
            if pins:
                return self._keep(principal, remembered_tools(self.server, pins))
            if needed:
                raise (
                    error if isinstance(error, ToolError) else ServerDown(self.server, str(error), 0)
                ) from None
            return ServerTools(self.server, {}, frozenset())  # and not kept: it may be there next time

    async def checked(
        self, connection: Connection, principal: Principal, *, again: bool = False
    ) -> ServerTools:
        """What the connection tells, held against what was accepted. Whatever fails in this refuses."""
        scope = self._scope(principal)
        definitions = await connection.definitions()
        fresh = self._fresh.get((scope, connection))
        if fresh is not None and fresh[0] is definitions and not again:
            return self._keep(principal, fresh[1])
        pins = await self.pins.read(scope, self.server.name)
        if seen := compare_pins(pins, definitions, self.server.trust == "first_use"):
            await self.pins.note(scope, self.server.name, seen)
            pins = await self.pins.read(scope, self.server.name)
        if seen.held:
            names = ", ".join(pin.tool for pin in seen.held)
            _log.info("of the MCP server %s wait for acceptance: %s", self.server.name, names)
        server_tools = self._keep(principal, accepted_tools(self.server, definitions, pins))
        self._fresh = {key: fresh for key, fresh in self._fresh.items() if key[1].alive}
        self._fresh[scope, connection] = (definitions, server_tools)
        return server_tools

    def _keep(self, principal: Principal, server_tools: ServerTools) -> ServerTools:
        """Remember tools; those of before stay where nothing changed."""
        scope, whose = self._scope(principal), self._whose(principal)
        latest = self._latest.get(scope)
        if server_tools is not latest and latest is not None and latest.same(server_tools):
            latest.made_at = server_tools.made_at
            server_tools = latest
        if len(self._server_tools) >= _MAX_USERS and whose not in self._server_tools:
            self._server_tools.clear()
        self._server_tools[whose] = self._latest[scope] = server_tools
        return server_tools

    def _whose(self, principal: Principal) -> tuple[str, str | None]:
        """For whom tools are made: for everybody, unless each credential may see others."""
        return (principal.tenant, principal.user) if self.server.secrets else (DEFAULT_TENANT_ID, None)

    def _scope(self, principal: Principal) -> str:
        """Whose pins count: everybody's, unless the server may tell each credential something else."""
        return principal.tenant if self.server.secrets else DEFAULT_TENANT_ID

    def _credential(self, principal: Principal) -> dict[str, str]:
        """The secrets the server is told: of the caller's tenant or user, never what the caller sent."""
        values: dict[str, str] = {}
        for name in self.server.secrets:
            value = self._secrets(name, principal) if self._secrets is not None else None
            if value is None:
                raise ToolError(
                    f"The MCP server {self.server.name} needs the secret {name!r}, which is not set up for "
                    "you. Ask an administrator to add it.",
                    code="SECRET_MISSING",
                )
            values[name] = value
        return values

    def _body(self, name: str, definition: Definition) -> Callable[..., Any]:
        async def execute(args: Mapping[str, Any], ctx: Context) -> Result:
            for secret in self.server.secrets:
                ctx.secret(secret)  # from here on it is masked in all that is told of this call
            return await call_tool(self, name, definition, dict(args), ctx)

        return execute

    async def connection(self, name: str, definition: Definition, principal: Principal) -> Connection:
        """A connection whose server still has this very tool."""
        connection = await self._pool.get(self._credential(principal))
        server_tools = await self.checked(connection, principal)
        if name in server_tools.held or server_tools.open.get(name) != definition:
            if name in connection.tools:
                raise changed_error(self.server, name)
            raise ToolError(
                f"The MCP server {self.server.name} has no {name} any more.", code="TOOL_UNAVAILABLE"
            )
        return connection


def changed_error(server: Server, name: str) -> ToolError:
    return ToolError(
        f"The MCP server {server.name} tells something else of {name} than was accepted, or nobody accepted "
        f"it yet. It is not called until a person accepts it: handrail mcp accept {server.name} {name}",
        code="TOOL_CHANGED",
    )
