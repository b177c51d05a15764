"""/api/events and /api/sessions: the record of what happened, as it stands or as it grows."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from handrail.core.define.permission import Source
from handrail.core.define.principal import Principal
from handrail.core.tell.events import Event
from handrail.doors.http import shapes
from handrail.doors.http.paging import After, Limit, Name, Time, cut
from handrail.doors.http.record import MOST, Record, Wanted, event_json
from handrail.doors.http.refusing import no_such
from handrail.doors.http.routing import ThePlatform, answers, need, router
from handrail.doors.http.sse import DOCUMENT, KIND, Line, durable, last_event, wants_stream
from handrail.doors.http.telling import ready
from handrail.doors.http.whose import plausible
from handrail.platform import Platform

routes = router("events")
Seen = Annotated[Principal, need("events.read")]
Number = Annotated[int, Query(ge=0, le=2**63 - 1, description="Only those after this one.")]
Many = Annotated[int, Query(ge=1, le=MOST, description="At most so many.")]
Kind = Annotated[
    str | None,
    Query(max_length=100, description="Such as `started`, `completed`, `failed`, `needs_approval`."),
]


def _both(says: str) -> dict[int | str, dict[str, Any]]:
    told = answers(ok=shapes.EventPage, says=says)
    told[200]["content"] = DOCUMENT["content"]
    return told


@routes.get(
    "/events",
    summary="List events, the oldest first, or follow them",
    responses=_both(f"A page; with `Accept: {KIND}`, all that comes."),
)
async def list_events(
    who: Seen,
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
    which = Wanted(session, _id_of(platform, tool, who), source, status, call_id, since, until)
    if wants_stream(request):
        return _stream(platform, request, who.tenant, which, None, after)
    found = await Record(platform).page(who.tenant, which, beyond=after, limit=limit + 1)
    return _page(found, limit, lambda event: event.position)


@routes.get("/sessions", summary="List sessions by id", responses=answers(ok=shapes.SessionPage))
async def list_sessions(who: Seen, platform: ThePlatform, after: After = None, limit: Limit = 50) -> Response:
    """A call without a session has one of its own: `call:` and its id."""
    found = await Record(platform).sessions(who.tenant, after, limit + 1)
    page, following = cut(found, limit, lambda one: str(one["id"]))
    return ready({"sessions": page, "next": following})


@routes.get(
    "/sessions/{session}/events",
    summary="List the events of a session, or follow them",
    responses=_both(f"A page; with `Accept: {KIND}`, all that comes."),
)
async def list_session_events(
    who: Seen,
    platform: ThePlatform,
    request: Request,
    session: str,
    after: Number = 0,
    limit: Many = 100,
) -> Response:
    """Here events count by `seq`, without gaps: give it as `after` or `Last-Event-ID` to go on."""
    record = Record(platform)
    if not plausible(session) or not await record.last_seq(who.tenant, session):
        raise no_such("session")
    which = Wanted(session)
    if wants_stream(request):
        return _stream(platform, request, who.tenant, which, session, after)
    found = await record.page(who.tenant, which, seq=after, limit=limit + 1)
    return _page(found, limit, lambda event: event.seq)


def _id_of(platform: Platform, tool: str | None, who: Principal) -> str | None:
    """A tool by the id that events know; another tenant's is looked for as it is written, like any word."""
    known = None if tool is None else platform.hr.registry.get(tool)
    return tool if known is None or (known.tenants and who.tenant not in known.tenants) else known.id


def _page(found: list[Event], limit: int, number: Callable[[Event], int]) -> Response:
    page = found[:limit]
    following = number(page[-1]) if len(found) > limit else None
    return ready({"events": [event_json(one) for one in page], "next": following})


def _stream(
    platform: Platform, request: Request, tenant: str, which: Wanted, session: str | None, after: int
) -> Response:
    after = last_event(request, after)

    async def pieces() -> AsyncGenerator[bytes, None]:
        follow = Record(platform).follow(tenant, which, session=session, after=after)
        async with aclosing(follow) as events:
            async for event in events:
                yield durable(event, event.position if session is None else event.seq)

    return Line(platform.closing).fed_by(pieces()).answer(request)
