"""pydantic-ai: a toolset of guarded tools, whose deferred approvals are decided in Handrail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from handrail import Handrail, Outcome, Principal
from handrail.bridges.messages import model_text, read_arguments, unique_call_id, viewable_attachments
from handrail.bridges.missing_packages import require_extra
from handrail.ext.errors import UsageError
from handrail.ext.tools import wire_name

with require_extra("pydantic-ai", "the bridge to pydantic-ai"):
    from pydantic_ai import (
        AbstractToolset,
        ApprovalRequired,
        BinaryContent,
        DeferredToolRequests,
        DeferredToolResults,
        RunContext,
        ToolApproved,
        ToolDefinition,
        ToolDenied,
        ToolFailed,
        ToolReturn,
    )
    from pydantic_ai.toolsets import ToolsetTool

PendingMode = Literal["deferred", "wait"]
"""What a call does that needs a person: it is deferred by pydantic-ai, or it waits for our inbox."""


class RawArguments(dict[str, Any]):
    """Arguments that are no JSON object, on their way to the guard as they were sent."""

    def __init__(self, sent: Any) -> None:
        super().__init__()
        self.sent = sent


class _PassThroughValidator:
    """Lets all arguments pass: repairing and refusing them is the guard's."""

    def validate_json(self, input: str | bytes | bytearray, **_: Any) -> dict[str, Any]:
        return self.validate_python(read_arguments(input if isinstance(input, str) else input.decode()))

    def validate_python(self, input: Any, **_: Any) -> dict[str, Any]:
        return input if isinstance(input, dict) else RawArguments(input)


class GuardedToolset(AbstractToolset[Any]):
    """What one principal may see, for an agent of pydantic-ai."""

    def __init__(
        self,
        hr: Handrail,
        principal: Principal | None = None,
        *,
        session: str | None = None,
        approvals: PendingMode = "deferred",
        timeout: float | None = None,
        id: str | None = "handrail",
    ) -> None:
        """`session` is that of all calls; without one, the conversation is. `timeout` bounds the wait."""
        if approvals not in ("deferred", "wait"):
            raise UsageError(f"approvals is 'deferred' or 'wait', not {approvals!r}.")
        self._hr = hr
        self._principal = principal
        self._session = session
        self._waits = approvals == "wait"
        self._timeout = timeout
        self._id = id

    @property
    def id(self) -> str | None:
        return self._id

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        exported = {tool["name"]: tool for tool in await self._hr.export("anthropic", self._principal)}
        tools = {wire_name(tool.id): tool for tool in await self._hr.tools(self._principal)}
        return {
            name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=name,
                    description=exported[name]["description"],
                    parameters_json_schema=exported[name]["input_schema"],
                    sequential=not (tools[name].quiet or tools[name].concurrency == "parallel"),
                    metadata={"digest": tools[name].digest, "level": tools[name].level},
                ),
                max_retries=0,
                args_validator=_PassThroughValidator(),
            )
            for name in sorted(exported)
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """One call through the guard. What pydantic-ai alone calls approved is not: Handrail decides."""
        if ctx.tool_call_approved:
            return tool_return(await self._decided(ctx.tool_call_metadata))
        outcome = await self._hr.call(
            name,
            tool_args.sent if isinstance(tool_args, RawArguments) else tool_args,
            principal=self._principal,
            session=self._session or ctx.conversation_id,
            id=unique_call_id(ctx.tool_call_id),
            turn=ctx.run_step,
            digest=(tool.tool_def.metadata or {}).get("digest"),
        )
        if outcome.status == "pending":
            if not self._waits:
                raise ApprovalRequired(metadata=question_of(outcome))
            outcome = await self._wait(outcome)
        return tool_return(outcome)

    async def _wait(self, outcome: Outcome) -> Outcome:
        try:
            return await self._hr.wait(outcome.call_id, self._timeout, principal=self._principal)
        except TimeoutError:
            return outcome

    async def _decided(self, metadata: Any) -> Outcome:
        """The end of a call that was deferred, if somebody has decided on it; otherwise it stays deferred."""
        if not isinstance(metadata, Mapping) or not isinstance(metadata.get("call_id"), str):
            raise UsageError(
                "What pydantic-ai calls approved is not decided in Handrail yet. Decide as a person, with "
                "`results = await settle(hr, requests, results, by=person)`; or decide in the inbox, and go "
                "on with `metadata=requests.metadata`."
            )
        call_id, who = metadata["call_id"], self._principal or Principal.local()
        request = await self._hr.approvals.get(str(metadata.get("approval_id")), who)
        if request is None or request.call.id != call_id or _identity(request.principal) != _identity(who):
            raise ToolFailed("There is no such approval, so nothing was run.")
        if request.status == "pending":
            raise ApprovalRequired(metadata=dict(metadata))
        if request.status == "expired":
            await self._hr.approvals.lapse(request.id, who)
        return await self._hr.wait(call_id, self._timeout, principal=who)


def _identity(who: Principal) -> tuple[Any, ...]:
    """Who somebody is, whatever they hold by now. One that has no name is known by all that it holds."""
    named = who.user is not None or who.agent is not None
    return (who.tenant, who.user, who.agent, who.workspace, who.ancestors) if named else (who,)


async def settle(
    hr: Handrail,
    requests: DeferredToolRequests,
    results: DeferredToolResults,
    *,
    by: Principal,
    timeout: float | None = None,
) -> DeferredToolResults:
    """Decide in Handrail, as a person, what was deferred; the results to go on with hold what came of it.

    `ToolApproved(override_args=...)` approves other arguments, `ToolDenied` rejects with its message. Each
    call runs once, here and not again in the agent: its end stands among the `calls` of what is returned.
    One is missing there as long as others must agree, too.
    """
    settled = DeferredToolResults(
        calls=dict(results.calls), approvals=dict(results.approvals), metadata=dict(results.metadata)
    )
    for call_id, decision in results.approvals.items():
        approval_id = requests.metadata.get(call_id, {}).get("approval_id")
        if not isinstance(approval_id, str):
            continue  # a tool of somebody else's
        del settled.approvals[call_id]
        outcome = await _settle_one(hr, approval_id, decision, by, timeout)
        if outcome is not None:
            settled.calls[call_id] = _result(outcome)
    return settled


async def _settle_one(
    hr: Handrail, approval_id: str, decision: Any, by: Principal, timeout: float | None
) -> Outcome | None:
    """How the call ended, or None while others must agree as well."""
    if decision is True or isinstance(decision, ToolApproved):
        edits = decision.override_args if isinstance(decision, ToolApproved) else None
        request = await hr.approvals.approve(approval_id, by=by, edits=edits)
    else:
        reason = decision.message if isinstance(decision, ToolDenied) else None
        request = await hr.approvals.reject(approval_id, by=by, reason=reason)
    if request.status == "pending":
        return None
    return await hr.wait(str(request.call.id), timeout, principal=request.principal)


def question_of(outcome: Outcome) -> dict[str, Any]:
    """What whoever decides, and whoever resumes, must know of a call that waits."""
    return {
        "approval_id": outcome.approval_id,
        "call_id": outcome.call_id,
        "tool": outcome.tool,
        "reason": outcome.decision.reason if outcome.decision else outcome.result.error,
    }


def tool_return(outcome: Outcome) -> ToolReturn[Any]:
    """The answer for the model, the whole as metadata; raises `ToolFailed` when the call did not complete."""
    answer = _result(outcome)
    if isinstance(answer, ToolFailed):
        raise answer
    return answer


def _result(outcome: Outcome) -> ToolReturn[Any] | ToolFailed:
    text = model_text(outcome)
    if not outcome.result.success:
        return ToolFailed(text)
    pictures = [
        BinaryContent(picture.data or b"", media_type=picture.mime)
        for picture in viewable_attachments(outcome)
    ]
    ids = {"status": outcome.status, "call_id": outcome.call_id, "approval_id": outcome.approval_id}
    return ToolReturn([text, *pictures] if pictures else text, metadata={**outcome.result.to_dict(), **ids})
