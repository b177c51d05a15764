"""Projections: the same events in the shapes that panels, registries and older consumers know."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from handrail.core.define.names import slug_of
from handrail.core.define.registryevent import RegistryEvent
from handrail.core.define.result import Result
from handrail.core.tell.events import Event, ToolCancelled, ToolCompleted, ToolFailed, ToolStarted

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
    ended = _result(event.tool, event.result, event.duration_ms)
    if event.run_id is not None:
        return [ended]
    return [_start(event.tool, getattr(event, "input", None)), ended]


def _start(tool: str, params: Any) -> dict[str, Any]:
    return {"type": "tool_start", "data": {"tool": tool, "params": dict(params or {})}}


def _result(tool: str, result: Result, duration: float) -> dict[str, Any]:
    return {"type": "tool_result", "data": {"tool": tool, "result": result.to_worker(), "duration": duration}}


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
        user_id=started.call.principal.user if started.call.principal else None,
        input=dict(started.input),
        output=legacy["output"],
        status="success" if ended.result.success else "error",
        error=legacy["error"],
        duration_ms=ended.duration_ms,
        source=_LEGACY_SOURCE[started.call.source],
        chat_id=started.call.session,
        session_id=started.session,
    )
