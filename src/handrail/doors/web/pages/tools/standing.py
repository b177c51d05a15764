"""How a call of a tool stands: what it was given, what came of it, for whoever may see that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handrail.core.define.call import Outcome
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.guard.approval import ApprovalRequest
from handrail.core.tell.events import (
    Event,
    NeedsApproval,
    Progress,
    ToolCancelled,
    ToolFailed,
    ToolStarted,
)
from handrail.core.tell.log import FollowedLog
from handrail.core.tell.outcome import outcome_of
from handrail.core.tell.runs import Run
from handrail.doors.http.record import Record
from handrail.doors.http.refusing import Refused
from handrail.doors.http.routing import source_of
from handrail.doors.http.streams import waited
from handrail.doors.http.whose import is_same, known_call, plausible
from handrail.doors.web.pages.runs.people import voice_of
from handrail.doors.web.routing import NotThere, Reader
from handrail.doors.web.story.endings import canceller, ending_of


@dataclass(frozen=True, slots=True)
class Standing:
    """One call, as it stands now."""

    call_id: str
    at: float
    """When it was asked for."""
    by: Principal | None
    input: Mapping[str, Any]
    outcome: Outcome | None
    """None while it runs."""
    run_id: str | None = None
    approval: ApprovalRequest | None = None
    """What it waits for, or waited for."""
    progress: Progress | None = None
    began_at: float | None = None
    """When its body began."""
    first_seq: int = 0
    ending: str | None = None
    """How it ended, in a sentence, where it was cancelled or never began."""

    @property
    def running(self) -> bool:
        return self.outcome is None

    @property
    def waiting(self) -> bool:
        """Whether it waits for a person."""
        return self.outcome is not None and self.outcome.status == "pending"

    @property
    def is_open(self) -> bool:
        """Whether there is more to come."""
        return self.running or self.waiting


async def standing(reader: Reader, tool: Tool, call_id: str) -> Standing:
    """How a call of this tool stands. For whoever may not see it there is none."""
    try:
        known = await known_call(
            reader.platform, call_id, reader.who, "events.read", source_of(reader.request)
        )
    except Refused:
        raise NotThere from None
    if known.first is None or known.first.tool != tool.id:
        raise NotThere
    tenant = reader.who.tenant
    events = await Record(reader.platform).telling(tenant, call_id)
    outcome = outcome_of(events)
    if outcome is None or outcome.status == "pending":
        outcome = await waited(reader.platform, tenant, call_id, 0.0) or outcome
    first = known.first
    asked = next((one.approval_id for one in events if isinstance(one, NeedsApproval)), None)
    started = next((one for one in reversed(events) if isinstance(one, ToolStarted)), None)
    approval = await reader.hr.approvals.get(asked, reader.who) if asked else None
    inputs = [found for one in events if (found := getattr(one, "input", None)) is not None]
    return Standing(
        call_id,
        first.at,
        first.call.principal,
        inputs[-1] if inputs else {},
        outcome,
        None if started is None else started.run_id,
        approval,
        reader.web.live.progress.get(call_id),
        None if started is None else started.at,
        first.seq,
        await _ending(reader, events[-1], approval) if events else None,
    )


async def _ending(reader: Reader, last: Event, approval: ApprovalRequest | None) -> str | None:
    """What is said of a call that nobody let come to a result."""
    if not isinstance(last, ToolFailed | ToolCancelled):
        return None
    if isinstance(last, ToolFailed) and last.layer is None:
        return None
    decider = approval.decided_by if approval is not None else None
    users = [decider, canceller(last) if isinstance(last, ToolCancelled) else None]
    decided = {approval.id: decider} if approval is not None and decider is not None else {}
    voice = await voice_of(reader, users, decided)
    return ending_of(last, voice, approval.id if approval is not None else None).said


async def run_of(reader: Reader, tool: Tool, run_id: str) -> Run:
    """A run of this tool."""
    log = reader.hr.log
    run = (
        await log.run(reader.who.tenant, run_id)
        if plausible(run_id) and isinstance(log, FollowedLog)
        else None
    )
    if run is None or run.tool != tool.id:
        raise NotThere
    return run


async def last_of(reader: Reader, tool: Tool) -> Standing | None:
    """This reader's newest run of a tool."""
    user = reader.who.user
    if user is None:
        return None
    for run in await reader.hr.runs(reader.who, tool=tool.id, user=user, limit=5):
        if run.agent == reader.who.agent:
            try:
                return await standing(reader, tool, run.call_id)
            except NotThere:
                return None
    return None


def is_mine(reader: Reader, by: Principal | None) -> bool:
    return by is not None and is_same(reader.who, by)
