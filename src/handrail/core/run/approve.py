"""pass_gate: what stands between a decision that is not allow and the run."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from handrail.core.define.call import Outcome
from handrail.core.define.decision import Decision, Step
from handrail.core.define.jsonvalue import copy_object, own_copy
from handrail.core.define.permission import DANGERS, LEVELS, Danger, Level
from handrail.core.define.result import Result
from handrail.core.define.schema import digest_of
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted
from handrail.core.guard.approval import ApprovalRequest, Reply, RequestStatus, read_reply
from handrail.core.guard.decide import axes, is_standing
from handrail.core.guard.plan import Planned
from handrail.core.guard.settling import settle
from handrail.core.ids import new_id
from handrail.core.run import refusal
from handrail.core.run.edits import effective, recorded
from handrail.core.run.normalise import answered
from handrail.core.run.refusal import Refusal
from handrail.core.run.seek import hidden_or_denied, seek
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
    if grant is not None:
        return await _resumed(tale, decision, grant)
    if decision.verdict == "deny":
        return tale.refuse(refusal.denied(decision, tool))
    if decision.verdict == "queue":
        return _queue(tale, tool, admitted, decision)
    if await _stands(tale, tool, decision):
        return admitted, tool
    request = _request(tale, tool, admitted, decision)
    tale.approval_id = request.id
    if tale.house.approver is None:
        return await _wait(tale, request)
    reply = await _asked(tale, request)
    if isinstance(reply, Outcome):
        return reply
    now = tale.house.clock.now()
    if request.is_late(now) and (reply is None or reply.verdict != "reject"):
        return _expired(tale, request)
    if reply is None:
        return await _wait(tale, request, told=True)
    if reply.verdict != "reject" and (request.quorum > 1 or request.four_eyes):
        counted = _counted(tale, request, reply, now)
        if counted.status == "pending":
            return await _wait(tale, counted, told=True)
    return await _answered(tale, request, reply)


async def _resumed(tale: Tale, decision: Decision, grant: Grant) -> Outcome | tuple[Admitted, Tool]:
    """The call goes on. Somebody reviewed it, so plan mode holds it no more."""
    tool = tale.tool
    assert tool is not None
    tale.approval_id = grant.request.id
    if decision.verdict == "deny":
        return tale.refuse(refusal.denied(decision, tool))
    if grant.request.status == "expired":
        return _expired(tale, grant.request)
    return await _answered(tale, grant.request, grant.reply)


def _queue(tale: Tale, tool: Tool, admitted: Admitted, decision: Decision) -> Outcome:
    shown = tale.show(admitted.args, tool)
    secrets = frozenset(tale.secrets or ())
    planned = Planned(tale.call, tool.id, shown, decision.reason, own_copy(tale.raw), secrets)
    if not tale.house.plan.add(planned):
        full = f"The plan is full, so {tool.id} is not in it. Run or discard what is queued, then call again."
        return tale.refuse(refusal.broken("PLAN_FULL", "The plan is full", full, "plan"))
    said = f"{tool.name} is planned, not run. It runs when somebody runs the plan."
    return tale.quietly("queued", Result(True, None, said, code="PLANNED", output=said))


async def _stands(tale: Tale, tool: Tool, decision: Decision) -> bool:
    call = tale.call
    assert call.principal is not None
    if call.session is None or not _may_stand(tool, decision):
        return False
    if not await tale.house.standing.holds(call.principal, call.session, tool.digest):
        return False
    tale.check()
    covered = Step("standing", "allow", "a standing approval of this session covers it")
    tale.decision = decision.settled(covered)
    return True


def _may_stand(tool: Tool, decision: Decision) -> bool:
    """Whether one person's yes may hold for a session: not where several must look, or somebody else."""
    return is_standing(decision) and tool.approvals == 1 and not tool.four_eyes


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


async def _answered(tale: Tale, request: ApprovalRequest, reply: Reply) -> Outcome | tuple[Admitted, Tool]:
    who = reply.by or "a person"
    if reply.verdict == "reject":
        return _rejected(tale, request, reply)
    if reply.verdict == "respond":
        return _responded(tale, reply, who)
    checked = await _checked_again(tale, request, reply)
    if isinstance(checked, Refusal):
        return tale.refuse(checked)
    admitted, tool = checked
    tale.admitted, tale.tool = admitted, tool
    house, call = tale.house, tale.call
    assert call.principal is not None and tale.decision is not None
    if reply.for_session and call.session is not None and _may_stand(tool, tale.decision):
        house.standing.give(call.principal, call.session, tool.digest, reply.by)
    _settle(tale, Step("approval", "allow", f"approved by {who}"))
    shown = tale.show(admitted.args, tool)
    edited = reply.edits is not None
    if edited:
        tale.raw = copy_object(admitted.args)
    if tale.brought is None or "approved" not in tale.brought.told:
        now = house.clock.now()
        house.teller.tell((ToolApproved, call, tool.id, now, request.id, reply.by, shown, edited))
    return admitted, tool


def _responded(tale: Tale, reply: Reply, who: str) -> Outcome:
    """The reviewer's answer is the tool's; like the tool's, it keeps what the output schema promises."""
    assert tale.tool is not None
    _settle(tale, Step("approval", "allow", f"answered by {who} in its place"))
    answer = answered(reply.result or Result(), tale.tool)
    if isinstance(answer, str):
        said = f"{answer}. The tool was not run."
        answer = Result.fail(said, code="INVALID_OUTPUT", summary="The reviewer's answer could not be used")
    answer = answer.with_metadata(answered_by=who)
    return tale.complete(answer) if answer.success else tale.fail("failed", answer)


def _settle(tale: Tale, step: Step) -> None:
    assert tale.decision is not None
    tale.decision = tale.decision.settled(step)


def _rejected(tale: Tale, request: ApprovalRequest, reply: Reply) -> Outcome:
    why = f"A person rejected {request.tool}" + (f": {reply.reason}" if reply.reason else ".")
    _settle(tale, Step("approval", "deny", why, code="REJECTED"))
    result = Result(False, None, "Rejected", error=why, code="REJECTED")
    return _for_good(tale, lambda: tale.call_off("refused", result))


def _expired(tale: Tale, request: ApprovalRequest) -> Outcome:
    refused = expired(request)
    _settle(tale, Step("approval", "deny", refused.result.error or "", code=refused.result.code))
    return _for_good(tale, lambda: tale.refuse(refused))


def expired(request: ApprovalRequest) -> Refusal:
    """Nobody answered in time."""
    why = f"Nobody approved {request.tool} in time, so it was not run. Call it again to ask again."
    return refusal.broken("APPROVAL_EXPIRED", "The approval expired", why, "approval")


def _for_good(tale: Tale, end: Callable[[], Outcome]) -> Outcome:
    """End a call so that its key keeps the answer: a person need not be asked twice under one key."""
    key, tale.key = tale.key, None
    outcome = end()
    if key is not None:
        tale.house.keys.finish(key, outcome)
    return outcome


async def _checked_again(
    tale: Tale, request: ApprovalRequest, reply: Reply
) -> tuple[Admitted, Tool] | Refusal:
    """Everything once more, against what is about to run: definition, authority, schema, policy."""
    house, call, given = tale.house, tale.call, tale.admitted
    assert call.principal is not None and given is not None
    tool = await seek(call, house)
    tale.check()
    if isinstance(tool, Refusal):
        return tool
    if tool.digest != request.tool_digest or _asks_more(tool, request):
        return refusal.stale(tool)
    if digest_of(given.args) != request.args_hash:
        return _altered(tool)
    admitted = effective(tool, given, reply, house.repairing)
    if not isinstance(admitted, Admitted):
        return refusal.invalid(tool, admitted)
    if reply.effective is not None and digest_of(admitted.args) != reply.effective.hash:
        return _altered(tool)
    decision = house.guard.decide(tool, admitted.values, call.principal, call.source)
    if decision.verdict == "deny":
        return await hidden_or_denied(decision, tool, call, house)
    if reply.edits is None and _is_graver(axes(tool, admitted.values), (request.level, request.danger)):
        return refusal.stale(tool)
    tale.decision = decision
    return admitted, tool


def _altered(tool: Tool) -> Refusal:
    why = f"The arguments for {tool.id} are not those that were approved. Ask again with these."
    return refusal.broken("NOT_APPROVED", "Not approved", why, "approval")


def _asks_more(tool: Tool, request: ApprovalRequest) -> bool:
    """Whether the tool now wants more persons, or other ones, than were asked."""
    return tool.approvals > request.quorum or (tool.four_eyes and not request.four_eyes)


def _is_graver(now: tuple[Level, Danger], seen: tuple[Level, Danger]) -> bool:
    """Whether the call would do more, or be more dangerous, than what the reviewer saw."""
    level, danger = LEVELS.index(now[0]), DANGERS.index(now[1])
    return level > LEVELS.index(seen[0]) or danger > DANGERS.index(seen[1])
