"""Analytics: one `tool_run` for each run, for whoever counts elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handrail.core.tell.counts import TOKENS, Counts, code_of, measured
from handrail.core.tell.events import Event, ToolCancelled, ToolCompleted, ToolFailed
from handrail.core.tell.usage import cell_of


def tool_runs(listener: Callable[[dict[str, Any]], None]) -> Callable[[Event], None]:
    """A listener for `hr.subscribe` that passes on one `tool_run` for each run, when it has ended."""

    def hear(event: Event) -> None:
        if (told := to_tool_run(event)) is not None:
            listener(told)

    return hear


def to_tool_run(event: Event) -> dict[str, Any] | None:
    """The `tool_run` of an event that ends a run: names and numbers, never arguments or results."""
    if not isinstance(event, (ToolCompleted, ToolFailed, ToolCancelled)) or event.run_id is None:
        return None
    counts = Counts(measured(event))
    return {
        "event": "tool_run",
        "run_id": event.run_id,
        "call_id": event.call_id,
        "session": event.session,
        "at": event.at,
        **cell_of(event)._asdict(),
        "status": "needs_review" if counts["unclear"] else event.kind,
        "code": None if event.result.success else code_of(event.result),
        "duration_ms": event.duration_ms,
        "cost": counts.cost,
        **{name: counts[name] for name in TOKENS},
    }
