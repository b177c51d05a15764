"""Pages: the whole of an earlier result, piece by piece, for whoever may still see its tool."""

from __future__ import annotations

import asyncio
import logging

from handrail.core.define.bound import MODEL_LIMIT
from handrail.core.define.principal import Principal
from handrail.core.errors import ToolError
from handrail.core.run.house import House
from handrail.core.run.seek import look_up
from handrail.core.tell.events import Event, ToolCompleted, ToolFailed

_log = logging.getLogger("handrail.run")


async def read_page(house: House, handle: str, principal: Principal, offset: int, limit: int | None) -> str:
    """A page of the whole text of an earlier result, for the same principal, while its tool may be seen."""
    size = MODEL_LIMIT if limit is None else limit
    if offset < 0 or size <= 0:
        raise ToolError("offset counts from 0 and limit is at least 1.", code="INVALID_PARAM")
    end: ToolCompleted | ToolFailed | None = None
    log = house.teller.log
    for event in await asyncio.to_thread(lambda: list(log.read(principal.tenant, call_id=handle))):
        if isinstance(event, (ToolCompleted, ToolFailed)) and is_of(event, principal):
            end = event
    if end is None or not await may_see(house, end.tool, principal):
        raise ToolError(f"There is no result {handle!r} to read.", code="TOOL_NOT_FOUND")
    text = end.result.text()
    page = text[offset : offset + size]
    following = offset + len(page)
    rest = len(text) - following
    if rest <= 0:
        return page
    return f"{page}\n[{rest} characters follow. Read on with offset={following}.]"


def is_of(event: Event, principal: Principal) -> bool:
    """Whether it tells of a call that this very principal made."""
    owner = event.call.principal
    return owner is not None and _identity(owner) == _identity(principal)


def _identity(principal: Principal) -> tuple[str | None, ...]:
    return principal.tenant, principal.user, principal.agent, principal.workspace


async def may_see(house: House, name: str, principal: Principal) -> bool:
    """Whether the tool is there and shown to the principal now; one that is gone is shown to nobody."""
    try:
        tool = await look_up(name, principal, house)
    except Exception as error:
        _log.exception("a toolset failed to find %s", name)
        raise ToolError(
            f"Whether you may read this cannot be told now: the source of {name} failed. Try again later.",
            code="TOOL_UNAVAILABLE",
        ) from error
    return tool is not None and house.guard.see(tool, principal).verdict != "deny"
