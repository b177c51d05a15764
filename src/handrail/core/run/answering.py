"""answer: what a person's word makes of a call, checked once more against what is about to run."""

from __future__ import annotations

from collections.abc import Callable

from handrail.core.define.call import Outcome
from handrail.core.define.decision import Decision, Step
from handrail.core.define.jsonvalue import copy_object
from handrail.core.define.permission import DANGERS, LEVELS, Danger, Level
from handrail.core.define.result import Result
from handrail.core.define.schema import digest_of
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted
from handrail.core.guard.approval import ApprovalRequest, Reply
from handrail.core.guard.axes import axes
from handrail.core.guard.decide import is_standing
from handrail.core.run import refusal
from handrail.core.run.discreet import discreet
from handrail.core.run.edits import effective
from handrail.core.run.normalise import answered
from handrail.core.run.refusal import Refusal
from handrail.core.run.seek import hidden_or_denied, seek
from handrail.core.run.tale import Tale
from handrail.core.tell.events import ToolApproved


async def answer(tale: Tale, request: ApprovalRequest, reply: Reply) -> Outcome | tuple[Admitted, Tool]:
    """What comes of a person's word: the end of the call, or what to run."""
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
    if reply.for_session and call.session is not None and may_stand(tool, tale.decision):
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


def end_late(tale: Tale, request: ApprovalRequest) -> Outcome:
    """Nobody answered in time, so nobody agreed."""
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
    said = house.guard.decide(tool, admitted.values, call.principal, call.source)
    decision = discreet(said, tool, admitted.args, tale.secrets)
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


def may_stand(tool: Tool, decision: Decision) -> bool:
    """Whether one person's yes may hold for a session: not where several must look, or somebody else."""
    return is_standing(decision) and tool.approvals == 1 and not tool.four_eyes
