"""/api/calls: calls that somebody asks for later: how they stand, what happens to them, an end to them."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from handrail.core.define.call import Outcome
from handrail.core.define.principal import Principal
from handrail.doors.http import shapes
from handrail.doors.http.calling import KEY, SLUG, Wish, read_call
from handrail.doors.http.ending import answer, call_url, status_of, told
from handrail.doors.http.later_shapes import Undone
from handrail.doors.http.reading import body
from handrail.doors.http.record import Record
from handrail.doors.http.refusing import Refused
from handrail.doors.http.routing import (
    Anybody,
    Quick,
    TheHandrail,
    ThePlatform,
    TheSource,
    answers,
    need,
    request_body,
    router,
)
from handrail.doors.http.sse import DOCUMENT, Line, last_event
from handrail.doors.http.streams import begin, resumed, waited
from handrail.doors.http.telling import ready
from handrail.doors.http.whose import Known, known_call, no_such_call, plausible
from handrail.platform import Platform

routes = router("calls")
streams = router("calls", Quick)
LONGEST_WAIT = 60.0
_LOOK = 0.2


@streams.post(
    "/tools/{slug}/stream",
    summary="Call a tool and get its events as they happen",
    dependencies=[need()],
    openapi_extra={"parameters": [SLUG, KEY], "requestBody": request_body(Wish, required=False)},
    responses=answers(409, 415, says="Server-sent events, the last one is `outcome`.")
    | {
        200: DOCUMENT
        | {"description": "Server-sent events. Go on from any `id` with GET /api/calls/{call_id}/events."}
    },
)
async def stream_call(request: Request) -> Response:
    """Whoever goes away does not cancel the call: cancel it, or come back with `Last-Event-ID`."""
    asked = await read_call(request)
    state = request.scope["app"].state
    begun = await begin(state.platform, state.running, asked)
    if isinstance(begun, Outcome):
        return answer(begun, asked.key is not None)
    call_id, line = begun
    streamed = line.answer(request)
    streamed.headers["x-call-id"] = call_id
    streamed.headers["location"] = f"{call_url(call_id)}/events"
    return streamed


@routes.post(
    "/tools/{slug}/explain",
    summary="What the guard would say to a call",
    responses=answers(415, ok=shapes.Explained),
)
async def explain_call(
    who: Anybody, hr: TheHandrail, source: TheSource, slug: str, wish: Annotated[Wish, body(Wish)]
) -> Response:
    """Nothing runs. Every rule that would be consulted is told, in order."""
    decision = await hr.explain(slug, wish.arguments or {}, who, source=source)
    if decision.code == "TOOL_NOT_FOUND":
        raise Refused(404, "TOOL_NOT_FOUND", decision.reason)
    return ready(decision.to_dict())


Seen = Annotated[Principal, need("events.read", own=True)]


@routes.get("/calls/{call_id}", summary="How a call stands", responses=answers(ok=shapes.Told))
async def read_call_outcome(
    who: Seen,
    platform: ThePlatform,
    source: TheSource,
    call_id: str,
    wait: Annotated[
        float,
        Query(ge=0, le=LONGEST_WAIT, allow_inf_nan=False, description="Wait so many seconds for its end."),
    ] = 0.0,
) -> Response:
    """`running` and `queued` are not the end; nor is `pending`, which waits for a person."""
    known = await known_call(platform, call_id, who, "events.read", source)
    outcome = await _outcome(platform, known, who.tenant, wait)
    if outcome is not None:
        return ready(told(outcome))
    return ready(await _standing(platform, known, who))


async def _outcome(platform: Platform, known: Known, tenant: str, wait: float) -> Outcome | None:
    """How a call ended or what it waits for; None while it runs or is queued."""
    record, loop = Record(platform), asyncio.get_running_loop()
    until = loop.time() + wait
    while True:
        outcome = await record.outcome(tenant, known.id)
        if outcome is not None and outcome.status != "pending":
            return outcome
        left = until - loop.time()
        if platform.closing.is_set():
            left = 0.0
        job = await waited(platform, tenant, known.id, min(max(left, 0.0), _LOOK))
        if job is not None:
            return job
        if left <= 0:
            return outcome


async def _standing(platform: Platform, known: Known, who: Principal) -> dict[str, Any]:
    """A call that has no outcome yet."""
    entry = await platform.hr.jobs.get(known.id, who)
    first = known.first
    began = first is not None and first.kind in ("started", "approved", "chunk")
    tool = entry.tool if entry is not None else first.tool if first is not None else ""
    return {
        "status": "running" if began or entry is None else "queued",
        "success": False,
        "code": None,
        "tool": tool,
        "call_id": known.id,
        "run_id": getattr(first, "run_id", None),
        "duration_ms": 0.0,
        "repairs": [],
        "result": {"success": False, "data": None},
        "url": call_url(known.id),
    }


@routes.get(
    "/calls/{call_id}/events",
    summary="The events of one call as they happen",
    responses=answers() | {200: DOCUMENT | {"description": "Server-sent events until the call is over."}},
)
async def stream_call_events(
    who: Seen,
    platform: ThePlatform,
    source: TheSource,
    request: Request,
    call_id: str,
    after: Annotated[int, Query(ge=0, le=2**63 - 1, description="As Last-Event-ID, which counts more.")] = 0,
) -> Response:
    """With `Last-Event-ID`, those after it: none is left out and none comes twice."""
    known = await known_call(platform, call_id, who, "events.read", source)
    start = last_event(request, after)
    source_ = resumed(platform, who.tenant, call_id, known.session, start)
    return Line(platform.closing).fed_by(source_).answer(request)


@routes.post("/calls/{call_id}/cancel", summary="Stop a call", responses=answers(ok=shapes.Cancelled))
async def cancel_call(
    who: Annotated[Principal, need("jobs.cancel", own=True)],
    platform: ThePlatform,
    source: TheSource,
    call_id: str,
) -> Response:
    """One that runs, is queued or waits for a person. `stopped` is false for one that is over."""
    known = await known_call(platform, call_id, who, "jobs.cancel", source)
    by = who.user or who.agent or "a key"
    stopped = await platform.hr.cancel(known.id, f"{by} cancelled it", principal=who)
    return ready({"call_id": known.id, "stopped": stopped})


@routes.post(
    "/calls/{call_id}/undo",
    summary="Take back what a call did",
    responses=answers(409, 499, ok=Undone, says="What was called for it, and what came of that.")
    | {202: {"model": Undone, "description": "The call that takes it back waits."}},
)
async def undo_call(
    who: Anybody,
    hr: TheHandrail,
    source: TheSource,
    call_id: str,
    preview: Annotated[bool, Query(description="Only say what would be called.")] = False,
) -> Response:
    """One of your own that completed, if its tool says how. It is undone once, through the whole guard."""
    if not plausible(call_id):
        raise no_such_call()
    shown = await hr.undo(call_id, principal=who, source=source, preview=preview)
    outcome = shown.outcome
    status = 200 if outcome is None else status_of(outcome)
    if outcome is not None and status >= 400:
        return answer(outcome)
    whole = {
        "undoes": shown.call_id,
        "tool": shown.tool,
        "arguments": dict(shown.args),
        "decision": shown.decision.to_dict(),
        "outcome": None if outcome is None else told(outcome),
    }
    return ready(whole, status)
