"""undo: the call that takes the effect of an earlier one back, through the guard like any other."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from handrail.core.define.call import BoundCall, Outcome, bind_call
from handrail.core.define.decision import Decision
from handrail.core.define.json_values import copy_object
from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.core.define.redaction import MASK
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.idempotency import KeyId
from handrail.core.run.explain import explain
from handrail.core.run.find_tool import find_tool
from handrail.core.run.refusals import Refusal
from handrail.core.run.results import may_see
from handrail.core.run.runtime import Runtime
from handrail.core.tell.events import Event, ToolCompleted, ToolStarted
from handrail.core.tell.log import events_of_call
from handrail.core.tell.projections import outcome_of, without_id_conflicts

_log = logging.getLogger("handrail.run")


@dataclass(frozen=True, slots=True)
class Undo:
    """How a call is undone: what is called for it, and what came of that."""

    call_id: str
    """The call that is undone."""
    tool: str
    args: Mapping[str, Any]
    decision: Decision
    """What the guard says to the call that undoes it."""
    outcome: Outcome | None = None
    """None in a preview."""


@asynccontextmanager
async def alone(call_id: str, who: Principal, runtime: Runtime) -> AsyncIterator[None]:
    """Let whoever else undoes this call, as anybody and in any process, wait until it is in the record."""
    key: KeyId = (who.tenant, None, None, f"undo of {call_id}")
    while True:
        entry, ours = await runtime.keys.begin(key, "undo", f"undo of {call_id}")
        if ours:
            break
        await entry.over()
    try:
        yield
    finally:
        runtime.keys.release(key)


async def prepare(call_id: str, who: Principal, source: Source, runtime: Runtime) -> tuple[BoundCall, Undo]:
    """The call that would take another one back, and what it is; a `ToolError` says why nothing does."""
    started, completed = await _start_and_end(call_id, who, runtime)
    tool = await _tool(started, who, runtime)
    name, args = _compensation(tool, started, completed)
    undo_id = await _free_id(call_id, who, runtime)
    call = bind_call(name, who, undo_id, source, started.call.session, idempotency_key=f"undo:{undo_id}")
    return call, Undo(call_id, name, args, await explain(call, args, runtime))


async def _start_and_end(call_id: str, who: Principal, runtime: Runtime) -> tuple[ToolStarted, ToolCompleted]:
    """The beginning and the end of a call that is theirs, in the record."""
    recorded = await events_of_call(runtime.teller.log, who.tenant, call_id)
    events = [event for event in recorded if _is_theirs(event, who)]
    if not events or not await may_see(runtime, events[0].tool, who):
        raise ToolError(
            f"There is no call {call_id!r} of yours. See which there are in the record of runs.",
            code="CALL_NOT_FOUND",
        )
    begun = [event for event in events if isinstance(event, ToolStarted)]
    ended = [event for event in events if isinstance(event, ToolCompleted)]
    if not begun or not ended:
        raise ToolError(
            f"The call {call_id!r} of {events[0].tool} did not complete, so there is nothing to undo.",
            code="NOT_COMPLETED",
        )
    return begun[-1], ended[-1]


def _is_theirs(event: Event, who: Principal) -> bool:
    """Whether it tells of a call of their own, or of one that an agent of theirs made."""
    owner = event.call.principal
    if who.is_same_caller(owner):
        return True
    is_own_agent = (who.tenant, who.user, who.workspace) == (owner.tenant, owner.user, owner.workspace)
    return is_own_agent and who.user is not None and who.agent is None


async def _tool(started: ToolStarted, who: Principal, runtime: Runtime) -> Tool:
    tool = await find_tool(started.tool, who, runtime)
    if isinstance(tool, Refusal):
        raise ToolError(f"{tool.result.error}", code=tool.result.code or "TOOL_NOT_FOUND")
    if _is_masked(started.input):
        raise _not_undoable("its arguments are masked in the record, so nobody knows them any more")
    return tool


def _compensation(tool: Tool, started: ToolStarted, completed: ToolCompleted) -> tuple[str, dict[str, Any]]:
    if tool.undo is None:
        raise _not_undoable(f"{tool.id} does not say how its effect is taken back")
    admitted = admit(tool, dict(started.input), None, repairing=False)
    if not isinstance(admitted, Admitted):
        raise _not_undoable(f"{tool.id} has changed since, and the arguments of the call no longer fit it")
    try:
        compensation = tool.undo(admitted.values, completed.result.to_dict()["data"])
        if compensation is None:
            raise _not_undoable(f"{tool.id} says of this call that nothing takes it back")
        name, args = compensation
        if not isinstance(name, str):
            raise TypeError(f"undo named {name!r}, which is no tool")
        return name, copy_object(args)
    except ToolError:
        raise
    except Exception as error:
        _log.exception("the undo of %s failed", tool.id)
        raise _not_undoable(f"{tool.id} could not say how ({type(error).__name__})") from error


def _not_undoable(why: str) -> ToolError:
    return ToolError(f"This call cannot be undone: {why}.", code="NOT_UNDOABLE")


def _is_masked(value: Any) -> bool:
    if isinstance(value, str):
        return MASK in value
    if isinstance(value, Mapping):
        return any(map(_is_masked, value.values()))
    return isinstance(value, (list, tuple)) and any(map(_is_masked, value))


async def _free_id(call_id: str, who: Principal, runtime: Runtime) -> str:
    """The id of the next attempt: earlier ones came to nothing. One that did something is the last."""
    number, undo_id = 1, f"undo-{call_id}"
    while events := await events_of_call(runtime.teller.log, who.tenant, undo_id):
        if any(isinstance(event, ToolCompleted) for event in events):
            raise already_undone(undo_id)
        outcome = outcome_of(without_id_conflicts(events))
        if outcome is not None and outcome.status == "pending":
            raise _under_way(undo_id, "it waits for a person")
        if outcome is None or outcome.status == "needs_review":
            raise _under_way(undo_id, "nobody knows yet how it ends")
        number += 1
        undo_id = f"undo-{call_id}-{number}"
    if await runtime.plans.holds(undo_id, who.tenant):
        raise _under_way(undo_id, "it is planned: run the plan, or discard it")
    return undo_id


def already_undone(undo_id: str) -> ToolError:
    message = f"This call was undone already, by the call {undo_id}. Undo that one to bring it back."
    return ToolError(message, code="ALREADY_UNDONE")


def _under_way(undo_id: str, how: str) -> ToolError:
    return ToolError(f"An undo of this call was begun, and {how} (call {undo_id}).", code="UNDO_UNDER_WAY")
