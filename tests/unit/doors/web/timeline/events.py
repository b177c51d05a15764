"""Events for stories: short ways to make one of each type."""

from __future__ import annotations

from typing import Any

from handrail.core.define.call import BoundCall, Outcome, Repair
from handrail.core.define.principal import Principal
from handrail.core.define.result import Result
from handrail.core.tell.events import (
    Event,
    NeedsApproval,
    OutputAppended,
    Progress,
    Retrying,
    Settled,
    ToolApproved,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolStarted,
)

TOOL = "data.updateRecord"
ANA = Principal("acme", "user_ana")
OPS = Principal("acme", "user_ana", agent="ops")


def call(id: str = "call_1", who: Principal = ANA, **more: Any) -> BoundCall:
    return BoundCall(TOOL, who, **{"source": "web", "id": id, **more})


def numbered(*events: Event) -> list[Event]:
    """The events with the numbers that a log gives."""
    for at, event in enumerate(events, 1):
        object.__setattr__(event, "seq", at)
        object.__setattr__(event, "position", at)
    return list(events)


def started(of: BoundCall | None = None, repairs: tuple[Repair, ...] = (), **input: Any) -> ToolStarted:
    return ToolStarted(of or call(), TOOL, 1.0, "run_1", input, repairs)


def chunk(text: str, of: BoundCall | None = None) -> OutputAppended:
    return OutputAppended(of or call(), TOOL, 1.5, "run_1", text)


def completed(result: Result | None = None, ms: float = 84.0, run: str | None = "run_1") -> ToolCompleted:
    return ToolCompleted(call(), TOOL, 2.0, run, result or Result(True, {"a": 1}), ms)


def failed(
    error: str, code: str | None = "TOOL_FAILED", *, layer: str | None = None, **more: Any
) -> ToolFailed:
    run = None if layer is not None else "run_1"
    return ToolFailed(call(), TOOL, 2.0, run, Result(False, error=error, code=code, **more), 84.0, {}, layer)


def cancelled(error: str, code: str = "CANCELLED", run: str | None = "run_1") -> ToolCancelled:
    return ToolCancelled(call(), TOOL, 2.0, run, Result(False, error=error, code=code), 2_500.0, {})


def asked(
    reason: str = "Needs approval: strict mode", of: BoundCall | None = None, **input: Any
) -> NeedsApproval:
    return NeedsApproval(of or call(), TOOL, 1.0, "approval_1", input, reason)


def approved(by: str | None = "user_ana", edited: bool = False, **input: Any) -> ToolApproved:
    return ToolApproved(call(), TOOL, 1.5, "approval_1", by, input, edited)


def progress(**told: Any) -> Progress:
    return Progress(call(), TOOL, 1.5, "run_1", told)


def retrying(error: str) -> Retrying:
    return Retrying(call(), TOOL, 1.5, "run_1", 1, error, 2.0)


def settled(status: Any) -> Settled:
    return Settled(call(), TOOL, 1.5, Outcome(status, Result(), "call_1", TOOL))
