"""/api/events and /api/sessions: the record of what happened, as it stands or as it grows."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.core.tell.events import Event
from handrail.core.tell.log import EventFilter
from handrail.doors.http import schemas
from handrail.doors.http.call_stream import SSE_RESPONSE, last_event_id, wants_stream
from handrail.doors.http.errors import not_found
from handrail.doors.http.parameters import After, Limit, Name, Time
from handrail.doors.http.router import Router, ThePlatform, need, openapi_responses
from handrail.platform import Platform
from handrail.platform.access import is_plausible_id
from handrail.platform.events import MAX_EVENTS, event_json
from handrail.platform.responses import json_response, page_and_cursor
from handrail.platform.sse import SSE_TYPE, EventStream, stored_message

routes = Router("events")
EventLogReader = Annotated[Principal, need("events.read")]
Number = Annotated[int, Query(ge=0, le=2**63 - 1, description="Only those after this one.")]
Many = Annotated[int, Query(ge=1, le=MAX_EVENTS, description="At most so many.")]
Kind = Annotated[
    str | None,
    Query(max_length=100, description="Such as `started`, `completed`, `failed`, `needs_approval`."),
]


def _page_or_stream(says: str) -> dict[int | str, dict[str, Any]]:
    responses = openapi_responses(ok=schemas.EventPage, says=says)
    responses[200]["content"] = SSE_RESPONSE["content"]
    return responses


@routes.get(
    "/events",
    "List events, the oldest first, or follow them",
    more=_page_or_stream(f"A page; with `Accept: {SSE_TYPE}`, all that comes."),
)
async def list_events(
    who: EventLogReader,
    platform: ThePlatform,
    request: Request,
    session: Name = None,
    tool: Name = None,
    source: Source | None = None,
    status: Kind = None,
    call_id: Name = None,
    since: Time = None,
    until: Time = None,
    after: Number = 0,
    limit: Many = 100,
) -> Response:
    """`next` and the `id` of a stream are positions: give them as `after` or `Last-Event-ID` to go on."""
    which = EventFilter(session, _tool_id(platform, tool, who), source, status, call_id, since, until)
    if wants_stream(request):
        return _stream(platform, request, who.tenant, which, None, after)
    events = await platform.events.page(who.tenant, which, beyond=after, limit=limit + 1)
    return _events_page(events, limit, lambda event: event.position)


@routes.get("/sessions", "List sessions by id", ok=schemas.SessionPage)
async def list_sessions(
    who: EventLogReader, platform: ThePlatform, after: After = None, limit: Limit = 50
) -> Response:
    """A call without a session has one of its own: `call:` and its id."""
    sessions = await platform.events.sessions(who.tenant, after, limit + 1)
    page, following = page_and_cursor(sessions, limit, lambda session: str(session["id"]))
    return json_response({"sessions": page, "next": following})


@routes.get(
    "/sessions/{session}/events",
    "List the events of a session, or follow them",
    more=_page_or_stream(f"A page; with `Accept: {SSE_TYPE}`, all that comes."),
)
async def list_session_events(
    who: EventLogReader,
    platform: ThePlatform,
    request: Request,
    session: str,
    after: Number = 0,
    limit: Many = 100,
) -> Response:
    """Here events count by `seq`, without gaps: give it as `after` or `Last-Event-ID` to go on."""
    if not is_plausible_id(session) or not await platform.events.last_seq(who.tenant, session):
        raise not_found("session")
    which = EventFilter(session)
    if wants_stream(request):
        return _stream(platform, request, who.tenant, which, session, after)
    events = await platform.events.page(who.tenant, which, seq=after, limit=limit + 1)
    return _events_page(events, limit, lambda event: event.seq)


def _tool_id(platform: Platform, tool: str | None, who: Principal) -> str | None:
    """A tool by the id that events know; another tenant's is looked for as it is written, like any word."""
    registered = None if tool is None else platform.hr.registry.get(tool)
    return (
        tool
        if registered is None or (registered.tenants and who.tenant not in registered.tenants)
        else registered.id
    )


def _events_page(events: list[Event], limit: int, number: Callable[[Event], int]) -> Response:
    page = events[:limit]
    following = number(page[-1]) if len(events) > limit else None
    return json_response({"events": [event_json(event) for event in page], "next": following})


def _stream(
    platform: Platform, request: Request, tenant: str, which: EventFilter, session: str | None, after: int
) -> Response:
    after = last_event_id(request, after)

    async def pieces() -> AsyncGenerator[bytes, None]:
        follow = platform.events.follow(tenant, which, session=session, after=after)
        async with aclosing(follow) as events:
            async for event in events:
                yield stored_message(event, event.position if session is None else event.seq)

    return EventStream(platform.closing).fed_by(pieces()).answer(request)
