"""/api/tool-sessions: tools that several people fill in together, and what they submitted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from handrail.core.define.principal import Principal
from handrail.core.errors import ToolError
from handrail.doors.http import schemas
from handrail.doors.http.errors import invalid_param, not_found
from handrail.doors.http.outcomes import outcome_response
from handrail.doors.http.parameters import After, Limit, Name, json_body
from handrail.doors.http.router import Router, TheHandrail, TheServices, TheSource, need, openapi_responses
from handrail.doors.http.tools import tool_not_found
from handrail.engine.handrail import Handrail
from handrail.identity.services import Services
from handrail.identity.session_aggregates import Aggregate
from handrail.identity.session_submissions import member_participant, submit, tool_of_session
from handrail.identity.tool_sessions import DEFAULT_SHARE_SECONDS, MAX_SHARE_SECONDS, may_manage
from handrail.platform.access import is_plausible_id
from handrail.platform.responses import json_response, no_content, page_and_cursor
from handrail.platform.session_export import export_csv, export_json
from handrail.store.tool_sessions import SessionStatus, ToolSession, ToolSessionSubmission

routes = Router("tool sessions")
SessionReader = Annotated[Principal, need("tool_sessions.read")]
SessionManager = Annotated[Principal, need("tool_sessions.manage", own=True)]


_EXPORT_RESPONSES = openapi_responses(409, ok=schemas.ToolSessionExport)
_EXPORT_RESPONSES[200]["content"] = {"text/csv": {"schema": {"type": "string"}}}


class NewToolSession(BaseModel):
    """A session of a tool that is made to be filled in together."""

    model_config = ConfigDict(extra="forbid")

    tool: str = Field(max_length=200, description="Its slug, id or an alias.")
    title: str = Field(default="", max_length=200, description="Without one, the name of the tool.")
    entity_ids: list[Annotated[str, Field(max_length=200)]] = Field(default=[], max_length=1_000)
    config: dict[str, Any] = {}


class SubmissionBody(BaseModel):
    """What you submit."""

    model_config = ConfigDict(extra="forbid", strict=True)

    arguments: dict[str, Any] = Field(description="By the tool's input schema.")


class ShareBody(BaseModel):
    """How long the link lives."""

    model_config = ConfigDict(extra="forbid")

    lifetime: float = Field(default=DEFAULT_SHARE_SECONDS, ge=60, le=MAX_SHARE_SECONDS, allow_inf_nan=False)


@routes.get("/tool-sessions", "List tool sessions, the newest first", 409, ok=schemas.ToolSessionPage)
async def list_tool_sessions(
    who: SessionReader,
    hr: TheHandrail,
    services: TheServices,
    tool: Name = None,
    status: SessionStatus | None = None,
    after: After = None,
    limit: Limit = 50,
) -> Response:
    """`tool` is a slug. Sessions of tools that you may not use are left out."""
    cursor = None if after is None else _read_cursor(after)
    is_possible = tool is None or is_plausible_id(tool)
    sessions = (
        await services.tool_sessions.list(who, tool=tool, status=status, after=cursor, limit=limit + 1)
        if is_possible
        else []
    )
    page, following = page_and_cursor(sessions, limit, lambda session: f"{session.created_at!r}:{session.id}")
    visible = [session.to_dict() for session in page if await _sees_tool_of(hr, who, session)]
    return json_response({"tool_sessions": visible, "next": following})


@routes.post("/tool-sessions", "Begin a tool session", 409, 415, ok=schemas.ToolSessionSummary, status=201)
async def begin_tool_session(
    who: Annotated[Principal, need("tool_sessions.create")],
    hr: TheHandrail,
    services: TheServices,
    source: TheSource,
    body: Annotated[NewToolSession, json_body(NewToolSession)],
) -> Response:
    """Of a collaborative tool that you may use."""
    try:
        tool = (await hr.describe(body.tool, who, source=source)).tool
    except ToolError as error:
        raise (tool_not_found() if error.code == "TOOL_NOT_FOUND" else error) from None
    session = await services.tool_sessions.create(
        who, tool, body.title, entity_ids=body.entity_ids, config=body.config
    )
    return json_response(session.to_dict(), 201)


@routes.get("/tool-sessions/{tool_session_id}", "Read a tool session", 409, ok=schemas.ToolSessionSummary)
async def read_tool_session(
    who: SessionReader, hr: TheHandrail, services: TheServices, tool_session_id: str
) -> Response:
    return json_response((await _visible_session(hr, services, who, tool_session_id)).to_dict())


@routes.get(
    "/tool-sessions/{tool_session_id}/submissions",
    "What was submitted to a tool session",
    409,
    ok=schemas.SubmissionList,
)
async def list_submissions(
    who: SessionReader, hr: TheHandrail, services: TheServices, tool_session_id: str
) -> Response:
    """The oldest first, one a participant. Earlier ones of theirs stand in the record."""
    session = await _visible_session(hr, services, who, tool_session_id)
    submissions = await services.tool_sessions.submissions(session)
    return json_response({"submissions": [submission.to_dict() for submission in submissions]})


@routes.post(
    "/tool-sessions/{tool_session_id}/submissions",
    "Submit to a tool session",
    409,
    415,
    499,
    ok=schemas.SubmissionDetail,
    status=201,
)
async def submit_to_session(
    who: SessionReader,
    hr: TheHandrail,
    services: TheServices,
    source: TheSource,
    tool_session_id: str,
    body: Annotated[SubmissionBody, json_body(SubmissionBody)],
) -> Response:
    """Runs the tool like any call. What you submitted before is replaced."""
    session = await _visible_session(hr, services, who, tool_session_id)
    participant = await member_participant(services.people, who)
    submitted = await submit(hr, services.tool_sessions, session, participant, body.arguments, source=source)
    return (
        outcome_response(submitted.outcome)
        if submitted.submission is None
        else json_response(submitted.submission.to_dict(), 201)
    )


@routes.get(
    "/tool-sessions/{tool_session_id}/aggregate",
    "What the tool makes of all that was submitted",
    409,
    ok=schemas.AggregateResult,
)
async def read_aggregate(
    who: SessionReader, hr: TheHandrail, services: TheServices, tool_session_id: str
) -> Response:
    """`error` says in words why there is none."""
    session = await _visible_session(hr, services, who, tool_session_id)
    submissions = await services.tool_sessions.submissions(session)
    aggregate = await _aggregate(hr, services, who, session, submissions) or Aggregate()
    return json_response({"aggregate": aggregate.data, "error": aggregate.error, "of": aggregate.of})


@routes.get(
    "/tool-sessions/{tool_session_id}/export", "All of a tool session, as JSON or CSV", more=_EXPORT_RESPONSES
)
async def export_tool_session(
    who: SessionReader,
    hr: TheHandrail,
    services: TheServices,
    tool_session_id: str,
    format: Annotated[Literal["json", "csv"], Query()] = "json",
) -> Response:
    session = await _visible_session(hr, services, who, tool_session_id)
    submissions = await services.tool_sessions.submissions(session)
    if format == "csv":
        return Response(export_csv(submissions), media_type="text/csv")
    return json_response(
        export_json(session, submissions, await _aggregate(hr, services, who, session, submissions))
    )


async def _set_status(services: Services, who: Principal, name: str, status: SessionStatus) -> Response:
    session = await _managed_session(services, who, name)
    return json_response((await services.tool_sessions.set_status(session, status)).to_dict())


@routes.post(
    "/tool-sessions/{tool_session_id}/close", "Take no more submissions", 409, ok=schemas.ToolSessionSummary
)
async def close_tool_session(who: SessionManager, services: TheServices, tool_session_id: str) -> Response:
    return await _set_status(services, who, tool_session_id, "completed")


@routes.post(
    "/tool-sessions/{tool_session_id}/reopen", "Take submissions again", 409, ok=schemas.ToolSessionSummary
)
async def reopen_tool_session(who: SessionManager, services: TheServices, tool_session_id: str) -> Response:
    return await _set_status(services, who, tool_session_id, "active")


@routes.post(
    "/tool-sessions/{tool_session_id}/cancel",
    "End a tool session for good",
    409,
    ok=schemas.ToolSessionSummary,
)
async def cancel_tool_session(who: SessionManager, services: TheServices, tool_session_id: str) -> Response:
    return await _set_status(services, who, tool_session_id, "cancelled")


@routes.post(
    "/tool-sessions/{tool_session_id}/share",
    "Make a link by which guests join",
    409,
    415,
    ok=schemas.SharedToolSession,
    says="The link. It is shown only here.",
)
async def share_tool_session(
    who: SessionManager,
    hr: TheHandrail,
    services: TheServices,
    tool_session_id: str,
    body: Annotated[ShareBody, json_body(ShareBody)],
) -> Response:
    """For a tool that only reads. The link before it ends, and with it the guests who came by it."""
    session = await _managed_session(services, who, tool_session_id)
    tool = await tool_of_session(hr, session, who)
    text, shared = await services.tool_sessions.share(who, session, tool, body.lifetime)
    token = text.reveal()
    response = shared.to_dict() | {"share_token": token, "share_url": f"/join/{token}"}
    return json_response(response, headers={"cache-control": "no-store"})


@routes.delete(
    "/tool-sessions/{tool_session_id}/share", "End the link, and with it its guests", 409, status=204
)
async def unshare_tool_session(who: SessionManager, services: TheServices, tool_session_id: str) -> Response:
    await services.tool_sessions.unshare(await _managed_session(services, who, tool_session_id))
    return no_content()


async def _visible_session(hr: Handrail, services: Services, who: Principal, name: str) -> ToolSession:
    session = await services.tool_sessions.get(who, name) if is_plausible_id(name) else None
    if session is None or not await _sees_tool_of(hr, who, session):
        raise not_found("tool session")
    return session


async def _sees_tool_of(hr: Handrail, who: Principal, session: ToolSession) -> bool:
    """Whether the tool is shown to them. Whoever manages a session keeps it when its tool is gone."""
    try:
        await tool_of_session(hr, session, who)
    except ToolError as error:
        return error.code != "TOOL_NOT_FOUND" or may_manage(who, session)
    return True


async def _managed_session(services: Services, who: Principal, name: str) -> ToolSession:
    session = await services.tool_sessions.manage(who, name) if is_plausible_id(name) else None
    if session is None:
        raise not_found("tool session")
    return session


async def _aggregate(
    hr: Handrail,
    services: Services,
    who: Principal,
    session: ToolSession,
    submissions: Sequence[ToolSessionSubmission],
) -> Aggregate | None:
    try:
        tool = await tool_of_session(hr, session, who)
    except ToolError:
        return Aggregate(error="The tool of this session is not there any more.")
    return await services.aggregates.of(tool, session, submissions)


def _read_cursor(after: str) -> tuple[float, str]:
    at, _, name = after.partition(":")
    try:
        created_at = float(at)
    except ValueError:
        created_at = math.nan
    if not math.isfinite(created_at) or not is_plausible_id(name):
        raise invalid_param("after", "is the `next` of a page before")
    return created_at, name
