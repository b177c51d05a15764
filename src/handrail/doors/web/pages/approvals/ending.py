"""ending: what came of a call that was approved, in few words, as much of it as this reader may see."""

from __future__ import annotations

import re
from typing import NamedTuple

from handrail.core.define.result import Result
from handrail.core.guard.approval import ApprovalRequest
from handrail.doors.http.record import Record
from handrail.doors.web.pages.runs.finding import seen
from handrail.doors.web.routing import NotThere, Reader

_MOST = 200
"""Characters of what a tool says that stand on a card."""
_WORDS = {
    "completed": "It ran",
    "failed": "It failed",
    "refused": "It did not run",
    "cancelled": "It was stopped",
    "needs_review": "Nobody knows how it ended",
}
_SENTENCE = re.compile(r".+?[.?!](?= |$)")


class End(NamedTuple):
    """How a call ended."""

    how: str
    """`It failed`"""
    said: str = ""
    """What its tool says of it. Others wrote it."""


async def end_of(reader: Reader, request: ApprovalRequest) -> End | None:
    """The end of an approved call, once it is known."""
    call_id = request.call.id
    if request.status != "approved" or call_id is None:
        return None
    outcome = await Record(reader.platform).outcome(reader.who.tenant, call_id)
    if outcome is None or outcome.status not in _WORDS:
        return None
    said = said_of(outcome.result) if await _may_read(reader, call_id) else ""
    return End(_WORDS[outcome.status], said)


async def _may_read(reader: Reader, call_id: str) -> bool:
    """Whether the page of the run would show its result."""
    try:
        return (await seen(reader, call_id)).whole
    except NotThere:
        return False


def said_of(result: Result) -> str:
    """The summary of a success, or the first sentence of an error, on one line and never long."""
    text = " ".join(((result.summary if result.success else result.error) or "").split())
    if not result.success and (first := _SENTENCE.match(text)):
        text = first[0]
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"
