"""story: the events of one call as lines, with its output a piece at a time."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from handrail.core.tell.events import Event, ToolCancelled
from handrail.doors.http.approvals import may_see
from handrail.doors.http.record import Record, Wanted
from handrail.doors.web.pages.runs.finding import Seen
from handrail.doors.web.pages.runs.people import voice_of
from handrail.doors.web.routing import Reader
from handrail.doors.web.story.line import Line
from handrail.doors.web.story.telling import told, users_in

PIECES = 200
"""Pieces of output that are read at once."""


async def call_story(reader: Reader, found: Seen, after: int = 0) -> tuple[list[Line], int | None]:
    """The lines after a number of the session; and from which number on there is more output, if there is."""
    pieces = await output(reader, found, after)
    events = merged(found.events, pieces)
    voice = await voice_of(reader, users_in(events), await _deciders(reader, found))
    lines = [one for one in told(events, voice) if one.event.seq > after]
    return lines, pieces[-1].seq if len(pieces) == PIECES else None


async def output(reader: Reader, found: Seen, after: int = 0) -> list[Event]:
    """The next pieces of output."""
    if not found.whole or found.run is None:
        return []
    which = Wanted(found.session, call_id=found.call_id, status="chunk")
    return await Record(reader.platform).page(reader.who.tenant, which, seq=after, limit=PIECES)


def merged(events: Sequence[Event], pieces: Sequence[Event]) -> list[Event]:
    return sorted((*events, *pieces), key=lambda one: one.seq)


async def _deciders(reader: Reader, found: Seen) -> dict[str, str]:
    """Who rejected what was asked, where the reader may see the question."""
    if not any(isinstance(one, ToolCancelled) and one.result.code == "REJECTED" for one in found.events):
        return {}
    decided: dict[str, str] = {}
    for one in found.questions:
        request = await reader.hr.approvals.get(one.approval_id, reader.who)
        if request is not None and request.decided_by and may_see(reader.who, request):
            decided[one.approval_id] = request.decided_by
    return decided


def event_url(found: Seen, event: Event) -> str:
    return f"/runs/{quote(found.call_id, safe='')}/events/{event.seq}"
