"""apply_reply: what a person's reply makes of a call, checked once more against what is about to run."""

from __future__ import annotations

from collections.abc import Callable

from handrail.core.define.call import Outcome
from handrail.core.define.decision import Decision, Step
from handrail.core.define.json_values import copy_object
from handrail.core.define.levels import DANGERS, LEVELS, Danger, Level
from handrail.core.define.redaction import redact_decision
from handrail.core.define.result import Result
from handrail.core.define.schema import digest_of
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted
from handrail.core.guard.approval_request import ApprovalRequest, Grant, Reply
from handrail.core.guard.decide import is_standing
from handrail.core.guard.risk import level_and_danger
from handrail.core.run import refusals
from handrail.core.run.approvals.edits import effective_arguments
from handrail.core.run.call_state import CallState
from handrail.core.run.find_tool import find_tool, hidden_or_denied
from handrail.core.run.normalise import answered
from handrail.core.run.refusals import Refusal
from handrail.core.tell.events import ToolApproved


async def apply_reply(
    state: CallState, tool: Tool, admitted: Admitted, grant: Grant
) -> Outcome | tuple[Admitted, Tool]:
    """What comes of a person's reply: the end of the call, or what to run."""
    request, reply = grant.request, grant.reply
    who = reply.by or "a person"
    if reply.verdict == "reject":
        return _rejected(state, request, reply)
    if reply.verdict == "respond":
        return _responded(state, tool, reply, who)
    checked = await _check_again(state, admitted, request, reply)
    if isinstance(checked, Refusal):
        return state.refuse(checked)
    admitted, tool, decision = checked
    state.tool, state.admitted = tool, admitted
    runtime, call = state.runtime, state.call
    if reply.for_session and call.session is not None and may_stand(tool, decision):
        runtime.standing.give(call.principal, call.session, tool.digest, reply.by)
    state.decision = decision.settled(Step("approval", "allow", f"approved by {who}"))
    is_edited = reply.edits is not None
    if is_edited:
        state.raw = copy_object(admitted.args)
    if state.resume is None or "approved" not in state.resume.recorded:
        shown, now = state.show(admitted.args, tool), runtime.clock.now()
        runtime.teller.tell((ToolApproved, call, tool.id, now, request.id, reply.by, shown, is_edited))
    return admitted, tool


def _responded(state: CallState, tool: Tool, reply: Reply, who: str) -> Outcome:
    """The reviewer's answer is the tool's; like the tool's, it keeps what the output schema promises."""
    _settle(state, Step("approval", "allow", f"answered by {who} in its place"))
    answer = answered(reply.result or Result(), tool)
    if isinstance(answer, str):
        text = f"{answer}. The tool was not run."
        answer = Result.fail(text, code="INVALID_OUTPUT", summary="The reviewer's answer could not be used")
    answer = answer.with_metadata(answered_by=who)
    return state.complete(answer) if answer.success else state.fail("failed", answer)


def _settle(state: CallState, step: Step) -> None:
    if state.decision is not None:
        state.decision = state.decision.settled(step)


def _rejected(state: CallState, request: ApprovalRequest, reply: Reply) -> Outcome:
    why = f"A person rejected {request.tool}" + (f": {reply.reason}" if reply.reason else ".")
    _settle(state, Step("approval", "deny", why, code="REJECTED"))
    result = Result(False, None, "Rejected", error=why, code="REJECTED")
    return _end_with_key(state, lambda: state.end_cancelled("refused", result))


def end_expired(state: CallState, request: ApprovalRequest) -> Outcome:
    """Nobody answered in time, so nobody agreed."""
    refused = expired_refusal(request)
    _settle(state, Step("approval", "deny", refused.result.error or "", code=refused.result.code))
    return _end_with_key(state, lambda: state.refuse(refused))


def expired_refusal(request: ApprovalRequest) -> Refusal:
    """Nobody answered in time."""
    why = f"Nobody approved {request.tool} in time, so it was not run. Call it again to ask again."
    return refusals.broken("APPROVAL_EXPIRED", "The approval expired", why, "approval")


def _end_with_key(state: CallState, end: Callable[[], Outcome]) -> Outcome:
    """End a call so that its key keeps the answer: a person need not be asked twice under one key."""
    key, state.key = state.key, None
    outcome = end()
    if key is not None:
        state.runtime.keys.finish(key, outcome)
    return outcome


async def _check_again(
    state: CallState, given: Admitted, request: ApprovalRequest, reply: Reply
) -> tuple[Admitted, Tool, Decision] | Refusal:
    """Everything once more, against what is about to run: definition, authority, schema, policy."""
    runtime, call, principal = state.runtime, state.call, state.call.principal
    tool = await find_tool(call.tool, principal, runtime, call.source)
    state.check()
    if isinstance(tool, Refusal):
        return tool
    if tool.digest != request.tool_digest or _asks_more(tool, request):
        return refusals.stale(tool)
    if digest_of(given.args) != request.args_hash:
        return _altered(tool)
    admitted = effective_arguments(tool, given, reply, runtime.repairing)
    if not isinstance(admitted, Admitted):
        return refusals.invalid(tool, admitted)
    if reply.effective is not None and digest_of(admitted.args) != reply.effective.hash:
        return _altered(tool)
    decision = runtime.guard.decide(tool, admitted.values, principal, call.source)
    decision = redact_decision(decision, admitted.args, tool.secrets, state.secrets)
    if decision.verdict == "deny":
        return await hidden_or_denied(decision, tool, call.tool, principal, runtime, call.source)
    shown_risk = (request.level, request.danger)
    if reply.edits is None and _is_graver(level_and_danger(tool, admitted.values), shown_risk):
        return refusals.stale(tool)
    return admitted, tool, decision


def _altered(tool: Tool) -> Refusal:
    why = f"The arguments for {tool.id} are not those that were approved. Ask again with these."
    return refusals.broken("NOT_APPROVED", "Not approved", why, "approval")


def _asks_more(tool: Tool, request: ApprovalRequest) -> bool:
    """Whether the tool now wants more persons, or other ones, than were asked."""
    return tool.approvals > request.quorum or (tool.four_eyes and not request.four_eyes)


def _is_graver(now: tuple[Level, Danger], shown: tuple[Level, Danger]) -> bool:
    """Whether the call would do more, or be more dangerous, than what the reviewer saw."""
    level, danger = LEVELS.index(now[0]), DANGERS.index(now[1])
    return level > LEVELS.index(shown[0]) or danger > DANGERS.index(shown[1])


def may_stand(tool: Tool, decision: Decision) -> bool:
    """Whether one person's yes may hold for a session: not where several must look, or somebody else."""
    return is_standing(decision) and tool.approvals == 1 and not tool.four_eyes
