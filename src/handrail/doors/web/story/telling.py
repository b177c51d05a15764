"""Telling: events become lines, oldest first. Every event has its line; pieces of output share one.

What the beginning of a call says depends on whether its story begins there, so a page of a long session reads
as well from its middle.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from handrail.core.tell.events import Event, NeedsApproval, OutputAppended, ToolCancelled
from handrail.doors.web.story.endings import canceller
from handrail.doors.web.story.line import Fold, Line
from handrail.doors.web.story.sentences import Known, lines_of
from handrail.doors.web.story.voice import Voice
from handrail.doors.web.words import count


def told(events: Iterable[Event], voice: Voice | None = None) -> list[Line]:
    """The story of these events."""
    known = Known(voice or Voice())
    lines: list[Line] = []
    pieces: list[OutputAppended] = []
    for event in events:
        if isinstance(event, OutputAppended):
            if pieces and pieces[-1].call_id != event.call_id:
                lines.append(_output(pieces))
                pieces = []
            pieces.append(event)
            continue
        if pieces:
            lines.append(_output(pieces))
            pieces = []
        lines += lines_of(event, known)
        _learn(event, known)
    if pieces:
        lines.append(_output(pieces))
    return lines


def _learn(event: Event, known: Known) -> None:
    known.seen.add(event.call_id)
    if isinstance(event, NeedsApproval):
        known.asked[event.call_id] = event


def _output(pieces: list[OutputAppended]) -> Line:
    text = "".join(str(one.chunk) for one in pieces)
    said = f"Wrote {count(len(text), 'character')} of output"
    folds = (Fold("Output", text),) if text else ()
    return Line(pieces[-1], said, "scroll-text", folds=folds, events=len(pieces))


def users_in(events: Iterable[Event]) -> set[str]:
    """The people that a story of these events speaks of."""
    found: list[Any] = []
    for event in events:
        principal = event.call.principal
        found += (principal.user if principal else None, getattr(event, "by", None))
        result = getattr(event, "result", None)
        if result is not None:
            found.append(result.metadata.get("answered_by"))
        if isinstance(event, ToolCancelled):
            found.append(canceller(event))
    return {one for one in found if isinstance(one, str)}
