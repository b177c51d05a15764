"""find_tool: the tool behind a name, also where it has to be initialised or comes from a toolset."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from handrail.core.define.call import BoundCall
from handrail.core.define.constructors import initialise
from handrail.core.define.decision import Decision
from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.errors import DefinitionError, ToolError
from handrail.core.find.visibility import TenantView
from handrail.core.guard.admit import Admitted, admit
from handrail.core.run import refusals
from handrail.core.run.refusals import Refusal
from handrail.core.run.runtime import Runtime

_log = logging.getLogger("handrail.find")


async def find_tool(
    name: str, principal: Principal, runtime: Runtime, source: Source = "agent"
) -> Tool | Refusal:
    """The ready tool, or why there is none."""
    if not isinstance(name, str):
        return refusals.not_found(str(name))
    try:
        view = await view_of(principal, runtime)
        tool = await _find_definition(name, principal, runtime, view)
    except ToolError as error:
        return refusals.held_back(name, f"{error}", error.code)
    except Exception as error:
        _log.exception("a toolset failed to find %s", name)
        return refusals.held_back(name, f"The source of {name} failed: {error}. Try again later.")
    if tool is None:
        return await _not_found(name, principal, runtime, source)
    if tool.ready:
        return tool
    try:
        ready = runtime.initialised.get(tool) or await initialise_tool(tool, runtime)
    except Exception as error:
        _log.exception("tool %s could not be initialised", tool.id)
        seen = runtime.guard.see(tool, principal)
        if seen.verdict == "deny":
            return await hidden_or_denied(seen, tool, name, principal, runtime, source)
        why = error.problem if isinstance(error, DefinitionError) else error
        return refusals.held_back(tool.id, f"{tool.id} could not be set up: {why}")
    shown = ready if view is None else view.shown(ready)
    return await _not_found(name, principal, runtime, source) if shown is None else shown


async def find_definition(name: str, principal: Principal, runtime: Runtime) -> Tool | None:
    """The tool that has the name now, ready or not, as the principal's tenant has it. A source may raise."""
    return await _find_definition(name, principal, runtime, await view_of(principal, runtime))


async def view_of(principal: Principal, runtime: Runtime) -> TenantView | None:
    """The tools of the principal's tenant; None where nothing is stored, and everybody has the registry's."""
    resolver = runtime.resolver
    if resolver is None:
        return None
    return resolver.at_hand(principal) or await resolver.view(principal)


async def _find_definition(
    name: str, principal: Principal, runtime: Runtime, view: TenantView | None
) -> Tool | None:
    tool = runtime.registry.get(name) if view is None else view.find(name)
    if tool is not None:
        return tool
    for toolset in runtime.toolsets:
        tool = await toolset.find(name, principal)
        if tool is not None and not isinstance(tool, Tool):
            raise TypeError(f"it found a {type(tool).__name__}, which is not a tool")
        if tool is not None and view is not None:
            tool = view.shown(tool)
        if tool is not None:
            return tool
    return None


async def _not_found(name: str, principal: Principal, runtime: Runtime, source: Source) -> Refusal:
    """No such tool. What is near is a help, and no more: a toolset that cannot list does not matter here."""
    near: Sequence[str] = ()
    if runtime.similar is not None:
        try:
            near = await runtime.similar(name, principal, source)
        except Exception:
            _log.exception("nothing could be listed that is near to %s", name)
    return refusals.not_found(name, near)


async def hidden_or_denied(
    decision: Decision, tool: Tool, name: str, principal: Principal, runtime: Runtime, source: Source
) -> Refusal:
    """A hidden tool answers like an unknown one."""
    if decision.code == "TOOL_NOT_FOUND":
        return await _not_found(name, principal, runtime, source)
    return refusals.denied(decision, tool)


async def admit_call(call: BoundCall, raw: Any, runtime: Runtime) -> tuple[Tool, Admitted] | Refusal:
    """The tool that the caller may see and the arguments that fit it; or why the call would be refused."""
    tool = await find_tool(call.tool, call.principal, runtime, call.source)
    if isinstance(tool, Refusal):
        return tool
    seen = runtime.guard.see(tool, call.principal)
    if seen.verdict == "deny":
        return await hidden_or_denied(seen, tool, call.tool, call.principal, runtime, call.source)
    admitted = admit(tool, raw, call.tool, runtime.repairing)
    return (tool, admitted) if isinstance(admitted, Admitted) else refusals.invalid(tool, admitted)


async def initialise_tool(tool: Tool, runtime: Runtime) -> Tool:
    """The tool after its initialiser ran: checked, compiled, and in the registry in its place."""
    ready = await initialise(tool, runtime.init)
    if ready.id != tool.id:
        problem = f"its initialiser returned {ready.id!r}"
        raise DefinitionError(problem, tool=tool.id, location=tool.location, remedy="keep the id")
    runtime.initialised[tool] = settled = runtime.registry.settle(tool, ready)
    return settled
