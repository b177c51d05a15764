"""pass_gate: what stands between a decision that is not allow and the run."""

from __future__ import annotations

import logging

from handrail.core.define.call import Outcome
from handrail.core.define.decision import Decision, Step
from handrail.core.define.json_values import copy_object, private_copy
from handrail.core.define.result import Result
from handrail.core.define.schema import digest_of
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted
from handrail.core.guard.approval_request import (
    ApprovalRequest,
    Approver,
    Grant,
    Reply,
    RequestStatus,
    read_reply,
    settle,
)
from handrail.core.guard.plans import PlannedCall
from handrail.core.guard.risk import level_and_danger
from handrail.core.ids import new_id
from handrail.core.run import refusals
from handrail.core.run.approvals.preview import preview_call
from handrail.core.run.approvals.resume import apply_reply, end_expired, may_stand, reply_for_record
from handrail.core.run.call_state import CallState
from handrail.core.tell.events import NeedsApproval
from handrail.core.tell.projections import pending_result

_log = logging.getLogger("handrail.approval")


async def pass_gate(
    state: CallState, tool: Tool, decision: Decision, grant: Grant | None
) -> Outcome | tuple[Admitted, Tool]:
    """Refused, queued, pending, answered by a person; or what to run after somebody agreed."""
    admitted = state.admitted
    if grant is not None:
        return await _resume(state, tool, admitted, decision, grant)
    if decision.verdict == "deny":
        return state.refuse(refusals.denied(decision, tool))
    if decision.verdict == "queue":
        return await _queue(state, tool, admitted, decision)
    covered = await _under_standing_approval(state, tool, decision)
    if covered is not None:
        state.decision = covered
        return admitted, tool
    preview = await preview_call(state, tool, admitted.values)
    request = _new_request(state, tool, admitted, decision, preview)
    state.approval_id = request.id
    if state.runtime.approver is None:
        return await _wait_for_reply(state, request)
    return await _ask_approver(state, tool, admitted, request, state.runtime.approver)


async def _resume(
    state: CallState, tool: Tool, admitted: Admitted, decision: Decision, grant: Grant
) -> Outcome | tuple[Admitted, Tool]:
    """The call goes on. Somebody reviewed it, so plan mode holds it no more."""
    state.approval_id = grant.request.id
    if grant.request.status == "withdrawn":
        why = f"Cancelled: {grant.reply.reason}."
        return state.end_cancelled("cancelled", Result.fail(why, code="CANCELLED", summary="Cancelled"))
    if decision.verdict == "deny":
        return state.refuse(refusals.denied(decision, tool))
    if grant.request.status == "expired":
        return end_expired(state, grant.request)
    return await apply_reply(state, tool, admitted, grant)


async def _queue(state: CallState, tool: Tool, admitted: Admitted, decision: Decision) -> Outcome:
    runtime = state.runtime
    shown = state.show(admitted.args, tool)
    secrets = frozenset(state.secrets or ())
    raw, now = private_copy(state.raw), runtime.clock.now()
    added = await runtime.plans.add(
        PlannedCall(state.call, tool.id, shown, decision.reason, raw, secrets, now)
    )
    if added == "known":
        return state.refuse(refusals.id_in_use())
    if added == "full":
        full = f"The plan is full, so {tool.id} is not in it. Run or discard what is queued, then call again."
        return state.refuse(refusals.broken("PLAN_FULL", "The plan is full", full, "plan"))
    text = f"{tool.name} is planned, not run. It runs when somebody runs the plan."
    return state.end_silently("queued", Result(True, None, text, code="PLANNED", output=text))


async def _under_standing_approval(state: CallState, tool: Tool, decision: Decision) -> Decision | None:
    """The decision where a standing approval of the session covers the call; None where none does."""
    call = state.call
    if call.session is None or not may_stand(tool, decision):
        return None
    if not await state.runtime.standing.holds(call.principal, call.session, tool.digest):
        return None
    state.check()
    return decision.settled(Step("standing", "allow", "a standing approval of this session covers it"))


def _new_request(
    state: CallState, tool: Tool, admitted: Admitted, decision: Decision, preview: str | None
) -> ApprovalRequest:
    runtime = state.runtime
    level, danger = level_and_danger(tool, admitted.values)
    now = runtime.clock.now()
    lifetime = runtime.approval_lifetime
    return ApprovalRequest(
        id=new_id("approval"),
        call=state.call,
        tool=tool.id,
        tool_digest=tool.digest,
        args=copy_object(state.show(admitted.args, tool)),
        args_hash=digest_of(admitted.args),
        level=level,
        danger=danger,
        decision=decision,
        created_at=now,
        expires_at=None if lifetime is None else now + lifetime,
        repairs=admitted.repairs,
        quorum=tool.approvals,
        four_eyes=tool.four_eyes,
        raw=private_copy(state.raw),
        secrets=frozenset(state.secrets or ()),
        preview=preview,
    )


def _tell(state: CallState, request: ApprovalRequest) -> None:
    """Record that a person is needed."""
    runtime, shown = state.runtime, copy_object(request.args)
    now = runtime.clock.now()
    details = (request.id, shown, request.reason, request.repairs)
    runtime.teller.tell((NeedsApproval, state.call, request.tool, now, *details))


async def _wait_for_reply(state: CallState, request: ApprovalRequest, is_recorded: bool = False) -> Outcome:
    """Stored first: a question that is recorded and stored nowhere could never be answered."""
    await state.runtime.approvals.add(request)
    if not is_recorded:
        _tell(state, request)
    return state.end_waiting("pending", pending_result(request.reason, request.id))


async def _ask_approver(
    state: CallState, tool: Tool, admitted: Admitted, request: ApprovalRequest, approver: Approver
) -> Outcome | tuple[Admitted, Tool]:
    """Put the question to the approver of this process. One that fails refuses."""
    _tell(state, request)
    state.step_aside()
    try:
        reply = read_reply(await approver(request))
        state.check()
    except Exception as error:
        if state.ending is not None:
            raise
        _log.exception("the approver failed, so the call is refused")
        why = f"Nobody could be asked ({error}), so {request.tool} was not run."
        return state.refuse(refusals.broken("APPROVER_FAILED", "Not approved", why, "approval"))
    now = state.runtime.clock.now()
    if request.is_late(now) and (reply is None or reply.verdict != "reject"):
        return end_expired(state, request)
    if reply is None:
        return await _wait_for_reply(state, request, is_recorded=True)
    if reply.verdict != "reject" and (request.quorum > 1 or request.four_eyes):
        counted = _count_vote(state, tool, request, reply, now)
        if counted.status == "pending":
            return await _wait_for_reply(state, counted, is_recorded=True)
    return await apply_reply(state, tool, admitted, Grant(request, reply))


def _count_vote(
    state: CallState, tool: Tool, request: ApprovalRequest, reply: Reply, now: float
) -> ApprovalRequest:
    """The request after the approver's vote, where one vote may not be enough."""
    vote = reply_for_record(request, reply, tool, state.runtime.repairing)
    status: RequestStatus = "approved" if reply.verdict == "approve" else "responded"
    return (settle(request, status, vote, now) if isinstance(vote, Reply) else None) or request
