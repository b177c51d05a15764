"""Approvals: what waits for a person."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.core.run.approvals import may_decide
from handrail.doors.web.answer import html
from handrail.doors.web.routing import Pages, Reader

pages = Pages()
_MANY = 100


@pages.get("/approvals/badge")
async def badge(reader: Reader) -> Response:
    """How many wait for this reader."""
    waiting = await reader.hr.approvals.list(reader.who, limit=_MANY)
    count = sum(may_decide(reader.who, one) for one in waiting)
    return html(h.fragment[f"{count}{'+' if count == _MANY else ''}" if count else None])
