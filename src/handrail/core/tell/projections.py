"""Projections: the same events as outcomes, panel lines, legacy runs and history for a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from handrail.core.define.call import Outcome, Repair, Status
from handrail.core.define.names import slug_of
from handrail.core.define.result import Result
from handrail.core.define.tool import RegistryEvent
from handrail.core.frozen_record import record
from handrail.core.tell.events import (
    Event,
    NeedsApproval,
    ToolApproved,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolStarted,
)
from handrail.core.tell.runs import UNKNOWN_OUTCOME

_LEGACY_SOURCE = {"web": "web", "cli": "web", "api": "api", "agent": "agent", "mcp": "agent", "job": "agent"}


def to_registry_event(event: Event) -> RegistryEvent | None:
    """`execute` for a completed run, `error` for a failed one."""
    if isinstance(event, ToolCompleted):
        return RegistryEvent("execute", event.tool, result=event.result)
    if isinstance(event, ToolFailed):
        return RegistryEvent("error", event.tool, result=event.result)
    return None


def last_result(events: Iterable[Event]) -> Result | None:
    """The newest result among events, newest first."""
    for event in events:
        if isinstance(event, (ToolCompleted, ToolFailed)) and event.run_id is not None:
            return event.result
    return None


def to_ui_events(event: Event) -> list[dict[str, Any]]:
    """`tool_start` and `tool_result` for the activity panel.

    A call that ended before it began still shows that it was asked for, and every line that began ends.
    """
    if isinstance(event, ToolStarted):
        return [_start(event.tool, event.input)]
    if not isinstance(event, (ToolCompleted, ToolFailed, ToolCancelled)):
        return []
    data = {"tool": event.tool, "result": event.result.to_worker(), "duration": event.duration_ms}
    ended = {"type": "tool_result", "data": data}
    if event.run_id is not None:
        return [ended]
    return [_start(event.tool, getattr(event, "input", None)), ended]


def _start(tool: str, params: Any) -> dict[str, Any]:
    return {"type": "tool_start", "data": {"tool": tool, "params": dict(params or {})}}


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A run as older consumers know it: a view over events, never stored."""

    id: str
    tenant_id: str
    tool_slug: str
    user_id: str | None
    input: Any
    output: Any
    status: Literal["success", "error"]
    error: str | None
    duration_ms: float
    source: str
    chat_id: str | None
    session_id: str | None


def to_legacy_tool_run(events: Iterable[Event], slug: str | None = None) -> ToolRun | None:
    """Fold the events of one run into a ToolRun; None while it has not both begun and ended.

    Of several runs, the first that ended.
    """
    begun: dict[str, ToolStarted] = {}
    for event in events:
        if isinstance(event, ToolStarted):
            begun[event.run_id] = event
        elif isinstance(event, (ToolCompleted, ToolFailed, ToolCancelled)) and event.run_id in begun:
            return _tool_run(begun[event.run_id], event, slug)
    return None


def _tool_run(
    started: ToolStarted, ended: ToolCompleted | ToolFailed | ToolCancelled, slug: str | None
) -> ToolRun:
    legacy = ended.result.to_legacy_run()
    return ToolRun(
        id=started.run_id,
        tenant_id=started.tenant,
        tool_slug=slug or slug_of(started.tool),
        user_id=started.call.principal.user,
        input=dict(started.input),
        output=legacy["output"],
        status="success" if ended.result.success else "error",
        error=legacy["error"],
        duration_ms=ended.duration_ms,
        source=_LEGACY_SOURCE[started.call.source],
        chat_id=started.call.session,
        session_id=started.session,
    )


def outcome_of(events: Iterable[Event]) -> Outcome | None:
    """Fold the events of one call, oldest first. None while its body runs, and when nothing was told of it.

    What the guard decided is not told in events, so the outcome has no decision.
    """
    outcome: Outcome | None = None
    approval_id: str | None = None
    repairs: tuple[Repair, ...] = ()
    for event in events:
        if isinstance(event, NeedsApproval):
            approval_id, repairs = event.approval_id, event.repairs
            result = pending_result(event.reason, approval_id)
            outcome = Outcome(
                "pending", result, event.call_id, event.tool, approval_id=approval_id, repairs=repairs
            )
        elif isinstance(event, ToolApproved):
            approval_id = event.approval_id
        elif isinstance(event, ToolStarted):
            outcome, repairs = None, event.repairs
        elif isinstance(event, (ToolCompleted, ToolFailed, ToolCancelled)):
            outcome = Outcome(
                status=_status(event),
                result=event.result,
                call_id=event.call_id,
                tool=event.tool,
                run_id=event.run_id,
                approval_id=approval_id,
                duration_ms=event.duration_ms,
                repairs=repairs,
            )
    return outcome


def without_id_conflicts(events: Iterable[Event]) -> list[Event]:
    """Without what is told of others who wanted the id of the call while it was in use."""
    return [
        event
        for event in events
        if not (isinstance(event, ToolFailed) and event.result.code == "CALL_ID_IN_USE")
    ]


def pending_result(reason: str, approval_id: str) -> Result:
    """What is said of a call that waits for a person."""
    text = f"{reason}. It waits for a person (approval {approval_id}); nothing was run yet."
    return Result(False, None, "Waiting for approval", error=text, code="NEEDS_APPROVAL")


def _status(event: ToolCompleted | ToolFailed | ToolCancelled) -> Status:
    if isinstance(event, ToolCompleted):
        return "completed"
    if isinstance(event, ToolCancelled):
        return "refused" if event.result.code == "REJECTED" else "cancelled"
    if event.result.code == UNKNOWN_OUTCOME:
        return "needs_review"
    return "failed" if event.layer is None else "refused"


@record
class ToolUse:
    """One use of a tool."""

    tool: str
    params: Mapping[str, Any]
    result: Result
    duration_ms: float


class PassState(Protocol):
    """What a loop keeps from one pass to the next."""

    @property
    def tool_history(self) -> list[ToolUse]: ...


def record_tool_result(
    state: PassState, tool: str, params: Mapping[str, Any], result: Result, duration_ms: float
) -> None:
    """Keep a result for the next pass's prompt."""
    state.tool_history.append(ToolUse(tool, dict(params), result, duration_ms))


def tool_history(events: Iterable[Event]) -> list[ToolUse]:
    """The same from the record: every call of these events that has ended, in the order in which they did."""
    begun: dict[str, Mapping[str, Any]] = {}
    used: list[ToolUse] = []
    for event in events:
        if isinstance(event, ToolStarted):
            begun[event.run_id] = event.input
        elif isinstance(event, (ToolCompleted, ToolFailed, ToolCancelled)):
            params = begun.pop(event.run_id or "", None) or getattr(event, "input", None) or {}
            used.append(ToolUse(event.tool, params, event.result, event.duration_ms))
    return used
