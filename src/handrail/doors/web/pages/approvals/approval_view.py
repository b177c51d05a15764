"""ApprovalView: one approval request as one reader may see it, with all that its card needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from handrail.core.define.principal import Principal
from handrail.core.define.result import Result
from handrail.core.define.schema import JsonSchema, digest_of
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError
from handrail.core.guard.approval_request import ApprovalRequest, is_faithful, is_own
from handrail.core.run.approvals.inbox import is_reviewer
from handrail.core.run.approvals.resume import may_stand
from handrail.doors.web.pages.runs.run_view import find_run_by_id
from handrail.doors.web.router import PageContext, PageNotFound, require
from handrail.platform.access import is_plausible_id, may_see_approval


def shown_digest(request: ApprovalRequest) -> str:
    """What a page showed of a question, as one word. Another one means that it was something else."""
    shown: list[Any] = [
        request.id,
        request.tool,
        request.tool_digest,
        request.args_hash,
        dict(request.args),
        request.level,
        request.danger,
        [request.quorum, request.four_eyes],
        [request.principal.user, request.principal.agent, request.call.source],
    ]
    return digest_of(shown)


_MAX_SUMMARY = 200
"""Characters of what a tool says that stand on a card."""

_END_LABELS = {
    "completed": "It ran",
    "failed": "It failed",
    "refused": "It did not run",
    "cancelled": "It was stopped",
    "needs_review": "Nobody knows how it ended",
}
_SENTENCE = re.compile(r".+?[.?!](?= |$)")


class ApprovedCallEnd(NamedTuple):
    """How a call ended."""

    label: str
    """`It failed`"""
    summary: str = ""
    """What its tool says of it. Others wrote it."""


async def call_end_of(ctx: PageContext, request: ApprovalRequest) -> ApprovedCallEnd | None:
    """The end of an approved call, once it is known."""
    call_id = request.call.id
    if request.status != "approved" or call_id is None:
        return None
    outcome = await ctx.platform.events.outcome(ctx.who.tenant, call_id)
    if outcome is None or outcome.status not in _END_LABELS:
        return None
    summary = result_summary(outcome.result) if await _may_read(ctx, call_id) else ""
    return ApprovedCallEnd(_END_LABELS[outcome.status], summary)


async def _may_read(ctx: PageContext, call_id: str) -> bool:
    """Whether the page of the run would show its result."""
    try:
        return (await find_run_by_id(ctx, call_id)).is_readable
    except PageNotFound:
        return False


def result_summary(result: Result) -> str:
    """The summary of a success, or the first sentence of an error, on one line and never long."""
    text = " ".join(((result.summary if result.success else result.error) or "").split())
    if not result.success and (first := _SENTENCE.match(text)):
        text = first[0]
    return text if len(text) <= _MAX_SUMMARY else f"{text[: _MAX_SUMMARY - 1]}…"


@dataclass(frozen=True)
class ApprovalView:
    """A question and what this reader may do about it."""

    request: ApprovalRequest
    who: Principal
    tool: Tool | None
    """None where it is there no more."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What people are called, by user id."""
    end: ApprovedCallEnd | None = None
    """How the call ended that was approved; None while that is not known."""

    @property
    def id(self) -> str:
        return self.request.id

    @property
    def open(self) -> bool:
        return self.request.status == "pending"

    @property
    def mine(self) -> bool:
        """Whether it waits for this reader, rather than for others."""
        return self.open and self.is_reviewer and not self.own and not self.voted

    @property
    def is_reviewer(self) -> bool:
        return is_reviewer(self.who, self.request)

    @property
    def own(self) -> bool:
        """Whether four eyes are wanted and these are not the other two."""
        return is_own(self.request, self.who.user)

    @property
    def voted(self) -> bool:
        """Whether this reader has approved what was asked, and others must too."""
        return any(vote.user == self.who.user for vote in self.request.votes)

    @property
    def stale(self) -> bool:
        """Whether the tool is gone, or is not the one that was asked for: then nothing would run."""
        return self.tool is None or self.tool.digest != self.request.tool_digest

    @property
    def altered(self) -> bool:
        """Whether what is shown is not what would run."""
        tool = self.tool
        if tool is None or not self.open or self.stale:
            return False
        return tool.id != self.request.tool or not is_faithful(self.request, tool)

    @property
    def can_approve(self) -> bool:
        return self.open and self.is_reviewer and not (self.own or self.stale or self.altered)

    @property
    def can_stand(self) -> bool:
        """Whether a yes may hold for the rest of the session."""
        tool, request = self.tool, self.request
        return (
            tool is not None
            and request.call.session is not None
            and request.by == "reviewer"
            and may_stand(tool, request.decision)
        )

    @property
    def grave(self) -> bool:
        """Whether a yes takes one more step."""
        return self.request.level == "destructive" or self.request.danger == "dangerous"

    @property
    def missing_votes(self) -> int:
        return self.request.quorum - len(self.request.votes)

    @property
    def schema(self) -> JsonSchema | None:
        """Of the arguments, as far as it is known."""
        return None if self.tool is None else self.tool.input_schema

    def name(self, user: str | None) -> str:
        """What somebody is called; the reader is `you`."""
        if user is None:
            return "somebody"
        return "you" if user == self.who.user else self.names.get(user, user)


async def find_approval(ctx: PageContext) -> ApprovalView:
    """The question of the id in the address. For whoever may not see it there is none."""
    id = ctx.part("id")
    request = require(await ctx.hr.approvals.get(id, ctx.who) if is_plausible_id(id) else None)
    if not may_see_approval(ctx.who, request):
        raise PageNotFound
    [approval] = await approval_views(ctx, [request])
    return await with_call_end(ctx, approval)


async def with_call_end(ctx: PageContext, approval: ApprovalView) -> ApprovalView:
    """The same, with what came of it."""
    return replace(approval, end=await call_end_of(ctx, approval.request))


async def approval_views(ctx: PageContext, requests: Iterable[ApprovalRequest]) -> list[ApprovalView]:
    """Questions as this reader may see them; those that are not theirs to see are left out."""
    seen = [request for request in requests if may_see_approval(ctx.who, request)]
    users = {user for request in seen for user in (request.principal.user, request.decided_by)}
    users |= {vote.user for request in seen for vote in request.votes}
    names = await ctx.user_names(users)
    return [ApprovalView(request, ctx.who, await tool_of_request(ctx, request), names) for request in seen]


async def tool_of_request(ctx: PageContext, request: ApprovalRequest) -> Tool | None:
    """The tool as whoever called sees it now: this is what would run."""
    try:
        details = await ctx.hr.describe(request.call.tool, request.principal, source=request.call.source)
    except ToolError:
        return None
    return details.tool
