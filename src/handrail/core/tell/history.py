"""History: which tools were called, with what, and what came of it, for the prompt of the next pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from handrail.core.define.result import Result
from handrail.core.record import record
from handrail.core.tell.events import Event, ToolCancelled, ToolCompleted, ToolFailed, ToolStarted


@record
class Used:
    """One use of a tool."""

    tool: str
    params: Mapping[str, Any]
    result: Result
    duration_ms: float


class PassState(Protocol):
    """What a loop keeps from one pass to the next."""

    @property
    def tool_history(self) -> list[Used]: ...


def record_tool_result(
    state: PassState, tool: str, params: Mapping[str, Any], result: Result, duration_ms: float
) -> None:
    """Keep a result for the next pass's prompt."""
    state.tool_history.append(Used(tool, dict(params), result, duration_ms))


def tool_history(events: Iterable[Event]) -> list[Used]:
    """The same from the record: every call of these events that has ended, in the order in which they did."""
    begun: dict[str, Mapping[str, Any]] = {}
    used: list[Used] = []
    for event in events:
        if isinstance(event, ToolStarted):
            begun[event.run_id] = event.input
        elif isinstance(event, (ToolCompleted, ToolFailed, ToolCancelled)):
            params = begun.pop(event.run_id or "", None) or getattr(event, "input", None) or {}
            used.append(Used(event.tool, params, event.result, event.duration_ms))
    return used
