"""pass_gate: what stands between a decision that is not allow and the run."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

from handrail.core.define.call import Outcome
from handrail.core.define.decision import Decision, Step
from handrail.core.define.result import Result
from handrail.core.define.schema import digest_of
from handrail.core.define.secrecy import masked, unmasked
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.approval import ApprovalRequest, Reply, read_reply
from handrail.core.guard.decide import axes, is_standing
from handrail.core.guard.plan import Planned
from handrail.core.ids import new_id
from handrail.core.run import refusal
from handrail.core.run.tale import Tale
from handrail.core.tell.events import NeedsApproval, ToolApproved

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
    if decision.verdict == "deny":
        return tale.refuse(refusal.denied(decision, tool))
    if decision.verdict == "queue":
        return _queue(tale, tool, admitted, decision)
    if grant is None and _stands(tale, tool, decision):
        return admitted, tool
    request = grant.request if grant is not None else _request(tale, tool, admitted, decision)
    tale.approval_id = request.id
    reply = grant.reply if grant is not None else await _asked(tale, request)
    if isinstance(reply, Outcome):
        return reply
    if reply is None:
        return _wait(tale, request)
    return _answered(tale, request, reply)


def _queue(tale: Tale, tool: Tool, admitted: Admitted, decision: Decision) -> Outcome:
    shown = masked(admitted.args, tool.secrets)
    planned = Planned(tale.call, tool.id, shown, decision.reason, tale.raw)
    if not tale.house.plan.add(planned):
        full = "The plan is full. Run or discard what is queued, then call again."
        return tale.refuse(refusal.broken("PLAN_FULL", "The plan is full", full, "plan"))
    said = f"{tool.name} is planned, not run. It runs when somebody runs the plan."
    return tale.quietly("queued", Result(True, None, said, code="PLANNED", output=said))


def _stands(tale: Tale, tool: Tool, decision: Decision) -> bool:
    call = tale.call
    assert call.principal is not None
    standing = tale.house.standing
    if not is_standing(decision) or not standing.holds(call.principal, call.session, tool.digest):
        return False
    reason = "a standing approval of this session covers it"
    step = Step("standing", "allow", reason)
    tale.decision = Decision("allow", "standing", None, None, reason, None, (*decision.trace, step))
    return True


def _request(tale: Tale, tool: Tool, admitted: Admitted, decision: Decision) -> ApprovalRequest:
    house = tale.house
    level, danger = axes(tool, admitted.values)
    now = house.clock.now()
    lifetime = house.approval_lifetime
    return ApprovalRequest(
        id=new_id("approval"),
        call=tale.call,
        tool=tool.id,
        tool_digest=tool.digest,
        args=masked(admitted.args, tool.secrets),
        args_hash=digest_of(admitted.args),
        level=level,
        danger=danger,
        decision=decision,
        created_at=now,
        expires_at=None if lifetime is None else now + lifetime,
        repairs=admitted.repairs,
        raw=tale.raw,
    )


async def _asked(tale: Tale, request: ApprovalRequest) -> Reply | Outcome | None:
    """Tell that a person is needed, and ask the approver if there is one. An approver that fails refuses."""
    house = tale.house
    told = (
        tale.call,
        request.tool,
        house.clock.now(),
        request.id,
        request.args,
        request.reason,
        request.repairs,
    )
    house.teller.tell(NeedsApproval, told)
    if house.approver is None:
        return None
    try:
        return read_reply(await house.approver(request))
    except Exception as error:
        _log.exception("the approver failed, so the call is refused")
        why = f"Nobody could be asked ({error}), so {request.tool} was not run."
        return tale.refuse(refusal.broken("APPROVER_FAILED", "Not approved", why, "approval"))


def _wait(tale: Tale, request: ApprovalRequest) -> Outcome:
    tale.house.book.add(request)
    said = f"{request.reason}. It waits for a person (approval {request.id}); nothing was run yet."
    result = Result(False, None, "Waiting for approval", error=said, code="NEEDS_APPROVAL")
    return tale.quietly("pending", result)


def _answered(tale: Tale, request: ApprovalRequest, reply: Reply) -> Outcome | tuple[Admitted, Tool]:
    if reply.verdict == "reject":
        why = f": {reply.reason}" if reply.reason else "."
        rejected = Result(False, None, "Rejected", error=f"A person rejected this call{why}", code="REJECTED")
        return tale.call_off("refused", rejected)
    if reply.verdict == "respond":
        answer = reply.result or Result()
        return tale.complete(answer.with_metadata(answered_by=reply.by or "a person"))
    checked = _checked_again(tale, request, reply)
    if not isinstance(checked, tuple):
        return tale.refuse(checked)
    admitted, tool = checked
    tale.admitted, tale.tool = admitted, tool
    house, call = tale.house, tale.call
    assert call.principal is not None
    if reply.for_session and call.session is not None:
        house.standing.give(call.principal, call.session, tool.digest)
    shown = masked(admitted.args, tool.secrets)
    edited = reply.edits is not None
    now = house.clock.now()
    house.teller.tell(ToolApproved, (call, tool.id, now, request.id, reply.by, shown, edited))
    return admitted, tool


def _checked_again(
    tale: Tale, request: ApprovalRequest, reply: Reply
) -> tuple[Admitted, Tool] | refusal.Refusal:
    """Everything once more, against what is about to run: definition, authority, schema, policy."""
    house, call, before, given = tale.house, tale.call, tale.tool, tale.admitted
    assert call.principal is not None and before is not None and given is not None
    tool = house.registry.get(before.id) or (before if house.toolsets else None)
    if tool is None:
        return refusal.not_found(call.tool)
    if tool.digest != request.tool_digest:
        return refusal.stale(tool)
    if digest_of(given.args) != request.args_hash:
        why = "The arguments are not those that were approved. Ask again with these."
        return refusal.broken("NOT_APPROVED", "Not approved", why, "approval")
    admitted: Any = given
    if reply.edits is not None:
        edits = unmasked(reply.edits, given.args) if tool.secrets else reply.edits
        admitted = admit(tool, edits, None, house.repairing)
    if not isinstance(admitted, Admitted):
        return refusal.invalid(tool, admitted)
    decision = house.guard.decide(tool, admitted.values, call.principal, call.source)
    if decision.verdict == "deny":
        return refusal.denied(decision, tool)
    step = Step("approval", "allow", f"approved by {reply.by or 'a person'}")
    tale.decision = replace(decision, trace=(*decision.trace, step))
    return admitted, tool
