"""outcome_of: how a call ended, or what it waits for, from its events."""

from __future__ import annotations

from collections.abc import Iterable

from handrail.core.define.call import Outcome, Repair, Status
from handrail.core.define.result import Result
from handrail.core.tell.events import (
    Event,
    NeedsApproval,
    ToolApproved,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolStarted,
)
from handrail.core.tell.runs import UNKNOWN


def outcome_of(events: Iterable[Event]) -> Outcome | None:
    """Fold the events of one call, oldest first. None while its body runs, and when nothing was told of it.

    What the guard decided is not told in events, so the outcome has no decision.
    """
    known: Outcome | None = None
    approval_id: str | None = None
    repairs: tuple[Repair, ...] = ()
    for event in events:
        if isinstance(event, NeedsApproval):
            approval_id, repairs = event.approval_id, event.repairs
            known = _outcome("pending", waiting(event.reason, event.approval_id), event, approval_id, repairs)
        elif isinstance(event, ToolApproved):
            approval_id = event.approval_id
        elif isinstance(event, ToolStarted):
            known, repairs = None, event.repairs
        elif isinstance(event, (ToolCompleted, ToolFailed, ToolCancelled)):
            known = _outcome(_status(event), event.result, event, approval_id, repairs)
    return known


def of_the_call(events: Iterable[Event]) -> list[Event]:
    """Without what is told of others who wanted the id of the call while it was in use."""
    return [
        one for one in events if not (isinstance(one, ToolFailed) and one.result.code == "CALL_ID_IN_USE")
    ]


def waiting(reason: str, approval_id: str) -> Result:
    """What is said of a call that waits for a person."""
    said = f"{reason}. It waits for a person (approval {approval_id}); nothing was run yet."
    return Result(False, None, "Waiting for approval", error=said, code="NEEDS_APPROVAL")


def _status(event: ToolCompleted | ToolFailed | ToolCancelled) -> Status:
    if isinstance(event, ToolCompleted):
        return "completed"
    if isinstance(event, ToolCancelled):
        return "refused" if event.result.code == "REJECTED" else "cancelled"
    if event.result.code == UNKNOWN:
        return "needs_review"
    return "failed" if event.layer is None else "refused"


def _outcome(
    status: Status, result: Result, event: Event, approval_id: str | None, repairs: tuple[Repair, ...]
) -> Outcome:
    return Outcome(
        status=status,
        result=result,
        call_id=event.call_id,
        tool=event.tool,
        run_id=getattr(event, "run_id", None),
        approval_id=approval_id,
        duration_ms=getattr(event, "duration_ms", 0.0),
        repairs=repairs,
    )
