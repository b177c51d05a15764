"""CallView: how a call of a tool stands, what it was given and what came of it, for whoever may see that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handrail.core.define.call import Outcome
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.guard.approval_request import ApprovalRequest
from handrail.core.tell.events import (
    Event,
    NeedsApproval,
    Progress,
    ToolCancelled,
    ToolFailed,
    ToolStarted,
)
from handrail.core.tell.projections import outcome_of
from handrail.core.tell.runs import Run
from handrail.doors.web.pages.runs.run_view import display_names_for
from handrail.doors.web.routing import PageContext, PageNotFound
from handrail.doors.web.timeline.sentences import canceller, describe_ending
from handrail.platform.access import find_call, is_plausible_id, is_same_caller
from handrail.platform.calls import wait_for_outcome


@dataclass(frozen=True, slots=True)
class CallView:
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


async def find_call_view(ctx: PageContext, tool: Tool, call_id: str) -> CallView:
    """How a call of this tool stands. For whoever may not see it there is none."""
    known = await find_call(ctx.platform, call_id, ctx.who, "events.read", ctx.source)
    if known is None or known.first is None or known.first.tool != tool.id:
        raise PageNotFound
    tenant = ctx.who.tenant
    events = await ctx.platform.events.call_events(tenant, call_id)
    outcome = outcome_of(events)
    if outcome is None or outcome.status == "pending":
        outcome = await wait_for_outcome(ctx.hr, tenant, call_id, 0.0) or outcome
    first = known.first
    asked = next((one.approval_id for one in events if isinstance(one, NeedsApproval)), None)
    started = next((one for one in reversed(events) if isinstance(one, ToolStarted)), None)
    approval = await ctx.hr.approvals.get(asked, ctx.who) if asked else None
    inputs = [found for one in events if (found := getattr(one, "input", None)) is not None]
    return CallView(
        call_id,
        first.at,
        first.call.principal,
        inputs[-1] if inputs else {},
        outcome,
        None if started is None else started.run_id,
        approval,
        ctx.web.live.progress.get(call_id),
        None if started is None else started.at,
        first.seq,
        await _ending(ctx, events[-1], approval) if events else None,
    )


async def _ending(ctx: PageContext, last: Event, approval: ApprovalRequest | None) -> str | None:
    """What is said of a call that nobody let come to a result."""
    if not isinstance(last, ToolFailed | ToolCancelled):
        return None
    if isinstance(last, ToolFailed) and last.layer is None:
        return None
    decider = approval.decided_by if approval is not None else None
    users = [decider, canceller(last) if isinstance(last, ToolCancelled) else None]
    decided = {approval.id: decider} if approval is not None and decider is not None else {}
    display_names = await display_names_for(ctx, users, decided)
    return describe_ending(last, display_names, approval.id if approval is not None else None).said


async def find_run_of_tool(ctx: PageContext, tool: Tool, run_id: str) -> Run:
    """A run of this tool."""
    run = await ctx.platform.events.run(ctx.who.tenant, run_id) if is_plausible_id(run_id) else None
    if run is None or run.tool != tool.id:
        raise PageNotFound
    return run


async def last_call(ctx: PageContext, tool: Tool) -> CallView | None:
    """This reader's newest run of a tool."""
    user = ctx.who.user
    if user is None:
        return None
    for run in await ctx.hr.runs(ctx.who, tool=tool.id, user=user, limit=5):
        if run.agent == ctx.who.agent:
            try:
                return await find_call_view(ctx, tool, run.call_id)
            except PageNotFound:
                return None
    return None


def is_own_call(ctx: PageContext, by: Principal | None) -> bool:
    return by is not None and is_same_caller(ctx.who, by)
