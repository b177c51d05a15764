"""Earlier results, read piece by piece by whoever made the call, and the tool that does so for a model."""

from __future__ import annotations

import logging
from typing import Annotated

from pydantic import Field

from handrail.core.define.constructors import tool
from handrail.core.define.context import Context
from handrail.core.define.principal import Principal
from handrail.core.define.result import MODEL_LIMIT, PAGE, Result
from handrail.core.errors import ToolError
from handrail.core.run.find_tool import find_definition
from handrail.core.run.runtime import Runtime
from handrail.core.tell.events import ToolCompleted, ToolFailed
from handrail.core.tell.log import events_of_call

_log = logging.getLogger("handrail.run")


async def read_page(
    runtime: Runtime, handle: str, principal: Principal, offset: int, limit: int | None
) -> str:
    """A page of the whole text of an earlier result, for the same principal, while its tool may be seen."""
    size = MODEL_LIMIT if limit is None else limit
    if offset < 0 or size <= 0:
        raise ToolError("offset counts from 0 and limit is at least 1.", code="INVALID_PARAM")
    end: ToolCompleted | ToolFailed | None = None
    for event in await events_of_call(runtime.teller.log, principal.tenant, handle):
        if isinstance(event, (ToolCompleted, ToolFailed)) and principal.is_same_caller(event.call.principal):
            end = event
    if end is None or not await may_see(runtime, end.tool, principal):
        raise ToolError(f"There is no result {handle!r} to read.", code="TOOL_NOT_FOUND")
    text = end.result.text()
    page = text[offset : offset + size]
    following = offset + len(page)
    rest = len(text) - following
    if rest <= 0:
        return page
    return f"{page}\n[{rest} characters follow. Read on with offset={following}.]"


async def may_see(runtime: Runtime, name: str, principal: Principal) -> bool:
    """Whether the tool is there and shown to the principal now; one that is gone is shown to nobody."""
    try:
        tool = await find_definition(name, principal, runtime)
    except Exception as error:
        _log.exception("a toolset failed to find %s", name)
        raise ToolError(
            f"Whether you may read this cannot be told now: the source of {name} failed. Try again later.",
            code="TOOL_UNAVAILABLE",
        ) from error
    return tool is not None and runtime.guard.see(tool, principal).verdict != "deny"


@tool("read_result", level="read", category="handrail", icon="book-open", origin="system")
async def read_result(
    handle: Annotated[str, Field(description="The handle named where the result was cut")],
    offset: Annotated[int, Field(description="The character to read on from", ge=0)] = 0,
    limit: Annotated[int, Field(description="How many characters to read", ge=1, le=100_000)] = 30_000,
    *,
    ctx: Context,
) -> str | Result:
    """Read on in an earlier result that was too large to show in full."""
    text = await ctx.read_result(handle, offset, limit)
    page = {"handle": handle, "offset": offset, "length": min(len(text), limit)}
    return Result(data=text, output=text, metadata={PAGE: page})
