"""Payloads: what each type of event adds to its row, and the event made of it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from handrail.core.define.call import Call, Repair
from handrail.core.define.result import Result
from handrail.core.tell.events import (
    Event,
    NeedsApproval,
    OutputAppended,
    ToolApproved,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolStarted,
)


def _result(result: Result) -> dict[str, Any]:
    """The envelope, exactly: what is not there is not told."""
    told: dict[str, Any] = {"success": result.success}
    if result.data is not None:
        told["data"] = result.data
    for name in ("summary", "markdown", "error", "code", "title", "output"):
        if (text := getattr(result, name)) is not None:
            told[name] = text
    if result.metadata:
        told["metadata"] = dict(result.metadata)
    if result.attachments:
        told["attachments"] = [attachment.to_log() for attachment in result.attachments]
    return told


def _repairs(repairs: tuple[Repair, ...]) -> list[list[Any]]:
    return [[one.path, one.kind, one.before, one.after] for one in repairs]


def _repaired(told: list[list[Any]]) -> tuple[Repair, ...]:
    return tuple(Repair(*one) for one in told)


def _started(event: ToolStarted) -> dict[str, Any]:
    told: dict[str, Any] = {"input": event.input}
    if event.repairs:
        told["repairs"] = _repairs(event.repairs)
    if not event.repeatable:
        told["repeatable"] = False
    return told


def _failed(event: ToolFailed) -> dict[str, Any]:
    told = {"result": _result(event.result), "duration_ms": event.duration_ms, "input": event.input}
    if event.layer is not None:
        told["layer"] = event.layer
    if event.rule is not None:
        told["rule"] = event.rule
    return told


TELL: dict[str, Callable[[Any], dict[str, Any]]] = {
    "tool.started": _started,
    "tool.output_appended": lambda event: {"chunk": event.chunk},
    "tool.completed": lambda event: {"result": _result(event.result), "duration_ms": event.duration_ms},
    "tool.failed": _failed,
    "tool.cancelled": lambda event: {
        "result": _result(event.result),
        "duration_ms": event.duration_ms,
        "input": event.input,
    },
    "tool.needs_approval": lambda event: {
        "approval_id": event.approval_id,
        "input": event.input,
        "reason": event.reason,
        "repairs": _repairs(event.repairs),
    },
    "tool.approved": lambda event: {
        "approval_id": event.approval_id,
        "by": event.by,
        "input": event.input,
        "edited": event.edited,
    },
}

Make = Callable[[Call, str, float, Any, Mapping[str, Any]], Event]
MAKE: dict[str, Make] = {
    "tool.started": lambda call, tool, at, run, told: ToolStarted(
        call, tool, at, run, told["input"], _repaired(told.get("repairs", [])), told.get("repeatable", True)
    ),
    "tool.output_appended": lambda call, tool, at, run, told: OutputAppended(
        call, tool, at, run, told["chunk"]
    ),
    "tool.completed": lambda call, tool, at, run, told: ToolCompleted(
        call, tool, at, run, Result.from_dict(told["result"]), told["duration_ms"]
    ),
    "tool.failed": lambda call, tool, at, run, told: ToolFailed(
        call,
        tool,
        at,
        run,
        Result.from_dict(told["result"]),
        told["duration_ms"],
        told["input"],
        told.get("layer"),
        told.get("rule"),
    ),
    "tool.cancelled": lambda call, tool, at, run, told: ToolCancelled(
        call, tool, at, run, Result.from_dict(told["result"]), told["duration_ms"], told["input"]
    ),
    "tool.needs_approval": lambda call, tool, at, run, told: NeedsApproval(
        call, tool, at, told["approval_id"], told["input"], told["reason"], _repaired(told["repairs"])
    ),
    "tool.approved": lambda call, tool, at, run, told: ToolApproved(
        call, tool, at, told["approval_id"], told["by"], told["input"], told["edited"]
    ),
}
