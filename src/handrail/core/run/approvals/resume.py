"""apply_reply: what a person's reply makes of a call, checked once more against what is about to run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from handrail.core.define.call import FieldError, Outcome
from handrail.core.define.decision import Decision, Step
from handrail.core.define.json_values import NotJson, copy_object
from handrail.core.define.levels import DANGERS, LEVELS, Danger, Level
from handrail.core.define.redaction import mask_paths, redact_decision, redact_values, restore_masked
from handrail.core.define.result import Result
from handrail.core.define.schema import digest_of
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.approval_request import ApprovalRequest, Grant, Reply, ShownArguments
from handrail.core.guard.decide import is_standing
from handrail.core.guard.risk import level_and_danger
from handrail.core.run import refusals
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
    state: CallState, proposed: Admitted, request: ApprovalRequest, reply: Reply
) -> tuple[Admitted, Tool, Decision] | Refusal:
    """Everything once more, against what is about to run: definition, authority, schema, policy."""
    runtime, call, principal = state.runtime, state.call, state.call.principal
    tool = await find_tool(call.tool, principal, runtime, call.source)
    state.check()
    if isinstance(tool, Refusal):
        return tool
    if tool.digest != request.tool_digest or _asks_more(tool, request):
        return refusals.stale(tool)
    if digest_of(proposed.args) != request.args_hash:
        return _altered(tool)
    admitted = effective_arguments(tool, proposed, reply, runtime.repairing)
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


def effective_arguments(
    tool: Tool, proposed: Admitted, reply: Reply, repairing: bool
) -> Admitted | tuple[FieldError, ...]:
    """What will run: the reviewer's edits or the arguments as approved."""
    if reply.edits is not None:
        edits = restore_masked(reply.edits, proposed.args)
        return admit(tool, edits, None, repairing)
    again = admit(tool, proposed.args, None, repairing)
    return Admitted(again.args, again.values, proposed.repairs) if isinstance(again, Admitted) else again


def reply_for_record(
    request: ApprovalRequest, reply: Reply, tool: Tool | None, repairing: bool
) -> Reply | tuple[FieldError, ...]:
    """An approval with its arguments for the record: as written, and as they will run. Or what is wrong.

    Where the tool is gone or another one, nothing will run, and nothing of what was written is shown: nobody
    knows what in it is secret.
    """
    if reply.verdict != "approve":
        return reply
    if reply.edits is None:
        return replace(reply, effective=ShownArguments(request.args, request.args_hash))
    try:
        edits = copy_object(reply.edits)
    except NotJson as error:
        return (FieldError(error.path, error.reason),)
    reply = replace(reply, edits=edits)
    unchanged = None if tool is None or tool.digest != request.tool_digest else tool
    proposed = None if unchanged is None else admit(unchanged, request.raw, request.call.tool, repairing)
    if unchanged is None or not isinstance(proposed, Admitted):
        unknown = ShownArguments({}, digest_of(edits))
        return replace(reply, edited=unknown, effective=unknown)
    runs = effective_arguments(unchanged, proposed, reply, repairing)
    if not isinstance(runs, Admitted):
        return runs
    edited = _shown(edits, unchanged.secrets, request)
    return replace(reply, edited=edited, effective=_shown(runs.args, unchanged.secrets, request))


def _shown(args: Mapping[str, Any], secrets: Iterable[str], request: ApprovalRequest) -> ShownArguments:
    shown: dict[str, Any] = redact_values(mask_paths(args, secrets), request.secrets)
    return ShownArguments(shown, digest_of(args))
