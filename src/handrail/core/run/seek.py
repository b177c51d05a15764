"""seek: the tool behind a name that is not simply there: to be initialised, or lazily found."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Sequence

from handrail.core.define.call import Call
from handrail.core.define.decision import Decision
from handrail.core.define.principal import Principal
from handrail.core.define.styles import initialised
from handrail.core.define.tool import Tool
from handrail.core.errors import DefinitionError, ToolError
from handrail.core.find.view import TenantView
from handrail.core.run import refusal
from handrail.core.run.house import House
from handrail.core.run.refusal import Refusal

_log = logging.getLogger("handrail.find")


async def seek(call: Call, house: House) -> Tool | Refusal:
    """The ready tool, or why there is none."""
    assert call.principal is not None
    if not isinstance(call.tool, str):
        return refusal.not_found(str(call.tool))
    try:
        view = await view_of(call.principal, house)
        tool = await _looked_up(call.tool, call.principal, house, view)
    except ToolError as error:
        return refusal.held_back(call.tool, f"{error}", error.code)
    except Exception as error:
        _log.exception("a toolset failed to find %s", call.tool)
        return refusal.unavailable(call.tool, f"The source of {call.tool} failed: {error}. Try again later.")
    if tool is None:
        return await _not_found(call, house)
    if tool.ready:
        return tool
    try:
        ready = house.initialised.get(tool) or await make_ready(tool, house)
    except Exception as error:
        _log.exception("tool %s could not be initialised", tool.id)
        seen = house.guard.see(tool, call.principal)
        if seen.verdict == "deny":
            return await hidden_or_denied(seen, tool, call, house)
        why = error.problem if isinstance(error, DefinitionError) else error
        return refusal.unavailable(tool.id, f"{tool.id} could not be set up: {why}")
    shown = ready if view is None else view.shown(ready)
    return await _not_found(call, house) if shown is None else shown


async def look_up(name: str, principal: Principal, house: House) -> Tool | None:
    """The tool that has the name now, ready or not, as the principal's tenant has it. A source may raise."""
    return await _looked_up(name, principal, house, await view_of(principal, house))


async def view_of(principal: Principal, house: House) -> TenantView | None:
    """The tools of the principal's tenant; None where nothing is stored, and everybody has the registry's."""
    resolver = house.resolver
    if resolver is None:
        return None
    return resolver.at_hand(principal) or await resolver.view(principal)


async def _looked_up(name: str, principal: Principal, house: House, view: TenantView | None) -> Tool | None:
    tool = house.registry.get(name) if view is None else view.find(name)
    if tool is not None:
        return tool
    for toolset in house.toolsets:
        tool = await toolset.find(name, principal)
        if tool is not None and not isinstance(tool, Tool):
            raise TypeError(f"it found a {type(tool).__name__}, which is not a tool")
        if tool is not None and view is not None:
            tool = view.shown(tool)
        if tool is not None:
            return tool
    return None


async def _not_found(call: Call, house: House) -> Refusal:
    """No such tool. What is near is a help, and no more: a toolset that cannot list does not matter here."""
    near: Sequence[str] = ()
    if house.similar is not None:
        try:
            near = await house.similar(call)
        except Exception:
            _log.exception("nothing could be listed that is near to %s", call.tool)
    return refusal.not_found(call.tool, near)


async def hidden_or_denied(decision: Decision, tool: Tool, call: Call, house: House) -> Refusal:
    """A hidden tool answers like an unknown one."""
    if decision.code == "TOOL_NOT_FOUND":
        return await _not_found(call, house)
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
    settled = house.registry.settle(tool, ready)
    house.initialised[tool] = settled
    return settled
