"""Calls: /api/tools/{slug}/call, /stream and /explain start or foresee one; /api/calls follows it, ends it
and takes it back."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from handrail.core.define.call import Outcome
from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.doors.http import schemas
from handrail.doors.http.call_stream import SSE_RESPONSE, last_event_id, resume_stream, start_stream
from handrail.doors.http.errors import ApiError, invalid_param, not_found
from handrail.doors.http.outcomes import call_url, outcome_json, outcome_response, status_of
from handrail.doors.http.parameters import json_body, read_body, read_json, read_model
from handrail.doors.http.router import (
    RawRoute,
    Router,
    SignedIn,
    TheHandrail,
    ThePlatform,
    TheSource,
    need,
    openapi_request_body,
    signed_in,
)
from handrail.platform import Platform
from handrail.platform.access import KnownCall, find_call, is_plausible_id, source_of
from handrail.platform.calls import CallRequest, wait_for_outcome
from handrail.platform.responses import json_response
from handrail.platform.sse import EventStream

raw_routes = Router("calls", RawRoute)
"""Starting a call is what is asked for most, so FastAPI resolves nothing for these."""
routes = Router("calls")
CallReader = Annotated[Principal, need("events.read", own=True)]
_MAX_KEY_LENGTH = 255
_MAX_WAIT = 60.0
_POLL_INTERVAL = 0.2


class CallBody(BaseModel):
    """A call: with what, where it belongs, and which definition the caller saw."""

    model_config = ConfigDict(extra="forbid", strict=True)

    arguments: dict[str, Any] | None = Field(default=None, description="By the tool's input schema.")
    session: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Events go there; without one it gets its own.",
    )
    digest: str | None = Field(
        default=None, max_length=200, description="Of the definition you saw; another one now refuses."
    )


SLUG_PARAMETER = {
    "name": "slug",
    "in": "path",
    "required": True,
    "schema": {"type": "string"},
    "description": "The tool: its slug, id or an alias.",
}
IDEMPOTENCY_HEADER = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": _MAX_KEY_LENGTH},
    "description": "Your own name for this effect: under one key it happens once.",
}
_PREFER_HEADER = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "`respond-async`: answer at once with where to ask for the outcome.",
}
ACCEPTED_RESPONSE = {
    "model": schemas.CallOutcome,
    "description": "It waits: for a person, in a plan, or to be run. `Location` says where to look.",
    "headers": {"Location": {"schema": {"type": "string"}}},
}


@raw_routes.post(
    "/tools/{slug}/call",
    "Call a tool",
    409,
    415,
    499,
    ok=schemas.CallOutcome,
    says="It is over; `success` says how.",
    more={202: ACCEPTED_RESPONSE},
    dependencies=[need()],
    openapi_extra={
        "parameters": [SLUG_PARAMETER, IDEMPOTENCY_HEADER, _PREFER_HEADER],
        "requestBody": openapi_request_body(CallBody, required=False),
    },
)
async def call_tool(request: Request) -> Response:
    """Runs a tool through the guard. What a body did wrong is told with 200 and `success: false`."""
    call_request = await read_call(request)
    platform: Platform = request.scope["app"].state.platform
    if call_request.prefer and _wants_async(call_request.prefer):
        outcome = await platform.hr.submit(call_request.tool, call_request.arguments, **call_request.options)
        response = outcome_response(outcome, call_request.key is not None)
        if outcome.code == "SUBMITTED":
            response.headers["preference-applied"] = "respond-async"
        return response
    outcome = await platform.hr.call(call_request.tool, call_request.arguments, **call_request.call_options)
    return outcome_response(outcome, call_request.key is not None)


async def read_call(request: Request) -> CallRequest:
    """What a request asks for, or what is wrong with it."""
    who = signed_in(request)
    scope = request.scope
    kind = key = prefer = ""
    for name, value in scope["headers"]:
        if name == b"content-type":
            kind = value.decode("latin-1")
        elif name == b"idempotency-key":
            key = value.decode("latin-1") or " "
        elif name == b"prefer":
            prefer = f"{prefer},{value.decode('latin-1')}"
    if key and (len(key) > _MAX_KEY_LENGTH or not key.isascii() or not key.isprintable() or not key.strip()):
        raise invalid_param("Idempotency-Key", f"is 1 to {_MAX_KEY_LENGTH} printable ASCII characters")
    body = await read_body(request.receive)
    arguments, session, digest = _read_body(read_json(body, kind) if body else {})
    source, slug = source_of(request), scope["path_params"]["slug"]
    return CallRequest(
        who,
        source,
        slug,
        arguments,
        session,
        digest,
        key or None,
        prefer,
        durable_start=source == "api",  # the answer to a program names the run (EV-09)
    )


def _read_body(value: Any) -> tuple[dict[str, Any], str | None, str | None]:
    """The usual body is taken as it is; for any other, the model says what is wrong."""
    if type(value) is dict and len(value) == 1 and type(arguments := value.get("arguments")) is dict:
        return arguments, None, None
    call_body = read_model(CallBody, value)
    if call_body.session is not None and not call_body.session.isprintable():
        raise invalid_param("session", "is a name in printable characters")
    return call_body.arguments or {}, call_body.session, call_body.digest


def _wants_async(prefer: str) -> bool:
    return any(part.partition(";")[0].strip().lower() == "respond-async" for part in prefer.split(","))


@raw_routes.post(
    "/tools/{slug}/stream",
    "Call a tool and get its events as they happen",
    409,
    415,
    says="Server-sent events, the last one is `outcome`.",
    more={
        200: SSE_RESPONSE
        | {"description": "Server-sent events. Go on from any `id` with GET /api/calls/{call_id}/events."}
    },
    dependencies=[need()],
    openapi_extra={
        "parameters": [SLUG_PARAMETER, IDEMPOTENCY_HEADER],
        "requestBody": openapi_request_body(CallBody, required=False),
    },
)
async def stream_call(request: Request) -> Response:
    """Whoever goes away does not cancel the call: cancel it, or come back with `Last-Event-ID`."""
    call_request = await read_call(request)
    begun = await start_stream(request.scope["app"].state.platform, call_request)
    if isinstance(begun, Outcome):
        return outcome_response(begun, call_request.key is not None)
    call_id, stream = begun
    response = stream.answer(request)
    response.headers["x-call-id"] = call_id
    response.headers["location"] = f"{call_url(call_id)}/events"
    return response


@routes.post("/tools/{slug}/explain", "What the guard would say to a call", 415, ok=schemas.DecisionTrace)
async def explain_call(
    who: SignedIn,
    hr: TheHandrail,
    source: TheSource,
    slug: str,
    call_body: Annotated[CallBody, json_body(CallBody)],
) -> Response:
    """Nothing runs. Every rule that would be consulted is told, in order."""
    decision = await hr.explain(slug, call_body.arguments or {}, who, source=source)
    if decision.code == "TOOL_NOT_FOUND":
        raise ApiError(404, "TOOL_NOT_FOUND", decision.reason)
    return json_response(decision.to_dict())


@routes.get("/calls/{call_id}", "How a call stands", ok=schemas.CallOutcome)
async def read_call_outcome(
    who: CallReader,
    platform: ThePlatform,
    source: TheSource,
    call_id: str,
    wait: Annotated[
        float,
        Query(ge=0, le=_MAX_WAIT, allow_inf_nan=False, description="Wait so many seconds for its end."),
    ] = 0.0,
) -> Response:
    """`running` and `queued` are not the end; nor is `pending`, which waits for a person."""
    call = await _visible_call(platform, call_id, who, "events.read", source)
    outcome = await _wait_for_end(platform, call, who.tenant, wait)
    if outcome is not None:
        return json_response(outcome_json(outcome))
    return json_response(await _unfinished_json(platform, call, who))


async def _visible_call(
    platform: Platform, call_id: str, who: Principal, permission: str, source: Source
) -> KnownCall:
    call = await find_call(platform, call_id, who, permission, source)
    if call is None:
        raise not_found("call")
    return call


async def _wait_for_end(platform: Platform, call: KnownCall, tenant: str, wait: float) -> Outcome | None:
    """How a call ended or what it waits for; None while it runs or is queued."""
    loop = asyncio.get_running_loop()
    until = loop.time() + wait
    while True:
        outcome = await platform.events.outcome(tenant, call.id)
        if outcome is not None and outcome.status != "pending":
            return outcome
        remaining = until - loop.time()
        if platform.closing.is_set():
            remaining = 0.0
        job = await wait_for_outcome(platform.hr, tenant, call.id, min(max(remaining, 0.0), _POLL_INTERVAL))
        if job is not None:
            return job
        if remaining <= 0:
            return outcome


async def _unfinished_json(platform: Platform, call: KnownCall, who: Principal) -> dict[str, Any]:
    """A call that has no outcome yet."""
    entry = await platform.hr.jobs.get(call.id, who)
    first = call.first
    began = first is not None and first.kind in ("started", "approved", "chunk")
    tool = entry.tool if entry is not None else first.tool if first is not None else ""
    return {
        "status": "running" if began or entry is None else "queued",
        "success": False,
        "code": None,
        "tool": tool,
        "call_id": call.id,
        "run_id": getattr(first, "run_id", None),
        "duration_ms": 0.0,
        "repairs": [],
        "result": {"success": False, "data": None},
        "url": call_url(call.id),
    }


@routes.get(
    "/calls/{call_id}/events",
    "The events of one call as they happen",
    more={200: SSE_RESPONSE | {"description": "Server-sent events until the call is over."}},
)
async def stream_call_events(
    who: CallReader,
    platform: ThePlatform,
    source: TheSource,
    request: Request,
    call_id: str,
    after: Annotated[int, Query(ge=0, le=2**63 - 1, description="As Last-Event-ID, which counts more.")] = 0,
) -> Response:
    """With `Last-Event-ID`, those after it: none is left out and none comes twice."""
    call = await _visible_call(platform, call_id, who, "events.read", source)
    start = last_event_id(request, after)
    messages = resume_stream(platform, who.tenant, call_id, call.session, start)
    return EventStream(platform.closing).fed_by(messages).answer(request)


@routes.post("/calls/{call_id}/cancel", "Stop a call", ok=schemas.CancelResult)
async def cancel_call(
    who: Annotated[Principal, need("jobs.cancel", own=True)],
    platform: ThePlatform,
    source: TheSource,
    call_id: str,
) -> Response:
    """One that runs, is queued or waits for a person. `stopped` is false for one that is over."""
    call = await _visible_call(platform, call_id, who, "jobs.cancel", source)
    by = who.user or who.agent or "a key"
    stopped = await platform.hr.cancel(call.id, f"{by} cancelled it", principal=who)
    return json_response({"call_id": call.id, "stopped": stopped})


@routes.post(
    "/calls/{call_id}/undo",
    "Take back what a call did",
    409,
    499,
    ok=schemas.UndoOutcome,
    says="What was called for it, and what came of that.",
    more={202: {"model": schemas.UndoOutcome, "description": "The call that takes it back waits."}},
)
async def undo_call(
    who: SignedIn,
    hr: TheHandrail,
    source: TheSource,
    call_id: str,
    preview: Annotated[bool, Query(description="Only say what would be called.")] = False,
) -> Response:
    """One of your own that completed, if its tool says how. It is undone once, through the whole guard."""
    if not is_plausible_id(call_id):
        raise not_found("call")
    undo = await hr.undo(call_id, principal=who, source=source, preview=preview)
    outcome = undo.outcome
    status = 200 if outcome is None else status_of(outcome)
    if outcome is not None and status >= 400:
        return outcome_response(outcome)
    body = {
        "undoes": undo.call_id,
        "tool": undo.tool,
        "arguments": dict(undo.args),
        "decision": undo.decision.to_dict(),
        "outcome": None if outcome is None else outcome_json(outcome),
    }
    return json_response(body, status)
