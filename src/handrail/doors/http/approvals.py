"""/api/approvals: questions to people, with exactly what would run, and their answers."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from handrail.core.define.principal import Principal
from handrail.core.define.result import Result
from handrail.core.guard.approval_request import ApprovalRequest
from handrail.core.run.approvals.inbox import is_reviewer
from handrail.doors.http import schemas
from handrail.doors.http.errors import invalid_param, not_found
from handrail.doors.http.outcomes import approval_url, call_url
from handrail.doors.http.parameters import After, Limit, json_body
from handrail.doors.http.router import Router, TheHandrail, need, openapi_responses
from handrail.engine.handrail import Handrail
from handrail.platform.access import READ_APPROVALS, is_plausible_id, may_see_approval
from handrail.platform.responses import json_response, page_and_cursor

routes = Router("approvals")
ApprovalReader = Annotated[Principal, need(READ_APPROVALS, own=True)]
ApprovalDecider = Annotated[Principal, need("approvals.decide", own=True)]
_DECIDED_RESPONSES = openapi_responses(
    409, 415, ok=schemas.ApprovalDetail, says="The question as it stands now."
)


class ApproveBody(BaseModel):
    """Agree, as asked or with other arguments."""

    model_config = ConfigDict(extra="forbid", strict=True)

    arguments: dict[str, Any] | None = Field(
        default=None, description="All arguments to run with instead of those that were proposed."
    )
    standing: bool = Field(default=False, description="Agree to this tool for the rest of its session.")


class RejectBody(BaseModel):
    """Refuse."""

    model_config = ConfigDict(extra="forbid", strict=True)

    reason: str | None = Field(default=None, max_length=2_000, description="Told to whoever called.")


class RespondBody(BaseModel):
    """Answer in the tool's place: with data that fits its output schema, or with words."""

    model_config = ConfigDict(extra="forbid", strict=True)

    data: Any = None
    output: str | None = Field(default=None, max_length=100_000)


@routes.get("/approvals", "List what waits for a person", ok=schemas.ApprovalPage)
async def list_approvals(
    who: ApprovalReader, hr: TheHandrail, after: After = None, limit: Limit = 50
) -> Response:
    """The oldest first. Without the permission to read all, those of your own calls."""
    visible: list[ApprovalRequest] = []
    cursor = after
    while len(visible) <= limit:
        batch = await hr.approvals.list(who, after=cursor, limit=limit + 1)
        visible += [pending for pending in batch if may_see_approval(who, pending)]
        if len(batch) <= limit:
            break
        cursor = batch[-1].id
    page, following = page_and_cursor(visible, limit, lambda pending: pending.id)
    return json_response({"approvals": [approval_json(pending, who) for pending in page], "next": following})


@routes.get(
    "/approvals/{approval_id}", "Read one question with its exact arguments", ok=schemas.ApprovalDetail
)
async def read_approval(who: ApprovalReader, hr: TheHandrail, approval_id: str) -> Response:
    return json_response(approval_json(await _visible_approval(hr, approval_id, who), who))


@routes.post(
    "/approvals/{approval_id}/approve", "Agree, perhaps with other arguments", more=_DECIDED_RESPONSES
)
async def approve(
    who: ApprovalDecider,
    hr: TheHandrail,
    approval_id: str,
    yes: Annotated[ApproveBody, json_body(ApproveBody)],
) -> Response:
    """The call runs once, with exactly these arguments. Ask for its outcome at `call_url`."""
    await _visible_approval(hr, approval_id, who)
    settled = await hr.approvals.approve(approval_id, by=who, edits=yes.arguments, for_session=yes.standing)
    return json_response(approval_json(settled, who))


@routes.post("/approvals/{approval_id}/reject", "Refuse", more=_DECIDED_RESPONSES)
async def reject(
    who: ApprovalDecider, hr: TheHandrail, approval_id: str, no: Annotated[RejectBody, json_body(RejectBody)]
) -> Response:
    """The call does not run; whoever made it is told so."""
    await _visible_approval(hr, approval_id, who)
    return json_response(approval_json(await hr.approvals.reject(approval_id, by=who, reason=no.reason), who))


@routes.post("/approvals/{approval_id}/respond", "Answer in the tool's place", more=_DECIDED_RESPONSES)
async def respond(
    who: ApprovalDecider,
    hr: TheHandrail,
    approval_id: str,
    instead: Annotated[RespondBody, json_body(RespondBody)],
) -> Response:
    """The tool does not run; whoever called gets this as its result."""
    if not instead.model_fields_set:
        raise invalid_param("", "Give the answer as `data`, or in words as `output`")
    await _visible_approval(hr, approval_id, who)
    result = Result(data=instead.data, output=instead.output)
    return json_response(approval_json(await hr.approvals.respond(approval_id, by=who, result=result), who))


async def _visible_approval(hr: Handrail, approval_id: str, who: Principal) -> ApprovalRequest:
    """The question, if there is one that this principal may see."""
    request = await hr.approvals.get(approval_id, who) if is_plausible_id(approval_id) else None
    if request is None or not may_see_approval(who, request):
        raise not_found("approval")
    return request


def approval_json(request: ApprovalRequest, reader: Principal) -> dict[str, Any]:
    """A question as JSON data; secrets are masked, the digests are of the exact arguments."""
    call, who = request.call, request.principal
    call_id = call.id or ""
    return {
        "id": request.id,
        "url": approval_url(request.id),
        "status": request.status,
        "tool": request.tool,
        "tool_digest": request.tool_digest,
        "level": request.level,
        "danger": request.danger,
        "reason": request.reason,
        "arguments": dict(request.args),
        "arguments_digest": request.args_hash,
        "preview": request.preview if is_reviewer(reader, request) else None,
        "edited_arguments": dict(request.edited.shown) if request.edited else None,
        "effective_digest": request.effective.hash if request.effective else None,
        "tenant": who.tenant,
        "user": who.user,
        "agent": who.agent,
        "source": call.source,
        "session": call.session,
        "call_id": call_id,
        "call_url": call_url(call_id),
        "answered_by": request.by,
        "created_at": request.created_at,
        "expires_at": request.expires_at,
        "quorum": request.quorum,
        "four_eyes": request.four_eyes,
        "votes": [vote.user for vote in request.votes],
        "decided_by": request.decided_by,
        "decided_at": request.decided_at,
        "repairs": [repair.to_dict() for repair in request.repairs],
        "decision": request.decision.to_dict(),
    }
