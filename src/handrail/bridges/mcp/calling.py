"""One call of a foreign tool, and what is said when its connection ends in the middle."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from handrail import Context, Result
from handrail.bridges.mcp.attempt import Drifted, Lost, Refused, Unusable
from handrail.bridges.mcp.content import failure, result_of
from handrail.bridges.mcp.definition import level_of
from handrail.bridges.mcp.pool import Down
from handrail.bridges.mcp.server import ToolRule
from handrail.ext import Definition, ToolError, UnknownOutcome

if TYPE_CHECKING:
    from mcp.shared.dispatcher import ProgressFnT

    from handrail.bridges.mcp.toolset import McpToolset

_APART = 0.05
_LONGEST = 500


async def called(
    toolset: McpToolset, name: str, definition: Definition, args: dict[str, Any], ctx: Context
) -> Result:
    """The result of a call. One that may have happened already is made again only where that does no harm."""
    server, tries = toolset.server, 2
    while True:
        tries -= 1
        try:
            connection = await toolset.connection(name, definition, ctx.principal)
        except Lost as lost:
            if tries:
                continue
            raise Down(server, str(lost), 0) from None
        try:
            answer = await connection.call(name, args, _handed_on(ctx))
        except Lost as lost:
            repeatable = not lost.arrived or _repeatable(toolset, name, definition)
            if repeatable and tries:
                continue
            if repeatable:
                raise Down(server, str(lost), 0) from None
            raise UnknownOutcome(
                f"The MCP server {server.name} was lost while {name} ran on it: {lost}."
            ) from None
        except Refused as refused:
            return failure(name, server.name, str(refused))
        except Unusable as broken:
            raise ToolError(
                f"{name} ran on the MCP server {server.name}, but its answer cannot be used: {broken}",
                code="INVALID_OUTPUT",
            ) from None
        except Drifted:
            raise ToolError(
                f"The MCP server {server.name} wants {name} in another shape by now. Read about it again.",
                code="TOOL_CHANGED",
            ) from None
        return result_of(name, server.name, answer)


def _repeatable(toolset: McpToolset, name: str, definition: Definition) -> bool:
    """Whether a second run does no harm, as an operator says; what the server claims does not count."""
    server = toolset.server
    rule = server.tools.get(name, ToolRule())
    return rule.idempotent or level_of(server, name, definition) in ("read", "draft")


def _handed_on(ctx: Context) -> ProgressFnT:
    """Tells of the server's progress as of ours, a few times a second at most."""
    last = 0.0

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < _APART and (total is None or progress < total):
            return
        last = now
        told: dict[str, Any] = {"progress": progress}
        if total is not None:
            told["total"] = total
        if message:
            told["message"] = message[:_LONGEST]
        ctx.metadata(told)

    return tell
