"""seek: the tool behind a name that is not simply there: to be initialised, or lazily found."""

from __future__ import annotations

import inspect
import logging

from handrail.core.define.call import Call
from handrail.core.define.decision import Decision
from handrail.core.define.styles import initialised
from handrail.core.define.tool import Tool
from handrail.core.errors import DefinitionError
from handrail.core.run import refusal
from handrail.core.run.house import House
from handrail.core.run.refusal import Refusal

_log = logging.getLogger("handrail.find")


async def seek(call: Call, house: House) -> Tool | Refusal:
    """The ready tool, or why there is none."""
    assert call.principal is not None
    tool = house.registry.get(call.tool)
    if tool is None:
        for toolset in house.toolsets:
            try:
                tool = await toolset.find(call.tool, call.principal)
            except Exception as error:
                _log.exception("a toolset failed to find %s", call.tool)
                return refusal.unavailable(
                    call.tool, f"The source of {call.tool} failed: {error}. Try again later."
                )
            if tool is not None:
                break
    if tool is None:
        return refusal.not_found(call.tool, await house.similar(call) if house.similar else ())
    if tool.ready:
        return tool
    try:
        return await make_ready(tool, house)
    except Exception as error:
        _log.exception("tool %s could not be initialised", tool.id)
        return refusal.unavailable(tool.id, f"{tool.id} could not be set up: {error}")


async def hidden_or_denied(decision: Decision, tool: Tool, call: Call, house: House) -> Refusal:
    """A hidden tool answers like an unknown one."""
    if decision.code == "TOOL_NOT_FOUND":
        return refusal.not_found(call.tool, await house.similar(call) if house.similar else ())
    return refusal.denied(decision, tool)


async def make_ready(tool: Tool, house: House) -> Tool:
    """The tool after its initialiser ran: checked, compiled, and put in its place."""
    assert tool.init is not None
    definition = tool.init(house.init)
    if inspect.isawaitable(definition):
        definition = await definition
    ready = initialised(tool, definition)
    if ready.id != tool.id:
        raise DefinitionError(
            f"its initialiser returned {ready.id!r}", tool=tool.id, place=tool.place, remedy="keep the id"
        )
    return house.registry.settle(tool, ready)
