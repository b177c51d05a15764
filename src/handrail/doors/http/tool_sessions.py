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
from handrail.doors.http import shared_shapes as shapes
from handrail.doors.http.ending import answer
from handrail.doors.http.paging import After, Limit, Name, cut
from handrail.doors.http.reading import body
from handrail.doors.http.refusing import invalid, no_such
from handrail.doors.http.routing import TheHandrail, TheOffices, TheSource, answers, need, router
from handrail.doors.http.telling import nothing, ready
from handrail.doors.http.tools import no_such_tool
from handrail.doors.http.whose import plausible
from handrail.doors.session_export import as_csv, as_data
from handrail.engine import Handrail
from handrail.identity.aggregating import Aggregate
from handrail.identity.offices import Offices
from handrail.identity.submitting import member_of, submit, tool_of
from handrail.identity.tool_sessions import LONGEST_SHARE, SHARED_FOR, may_manage
from handrail.store.tool_sessions import SessionStatus, ToolSession, ToolSessionSubmission

routes = router("tool sessions")
Seen = Annotated[Principal, need("tool_sessions.read")]
Managing = Annotated[Principal, need("tool_sessions.manage", own=True)]


_EXPORTED = answers(409, ok=shapes.ToolSessionExport)
_EXPORTED[200]["content"] = {"text/csv": {"schema": {"type": "string"}}}


class NewToolSession(BaseModel):
    """A session of a tool that is made to be filled in together."""

    model_config = ConfigDict(extra="forbid")

    tool: str = Field(max_length=200, description="Its slug, id or an alias.")
    title: str = Field(default="", max_length=200, description="Without one, the name of the tool.")
    entity_ids: list[Annotated[str, Field(max_length=200)]] = Field(default=[], max_length=1_000)
    config: dict[str, Any] = {}


class Given(BaseModel):
    """What you submit."""

    model_config = ConfigDict(extra="forbid", strict=True)

    arguments: dict[str, Any] = Field(description="By the tool's input schema.")


class Sharing(BaseModel):
    """How long the link lives."""

    model_config = ConfigDict(extra="forbid")

    lifetime: float = Field(default=SHARED_FOR, ge=60, le=LONGEST_SHARE, allow_inf_nan=False)


@routes.get(
    "/tool-sessions",
    summary="List tool sessions, the newest first",
    responses=answers(409, ok=shapes.ToolSessionPage),
)
async def list_tool_sessions(
    who: Seen,
    hr: TheHandrail,
    offices: TheOffices,
    tool: Name = None,
    status: SessionStatus | None = None,
    after: After = None,
    limit: Limit = 50,
) -> Response:
    """`tool` is a slug. Sessions of tools that you may not use are left out."""
    place = None if after is None else _place(after)
    known = tool is None or plausible(tool)
    found = (
        await offices.tool_sessions.list(who, tool=tool, status=status, after=place, limit=limit + 1)
        if known
        else []
    )
    page, following = cut(found, limit, lambda one: f"{one.created_at!r}:{one.id}")
    shown = [one.to_dict() for one in page if await _shows(hr, who, one)]
    return ready({"tool_sessions": shown, "next": following})


@routes.post(
    "/tool-sessions",
    summary="Begin a tool session",
    status_code=201,
    responses=answers(409, 415, ok=shapes.ToolSessionLine, status=201),
)
async def begin_tool_session(
    who: Annotated[Principal, need("tool_sessions.create")],
    hr: TheHandrail,
    offices: TheOffices,
    source: TheSource,
    given: Annotated[NewToolSession, body(NewToolSession)],
) -> Response:
    """Of a collaborative tool that you may use."""
    try:
        tool = (await hr.describe(given.tool, who, source=source)).tool
    except ToolError as error:
        raise (no_such_tool() if error.code == "TOOL_NOT_FOUND" else error) from None
    made = await offices.tool_sessions.create(
        who, tool, given.title, entity_ids=given.entity_ids, config=given.config
    )
    return ready(made.to_dict(), 201)


@routes.get(
    "/tool-sessions/{tool_session_id}",
    summary="Read a tool session",
    responses=answers(409, ok=shapes.ToolSessionLine),
)
async def read_tool_session(
    who: Seen, hr: TheHandrail, offices: TheOffices, tool_session_id: str
) -> Response:
    return ready((await _seen(hr, offices, who, tool_session_id)).to_dict())


@routes.get(
    "/tool-sessions/{tool_session_id}/submissions",
    summary="What was submitted to a tool session",
    responses=answers(409, ok=shapes.SubmissionList),
)
async def list_submissions(who: Seen, hr: TheHandrail, offices: TheOffices, tool_session_id: str) -> Response:
    """The oldest first, one a participant. Earlier ones of theirs stand in the record."""
    session = await _seen(hr, offices, who, tool_session_id)
    given = await offices.tool_sessions.submissions(session)
    return ready({"submissions": [one.to_dict() for one in given]})


@routes.post(
    "/tool-sessions/{tool_session_id}/submissions",
    summary="Submit to a tool session",
    status_code=201,
    responses=answers(409, 415, 499, ok=shapes.SubmissionLine, status=201),
)
async def submit_to_session(
    who: Seen,
    hr: TheHandrail,
    offices: TheOffices,
    source: TheSource,
    tool_session_id: str,
    given: Annotated[Given, body(Given)],
) -> Response:
    """Runs the tool like any call. What you submitted before is replaced."""
    session = await _seen(hr, offices, who, tool_session_id)
    somebody = await member_of(offices.people, who)
    done = await submit(hr, offices.tool_sessions, session, somebody, given.arguments, source=source)
    return answer(done.outcome) if done.submission is None else ready(done.submission.to_dict(), 201)


@routes.get(
    "/tool-sessions/{tool_session_id}/aggregate",
    summary="What the tool makes of all that was submitted",
    responses=answers(409, ok=shapes.AggregateTold),
)
async def read_aggregate(who: Seen, hr: TheHandrail, offices: TheOffices, tool_session_id: str) -> Response:
    """`error` says in words why there is none."""
    session = await _seen(hr, offices, who, tool_session_id)
    given = await offices.tool_sessions.submissions(session)
    made = await _aggregate(hr, offices, who, session, given) or Aggregate()
    return ready({"aggregate": made.data, "error": made.error, "of": made.of})


@routes.get(
    "/tool-sessions/{tool_session_id}/export",
    summary="All of a tool session, as JSON or CSV",
    responses=_EXPORTED,
)
async def export_tool_session(
    who: Seen,
    hr: TheHandrail,
    offices: TheOffices,
    tool_session_id: str,
    format: Annotated[Literal["json", "csv"], Query()] = "json",
) -> Response:
    session = await _seen(hr, offices, who, tool_session_id)
    given = await offices.tool_sessions.submissions(session)
    if format == "csv":
        return Response(as_csv(given), media_type="text/csv")
    return ready(as_data(session, given, await _aggregate(hr, offices, who, session, given)))


async def _turn(offices: Offices, who: Principal, name: str, status: SessionStatus) -> Response:
    session = await _managed(offices, who, name)
    return ready((await offices.tool_sessions.turn(session, status)).to_dict())


@routes.post(
    "/tool-sessions/{tool_session_id}/close",
    summary="Take no more submissions",
    responses=answers(409, ok=shapes.ToolSessionLine),
)
async def close_tool_session(who: Managing, offices: TheOffices, tool_session_id: str) -> Response:
    return await _turn(offices, who, tool_session_id, "completed")


@routes.post(
    "/tool-sessions/{tool_session_id}/reopen",
    summary="Take submissions again",
    responses=answers(409, ok=shapes.ToolSessionLine),
)
async def reopen_tool_session(who: Managing, offices: TheOffices, tool_session_id: str) -> Response:
    return await _turn(offices, who, tool_session_id, "active")


@routes.post(
    "/tool-sessions/{tool_session_id}/cancel",
    summary="End a tool session for good",
    responses=answers(409, ok=shapes.ToolSessionLine),
)
async def cancel_tool_session(who: Managing, offices: TheOffices, tool_session_id: str) -> Response:
    return await _turn(offices, who, tool_session_id, "cancelled")


@routes.post(
    "/tool-sessions/{tool_session_id}/share",
    summary="Make a link by which guests join",
    responses=answers(409, 415, ok=shapes.SharedToolSession, says="The link. It is shown only here."),
)
async def share_tool_session(
    who: Managing,
    hr: TheHandrail,
    offices: TheOffices,
    tool_session_id: str,
    given: Annotated[Sharing, body(Sharing)],
) -> Response:
    """For a tool that only reads. The link before it ends, and with it the guests who came by it."""
    session = await _managed(offices, who, tool_session_id)
    tool = await tool_of(hr, session, who)
    text, now = await offices.tool_sessions.share(who, session, tool, given.lifetime)
    token = text.reveal()
    told = now.to_dict() | {"share_token": token, "share_url": f"/join/{token}"}
    return ready(told, headers={"cache-control": "no-store"})


@routes.delete(
    "/tool-sessions/{tool_session_id}/share",
    summary="End the link, and with it its guests",
    status_code=204,
    responses=answers(409, status=204),
)
async def unshare_tool_session(who: Managing, offices: TheOffices, tool_session_id: str) -> Response:
    await offices.tool_sessions.unshare(await _managed(offices, who, tool_session_id))
    return nothing()


async def _seen(hr: Handrail, offices: Offices, who: Principal, name: str) -> ToolSession:
    found = await offices.tool_sessions.get(who, name) if plausible(name) else None
    if found is None or not await _shows(hr, who, found):
        raise no_such("tool session")
    return found


async def _shows(hr: Handrail, who: Principal, session: ToolSession) -> bool:
    """Whether the tool is shown to them. Whoever manages a session keeps it when its tool is gone."""
    try:
        await tool_of(hr, session, who)
    except ToolError as error:
        return error.code != "TOOL_NOT_FOUND" or may_manage(who, session)
    return True


async def _managed(offices: Offices, who: Principal, name: str) -> ToolSession:
    found = await offices.tool_sessions.manage(who, name) if plausible(name) else None
    if found is None:
        raise no_such("tool session")
    return found


async def _aggregate(
    hr: Handrail,
    offices: Offices,
    who: Principal,
    session: ToolSession,
    given: Sequence[ToolSessionSubmission],
) -> Aggregate | None:
    try:
        tool = await tool_of(hr, session, who)
    except ToolError:
        return Aggregate(error="The tool of this session is not there any more.")
    return await offices.aggregates.of(tool, session, given)


def _place(after: str) -> tuple[float, str]:
    at, _, name = after.partition(":")
    try:
        found = float(at)
    except ValueError:
        found = math.nan
    if not math.isfinite(found) or not plausible(name):
        raise invalid("after", "is the `next` of a page before")
    return found, name
