"""asking: one question as one reader may see it, with everything that its card needs to know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError
from handrail.core.guard.approval import ApprovalRequest
from handrail.core.guard.faithful import is_faithful
from handrail.core.guard.settling import is_own
from handrail.core.run.answering import may_stand
from handrail.core.run.approvals import is_reviewer
from handrail.doors.http.approvals import may_see
from handrail.doors.http.whose import plausible
from handrail.doors.web.pages.approvals.ending import End, end_of
from handrail.doors.web.routing import NotThere, Reader


@dataclass(frozen=True)
class Ask:
    """A question and what this reader may do about it."""

    request: ApprovalRequest
    who: Principal
    tool: Tool | None
    """None where it is there no more."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What people are called, by user id."""
    end: End | None = None
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

    def name(self, user: str | None) -> str:
        """What somebody is called; the reader is `you`."""
        if user is None:
            return "somebody"
        return "you" if user == self.who.user else self.names.get(user, user)


async def ask_of(reader: Reader, approval_id: str) -> Ask:
    """The question of an id. For whoever may not see it there is none."""
    found = await reader.hr.approvals.get(approval_id, reader.who) if plausible(approval_id) else None
    if found is None or not may_see(reader.who, found):
        raise NotThere
    [ask] = await asks_of(reader, [found])
    return await with_end(reader, ask)


async def with_end(reader: Reader, ask: Ask) -> Ask:
    """The same, with what came of it."""
    return replace(ask, end=await end_of(reader, ask.request))


async def asks_of(reader: Reader, requests: Iterable[ApprovalRequest]) -> list[Ask]:
    """Questions as this reader may see them; those that are not theirs to see are left out."""
    seen = [one for one in requests if may_see(reader.who, one)]
    users = {one.principal.user for one in seen} | {one.decided_by for one in seen}
    users |= {vote.user for one in seen for vote in one.votes}
    offices = reader.platform.offices
    known = [user for user in users if user is not None]
    names = {} if offices is None else await offices.people.names(reader.who.tenant, known)
    return [Ask(one, reader.who, await tool_of(reader, one), names) for one in seen]


async def tool_of(reader: Reader, request: ApprovalRequest) -> Tool | None:
    """The tool as whoever called sees it now: this is what would run."""
    try:
        found = await reader.hr.describe(request.call.tool, request.principal, source=request.call.source)
    except ToolError:
        return None
    return found.tool
