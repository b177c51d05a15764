"""A call's events as server-sent events: while it runs, and again from any event on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from starlette.requests import Request

from handrail.core.define.call import Outcome
from handrail.core.ids import new_id
from handrail.core.tell.events import Event, NeedsApproval, Progress, Retrying, ToolStarted
from handrail.core.tell.log import EventFilter
from handrail.doors.http.errors import invalid_param
from handrail.doors.http.outcomes import outcome_json
from handrail.platform import Platform
from handrail.platform.calls import CallRequest, wait_for_outcome
from handrail.platform.events import FINAL_KINDS, EventReader
from handrail.platform.sse import SSE_TYPE, EventStream, sse_message, stored_message, transient_message

_POLL_PAUSE = 0.2
"""Seconds between two looks for the first event of a call that waits for a worker."""


SSE_RESPONSE: dict[str, Any] = {
    "content": {
        SSE_TYPE: {
            "itemSchema": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "pattern": "^[0-9]+$"},
                    "event": {"type": "string"},
                    "data": {"type": "string", "contentMediaType": "application/json"},
                },
                "required": ["event", "data"],
            }
        }
    }
}
"""A stream in the OpenAPI document."""
_MAX_ID = 2**63 - 1


def wants_stream(request: Request) -> bool:
    return SSE_TYPE in request.headers.get("accept", "")


def last_event_id(request: Request, after: int | None = None) -> int:
    """Where a stream goes on: the header that a browser sends by itself, or else the parameter."""
    header = request.headers.get("last-event-id")
    if header is None:
        return after or 0
    if not header.isascii() or not header.isdigit() or len(header) > 19 or int(header) > _MAX_ID:
        raise invalid_param("Last-Event-ID", "is the id of an event of this stream, a whole number")
    return int(header)


async def start_stream(platform: Platform, call_request: CallRequest) -> tuple[str, EventStream] | Outcome:
    """Start a call: its id and the stream of its events, or its outcome where it is refused before any."""
    call_id = new_id("call")
    tenant, session = call_request.who.tenant, call_request.session or f"call:{call_id}"
    after = 0 if call_request.session is None else await platform.events.last_seq(tenant, session)
    stream = EventStream(platform.closing)
    transient = _TransientEvents(platform, call_id, stream)
    task = platform.running.start(platform.hr, call_request, call_id)
    await transient.begun_or(task)
    if task.done() and (outcome := task.result()).status == "refused":
        transient.stop()
        return outcome
    if task.done() and outcome.status == "pending" and outcome.call_id != call_id:
        transient.stop()  # an earlier call under the same key waits: its events are the ones to follow
        return outcome.call_id, stream.fed_by(resume_stream(platform, tenant, outcome.call_id, None, 0))
    which = EventFilter(session, call_id=call_id)
    return call_id, stream.fed_by(_events_until_end(platform, task, tenant, which, after, transient))


class _TransientEvents:
    """Passes on events that are not stored; those that come before the first stored one wait for it."""

    def __init__(self, platform: Platform, call_id: str, stream: EventStream) -> None:
        self._stream = stream
        self._held: list[bytes] | None = []
        self._begun = asyncio.Event()
        loop = asyncio.get_running_loop()

        def hear(event: Event) -> None:
            if event.call_id != call_id:
                return
            if isinstance(event, Progress | Retrying):
                loop.call_soon_threadsafe(self._pass_on, transient_message(event))
            elif isinstance(event, ToolStarted | NeedsApproval):
                loop.call_soon_threadsafe(self._begun.set)

        self.stop = platform.hr.subscribe(hear)

    async def begun_or(self, task: asyncio.Task[Outcome]) -> None:
        """Wait until the guard has let the call pass, or has ended it."""
        begun = asyncio.ensure_future(self._begun.wait())
        try:
            await asyncio.wait({begun, task}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            begun.cancel()

    def _pass_on(self, piece: bytes) -> None:
        if self._held is None:
            self._stream.put(piece)
        else:
            self._held.append(piece)

    def begin(self) -> None:
        held, self._held = self._held or [], None
        for piece in held:
            self._stream.put(piece)


async def _events_until_end(
    platform: Platform,
    task: asyncio.Task[Outcome],
    tenant: str,
    which: EventFilter,
    after: int,
    transient: _TransientEvents,
) -> AsyncGenerator[bytes, None]:
    """The events of a call that runs here, until it ends, and then how it ended."""
    reader, asked_for = platform.events, False
    try:
        async with aclosing(
            _until_done(reader.follow(tenant, which, session=which.session, after=after), task)
        ) as events:
            async for event in events:
                yield stored_message(event, event.seq)
                transient.begin()
                after, asked_for = event.seq, asked_for or event.kind == "needs_approval"
        for event in await _remaining_events(reader, tenant, which, after):
            yield stored_message(event, event.seq)
            after, asked_for = event.seq, asked_for or event.kind == "needs_approval"
    finally:
        transient.stop()
    outcome = task.result()
    if outcome.status == "pending" and asked_for:
        async for piece in resume_stream(platform, tenant, outcome.call_id, which.session, after):
            yield piece
    else:
        yield sse_message("outcome", outcome_json(outcome))


async def _until_done(
    events: AsyncGenerator[Event, None], task: asyncio.Task[Outcome]
) -> AsyncGenerator[Event, None]:
    """The events until the task is over."""
    async with aclosing(events):
        while True:
            coming = asyncio.ensure_future(anext(events))
            try:
                await asyncio.wait({coming, task}, return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    return
                yield coming.result()
            finally:
                if not coming.done():
                    coming.cancel()
                    await asyncio.wait({coming})


async def resume_stream(
    platform: Platform, tenant: str, call_id: str, session: str | None, after: int
) -> AsyncGenerator[bytes, None]:
    """The events of a call after a number, until it is over, and then how it ended."""
    reader = platform.events
    if session is None:
        session = await _wait_for_session(platform, reader, tenant, call_id)
    if session is not None:
        which = EventFilter(session, call_id=call_id)
        before = await reader.outcome(tenant, call_id)
        if before is None or before.status == "pending":
            async with aclosing(reader.follow(tenant, which, session=session, after=after)) as events:
                async for event in events:
                    yield stored_message(event, event.seq)
                    if event.kind in FINAL_KINDS:
                        break
        else:
            for event in await _remaining_events(reader, tenant, which, after):
                yield stored_message(event, event.seq)
    outcome = await reader.outcome(tenant, call_id) or await wait_for_outcome(
        platform.hr, tenant, call_id, 0.0
    )
    if outcome is not None:
        yield sse_message("outcome", outcome_json(outcome))


async def _remaining_events(reader: EventReader, tenant: str, which: EventFilter, after: int) -> list[Event]:
    """All events of a call after a number; the call is over, so there is a last one."""
    events: list[Event] = []
    while page := await reader.page(tenant, which, seq=after):
        events += page
        after = page[-1].seq
    return events


async def _wait_for_session(platform: Platform, reader: EventReader, tenant: str, call_id: str) -> str | None:
    """The session of a call that a worker is to begin; None when it ended without an event."""
    while (first := await reader.first(tenant, call_id)) is None:
        if await wait_for_outcome(platform.hr, tenant, call_id, _POLL_PAUSE) is not None:
            return None
    return first.session
