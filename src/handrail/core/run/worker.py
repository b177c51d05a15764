"""WorkerState: what was called in a run, for those who bring their own loop and call tools one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from handrail.core.define.call import Call
from handrail.core.define.schema import canonical


@dataclass(slots=True)
class WorkerState:
    """The signatures of the calls made so far, and what the last pass skipped."""

    executed_tool_signatures: set[str] = field(default_factory=set)
    skipped_duplicates: list[str] = field(default_factory=list)


def tool_signature(tool: str, params: Mapping[str, Any] | None = None) -> str:
    """`tool::{...}`: the same for the same arguments, in whatever order they are written."""
    return f"{tool}::{canonical(dict(params or {})).decode()}"


def is_tool_already_executed(state: WorkerState, tool: str, params: Mapping[str, Any] | None = None) -> bool:
    return tool_signature(tool, params) in state.executed_tool_signatures


def mark_tool_executed(state: WorkerState, tool: str, params: Mapping[str, Any] | None = None) -> None:
    state.executed_tool_signatures.add(tool_signature(tool, params))


def new_tool_calls(state: WorkerState, calls: Iterable[Call]) -> tuple[list[Call], dict[str, str] | None]:
    """The calls of a pass that are new, now marked; and the exit when there were calls and none is new."""
    fresh: list[Call] = []
    state.skipped_duplicates = []
    for call in calls:
        params = call.args if isinstance(call.args, Mapping) else {"": call.args} if call.args else {}
        if is_tool_already_executed(state, call.tool, params):
            state.skipped_duplicates.append(call.tool)
        else:
            mark_tool_executed(state, call.tool, params)
            fresh.append(call)
    nothing_new = bool(state.skipped_duplicates) and not fresh
    return fresh, {"type": "exit", "reason": "all_tools_duplicate"} if nothing_new else None
