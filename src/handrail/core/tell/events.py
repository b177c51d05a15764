"""Events: what happened to a call. The seven `tool.*` types are the durable record.

Every event knows its `call`, the canonical `tool` id and when it happened; the log gives it `seq`, its number
in the session, and `position`, its number among all of the tenant, once. `kind` is the short word that
streams speak of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from typing import Any, ClassVar

from handrail.core.define.call import BoundCall, Outcome, Repair
from handrail.core.define.result import Result
from handrail.core.frozen_record import record

_NOT_IN_PAYLOAD = frozenset({"call", "tool", "at", "seq", "position", "repeatable"})


@record
class Event:
    """Something that happened to a call."""

    type: ClassVar[str] = ""
    kind: ClassVar[str] = ""

    call: BoundCall
    tool: str
    at: float
    seq: int = field(default=0, init=False)
    position: int = field(default=0, init=False)

    @property
    def call_id(self) -> str:
        return self.call.id

    @property
    def session(self) -> str:
        return self.call.log_session

    @property
    def tenant(self) -> str:
        return self.call.tenant

    @property
    def id(self) -> str:
        return f"{self.session}/{self.seq}"

    def payload(self) -> dict[str, Any]:
        """What this type adds to the record: its own fields as JSON data, unless it says otherwise."""
        own: Any = self
        names = (item.name for item in fields(own) if item.name not in _NOT_IN_PAYLOAD)
        return {name: _as_json(getattr(self, name)) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON data."""
        principal = self.call.principal
        return {
            "id": self.id,
            "type": self.type,
            "seq": self.seq,
            "at": self.at,
            "tenant": self.tenant,
            "session": self.session,
            "call_id": self.call_id,
            "parent": self.call.parent,
            "tool": self.tool,
            "user": principal.user,
            "agent": principal.agent,
            "source": self.call.source,
            "turn": self.call.turn,
            **self.payload(),
        }


def _as_json(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, tuple):
        return [repair.to_dict() for repair in value]
    return dict(value) if isinstance(value, Mapping) else value


@record
class ToolStarted(Event):
    """The body is about to run; its id is the run id."""

    type = "tool.started"
    kind = "started"

    run_id: str
    input: Mapping[str, Any]
    repairs: tuple[Repair, ...] = ()
    repeatable: bool = True
    """Whether it may be made again when nobody knows how it ended: it only reads, or twice is as once."""

    @property
    def id(self) -> str:
        return self.run_id


@record
class OutputAppended(Event):
    """A piece was added to the running output."""

    type = "tool.output_appended"
    kind = "chunk"

    run_id: str
    chunk: str


@record
class ToolCompleted(Event):
    """The body succeeded."""

    type = "tool.completed"
    kind = "completed"

    run_id: str | None
    result: Result
    duration_ms: float


def bare_completed(
    call: BoundCall, tool: str, at: float, run_id: str | None, data: Any, duration_ms: float
) -> ToolCompleted:
    """The event of a run whose result is data and nothing else."""
    return ToolCompleted(call, tool, at, run_id, Result(True, data), duration_ms)


@record
class ToolFailed(Event):
    """The body failed, or the call was refused before it (then there is no run id)."""

    type = "tool.failed"
    kind = "failed"

    run_id: str | None
    result: Result
    duration_ms: float
    input: Any = None
    layer: str | None = None
    rule: str | None = None

    @property
    def code(self) -> str | None:
        return self.result.code

    def payload(self) -> dict[str, Any]:
        return {
            "run_id": self.run_id,
            "code": self.result.code,
            "error": self.result.error,
            "layer": self.layer,
            "rule": self.rule,
            "input": self.input,
            "result": self.result.to_dict(),
            "duration_ms": self.duration_ms,
        }


@record
class ToolCancelled(Event):
    """A user or the runtime ended the call, or a reviewer rejected it (then there may be no run id)."""

    type = "tool.cancelled"
    kind = "cancelled"

    run_id: str | None
    result: Result
    duration_ms: float
    input: Any = None

    def payload(self) -> dict[str, Any]:
        return {
            "run_id": self.run_id,
            "code": self.result.code,
            "reason": self.result.error,
            "input": self.input,
            "metadata": dict(self.result.metadata),
            "duration_ms": self.duration_ms,
        }


@record
class NeedsApproval(Event):
    """The call waits for a person."""

    type = "tool.needs_approval"
    kind = "needs_approval"

    approval_id: str
    input: Mapping[str, Any]
    reason: str
    repairs: tuple[Repair, ...] = ()


@record
class ToolApproved(Event):
    """A person agreed; the call goes on."""

    type = "tool.approved"
    kind = "approved"

    approval_id: str
    by: str | None
    input: Mapping[str, Any]
    edited: bool


@record
class Progress(Event):
    """A body says how far it is; shown, not stored."""

    type = "tool.progress"
    kind = "progress"

    run_id: str
    told: Mapping[str, Any]

    @property
    def title(self) -> str | None:
        return self.told.get("title")


@record
class Retrying(Event):
    """An attempt failed and will be repeated; shown, not stored."""

    type = "tool.retrying"
    kind = "retrying"

    run_id: str
    attempt: int
    """The one that failed, from 1."""
    error: str
    pause: float
    """Seconds until the next."""


@record
class Settled(Event):
    """The call ended without running: planned, or answered from an earlier run. Not stored."""

    type = "tool.settled"
    kind = "settled"

    outcome: Outcome

    def payload(self) -> dict[str, Any]:
        return {"status": self.outcome.status, "code": self.outcome.code}
