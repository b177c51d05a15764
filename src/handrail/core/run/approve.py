"""pass_gate: what stands between a decision that is not allow and the run."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from handrail.core.define.call import Outcome
from handrail.core.define.decision import Decision, Step
from handrail.core.define.jsonvalue import copy_object, own_copy
from handrail.core.define.result import Result
from handrail.core.define.schema import digest_of
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted
from handrail.core.guard.approval import ApprovalRequest, Reply, RequestStatus, read_reply
from handrail.core.guard.axes import axes
from handrail.core.guard.plan import Planned
from handrail.core.guard.settling import settle
from handrail.core.ids import new_id
from handrail.core.run import refusal
from handrail.core.run.answering import answer, end_late, may_stand
from handrail.core.run.edits import recorded
from handrail.core.run.foreseeing import foresee
from handrail.core.run.tale import Tale
from handrail.core.tell.events import NeedsApproval

_log = logging.getLogger("handrail.approval")


@dataclass(frozen=True, slots=True)
class Grant:
    """An answer given earlier, brought along by the run that resumes the call."""

    request: ApprovalRequest
    reply: Reply


async def pass_gate(tale: Tale, decision: Decision, grant: Grant | None) -> Outcome | tuple[Admitted, Tool]:
    """Refused, queued, pending, answered by a person; or what to run after somebody agreed."""
    tool, admitted = tale.tool, tale.admitted
    assert tool is not None and admitted is not None
    if grant is not None:
        return await _resumed(tale, decision, grant)
    if decision.verdict == "deny":
        return tale.refuse(refusal.denied(decision, tool))
    if decision.verdict == "queue":
        return await _queue(tale, tool, admitted, decision)
    if await _stands(tale, tool, decision):
        return admitted, tool
    request = _request(tale, tool, admitted, decision, await foresee(tale, tool, admitted.values))
    tale.approval_id = request.id
    if tale.house.approver is None:
        return await _wait(tale, request)
    reply = await _asked(tale, request)
    if isinstance(reply, Outcome):
        return reply
    now = tale.house.clock.now()
    if request.is_late(now) and (reply is None or reply.verdict != "reject"):
        return end_late(tale, request)
    if reply is None:
        return await _wait(tale, request, told=True)
    if reply.verdict != "reject" and (request.quorum > 1 or request.four_eyes):
        counted = _counted(tale, request, reply, now)
        if counted.status == "pending":
            return await _wait(tale, counted, told=True)
    return await answer(tale, request, reply)


async def _resumed(tale: Tale, decision: Decision, grant: Grant) -> Outcome | tuple[Admitted, Tool]:
    """The call goes on. Somebody reviewed it, so plan mode holds it no more."""
    tool = tale.tool
    assert tool is not None
    tale.approval_id = grant.request.id
    if grant.request.status == "withdrawn":
        why = f"Cancelled: {grant.reply.reason}."
        return tale.call_off("cancelled", Result.fail(why, code="CANCELLED", summary="Cancelled"))
    if decision.verdict == "deny":
        return tale.refuse(refusal.denied(decision, tool))
    if grant.request.status == "expired":
        return end_late(tale, grant.request)
    return await answer(tale, grant.request, grant.reply)


async def _queue(tale: Tale, tool: Tool, admitted: Admitted, decision: Decision) -> Outcome:
    house = tale.house
    shown = tale.show(admitted.args, tool)
    secrets = frozenset(tale.secrets or ())
    raw, now = own_copy(tale.raw), house.clock.now()
    added = await house.plans.add(Planned(tale.call, tool.id, shown, decision.reason, raw, secrets, now))
    if added == "known":
        return tale.refuse(refusal.id_in_use())
    if added == "full":
        full = f"The plan is full, so {tool.id} is not in it. Run or discard what is queued, then call again."
        return tale.refuse(refusal.broken("PLAN_FULL", "The plan is full", full, "plan"))
    said = f"{tool.name} is planned, not run. It runs when somebody runs the plan."
    return tale.quietly("queued", Result(True, None, said, code="PLANNED", output=said))


async def _stands(tale: Tale, tool: Tool, decision: Decision) -> bool:
    call = tale.call
    assert call.principal is not None
    if call.session is None or not may_stand(tool, decision):
        return False
    if not await tale.house.standing.holds(call.principal, call.session, tool.digest):
        return False
    tale.check()
    covered = Step("standing", "allow", "a standing approval of this session covers it")
    tale.decision = decision.settled(covered)
    return True


def _request(
    tale: Tale, tool: Tool, admitted: Admitted, decision: Decision, foreseen: str | None
) -> ApprovalRequest:
    house = tale.house
    level, danger = axes(tool, admitted.values)
    now = house.clock.now()
    lifetime = house.approval_lifetime
    return ApprovalRequest(
        id=new_id("approval"),
        call=tale.call,
        tool=tool.id,
        tool_digest=tool.digest,
        args=copy_object(tale.show(admitted.args, tool)),
        args_hash=digest_of(admitted.args),
        level=level,
        danger=danger,
        decision=decision,
        created_at=now,
        expires_at=None if lifetime is None else now + lifetime,
        repairs=admitted.repairs,
        quorum=tool.approvals,
        four_eyes=tool.four_eyes,
        raw=own_copy(tale.raw),
        secrets=frozenset(tale.secrets or ()),
        preview=foreseen,
    )


def _tell(tale: Tale, request: ApprovalRequest) -> None:
    house = tale.house
    shown = copy_object(request.args)
    now = house.clock.now()
    told = (tale.call, request.tool, now, request.id, shown, request.reason, request.repairs)
    house.teller.tell((NeedsApproval, *told))


async def _asked(tale: Tale, request: ApprovalRequest) -> Reply | Outcome | None:
    """Tell that a person is needed, and ask the approver. One that fails refuses."""
    approver = tale.house.approver
    assert approver is not None
    _tell(tale, request)
    tale.step_aside()
    try:
        reply = read_reply(await approver(request))
        tale.check()
        return reply
    except Exception as error:
        if tale.ending is not None:
            raise
        _log.exception("the approver failed, so the call is refused")
        why = f"Nobody could be asked ({error}), so {request.tool} was not run."
        return tale.refuse(refusal.broken("APPROVER_FAILED", "Not approved", why, "approval"))


def _counted(tale: Tale, request: ApprovalRequest, reply: Reply, now: float) -> ApprovalRequest:
    """The question after the approver's word, where one word may not be enough."""
    word = recorded(request, reply, tale.tool, tale.house.repairing)
    status: RequestStatus = "approved" if reply.verdict == "approve" else "responded"
    return (settle(request, status, word, now) if isinstance(word, Reply) else None) or request


async def _wait(tale: Tale, request: ApprovalRequest, told: bool = False) -> Outcome:
    """In the book first: a question that was told and is in no book could never be answered."""
    await tale.house.book.add(request)
    if not told:
        _tell(tale, request)
    said = f"{request.reason}. It waits for a person (approval {request.id}); nothing was run yet."
    result = Result(False, None, "Waiting for approval", error=said, code="NEEDS_APPROVAL")
    return tale.waiting("pending", result)
