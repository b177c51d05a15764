"""Who may see a call or an approval: its caller, or a principal who may see everybody's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.core.errors import ToolError
from handrail.core.guard.approval_request import ApprovalRequest
from handrail.core.run.approvals.inbox import may_decide
from handrail.core.run.jobs.perform import DUPLICATE_OF
from handrail.core.tell.events import Event
from handrail.platform import Platform

if TYPE_CHECKING:
    from starlette.requests import Request

MAX_ID_LENGTH = 200
READ_APPROVALS = "approvals.read"


def source_of(request: Request) -> Source:
    """How a request came: a person who is signed in comes by the web, a key through the API."""
    return "web" if request.scope["state"].get("source") == "web" else "api"


def is_plausible_id(name: str) -> bool:
    """Whether an id could be one of ours; what is not need not be looked up."""
    return 0 < len(name) <= MAX_ID_LENGTH and name.isprintable()


@dataclass(frozen=True, slots=True)
class KnownCall:
    """A call that may be asked for."""

    id: str
    first: Event | None
    """None while a worker has not begun it."""

    @property
    def session(self) -> str | None:
        return None if self.first is None else self.first.session


async def find_call(
    platform: Platform, call_id: str, who: Principal, permission: str, source: Source
) -> KnownCall | None:
    """The call; None where there is no such call, or none that this principal may see."""
    if not is_plausible_id(call_id):
        return None
    first = await platform.events.first(who.tenant, call_id)
    if first is None:
        caller, tool = await _caller_of_job(platform, call_id, who)
        if tool and caller is None:  # it may have begun and ended between the two looks
            first = await platform.events.first(who.tenant, call_id)
    if first is not None:
        caller, tool = first.call.principal, first.tool
    if not tool:
        return None
    is_own = caller is not None and who.is_same_caller(caller)
    if who.holds(permission) or (is_own and await _sees_tool(platform, tool, who, source)):
        return KnownCall(call_id, first)
    return None


async def _caller_of_job(platform: Platform, call_id: str, who: Principal) -> tuple[Principal | None, str]:
    """Who made a call that has no event, and of which tool: it is queued, or it was a duplicate."""
    jobs = platform.hr.jobs
    entry = await jobs.get(call_id, who)
    if entry is None:
        return None, ""
    if entry.reason is not None and entry.reason.startswith(DUPLICATE_OF):
        earlier = await platform.events.first(who.tenant, entry.reason.removeprefix(DUPLICATE_OF))
        return None if earlier is None else earlier.call.principal, entry.tool
    return await jobs.caller(call_id, who), entry.tool


def may_see_approval(who: Principal, request: ApprovalRequest) -> bool:
    """Whether somebody reads all approvals, may answer this one, or made the call that waits for it."""
    return who.holds(READ_APPROVALS) or may_decide(who, request) or who.is_same_caller(request.principal)


async def _sees_tool(platform: Platform, tool: str, who: Principal, source: Source) -> bool:
    """Whether the caller still sees the tool; of one that is hidden by now, nothing is shown any more."""
    try:
        await platform.hr.describe(tool, who, source=source)
    except ToolError as error:
        return error.code != "TOOL_NOT_FOUND"
    return True
