"""Seat: whoever sits in a session, as a member or as a guest, and what they may do there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError, UsageError
from handrail.doors.http.whose import plausible
from handrail.doors.web.answer import html
from handrail.doors.web.forms.field import ToolFormMode
from handrail.doors.web.forms.options import NO_OPTIONS, Options
from handrail.doors.web.frame import bare, page
from handrail.doors.web.routing import NotSignedIn, NotThere, Reader
from handrail.doors.web.watching import news_of
from handrail.identity.guests import Participant
from handrail.identity.submitting import guest_tool, member_of, tool_of
from handrail.identity.tool_sessions import may_manage
from handrail.store.tool_sessions import ToolSession

GUEST = "handrail_guest"
"""The cookie of a guest; it is sent to the page of its session alone."""
READ = "tool_sessions.read"


class Gone(Exception):
    """A guest whose link has ended."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A place in a session."""

    session: ToolSession
    tool: Tool
    who: Participant
    manages: bool = False
    options: Options = NO_OPTIONS
    """What pickers offer; a guest learns nothing of what there is."""

    @property
    def guest(self) -> bool:
        return self.who.guest

    @property
    def mode(self) -> ToolFormMode:
        """A guest is no operator."""
        return "embed" if self.guest else "internal"

    def url(self, *more: str) -> str:
        return url_of(self.session, *more)


def url_of(session: ToolSession, *more: str) -> str:
    """The address of a session, or of something below it."""
    parts = (session.tool_slug, "session", session.id, *more)
    return "/".join(["/tools", *(quote(part, safe="") for part in parts)])


async def seat_of(reader: Reader, *, counts: bool = True) -> Seat:
    """The seat of this reader in the session of the address. A guest's requests are counted."""
    found = await _member(reader) or await _guest(reader, counts)
    if found is None:
        if reader.somebody is None:
            raise NotSignedIn
        raise NotThere
    if found.session.tool_slug != reader.part("slug"):
        raise NotThere
    return found


async def managed(reader: Reader) -> Seat:
    """The seat of somebody who manages the session; for others there is no such page."""
    try:
        seat = await seat_of(reader)
    except Gone:
        raise NotThere from None
    if not seat.manages:
        raise NotThere
    return seat


async def _member(reader: Reader) -> Seat | None:
    who, name = reader.somebody, reader.part("id")
    if who is None or not who.holds(READ) or not plausible(name):
        return None
    session = await reader.offices.tool_sessions.get(who, name)
    if session is None:
        return None
    try:
        tool = await tool_of(reader.hr, session, who)
    except ToolError:
        raise NotThere from None
    somebody = await member_of(reader.offices.people, who)
    return Seat(session, tool, somebody, may_manage(who, session))


async def _guest(reader: Reader, counts: bool) -> Seat | None:
    note = reader.request.cookies.get(GUEST)
    if note is None or not plausible(reader.part("id")):
        return None
    sessions = reader.offices.tool_sessions
    holder = sessions.holder(note, reader.part("id"))
    if holder is not None and counts:
        reader.web.pacing.take("guest", holder.id)
        reader.web.pacing.take("link", holder.share)
    found = await sessions.guest(note, reader.part("id"))
    if found is None:
        raise Gone
    guest, session = found
    try:
        tool = await guest_tool(reader.hr, session)
    except (ToolError, UsageError):
        raise Gone from None  # the tool is hidden by now, or is no longer one that can be shared
    return Seat(session, tool, guest.participant(tool))


def shown(
    reader: Reader, seat: Seat, title: str, *content: h.Node, status: int = 200, above: Iterable[h.Node] = ()
) -> Response:
    """A page of a session: in the frame for a member, by itself for a guest."""
    reader.web.watching.watch(seat.session)
    if seat.guest:
        return bare(reader, title, *above, *content, status=status, wide=True, live=seat.url("live"))
    tool = f"/tools/{quote(seat.tool.slug, safe='')}"
    crumbs = [("Tools", "/tools"), (seat.tool.name, tool), ("Together", f"{tool}/session")]
    return page(
        reader,
        title,
        *above,
        *content,
        active="tools",
        crumbs=crumbs,
        live=[news_of(seat.session.id)],
        status=status,
    )


def gone(reader: Reader) -> Response:
    """What a guest reads whose link has ended. On a page that is open, everything typed stays."""
    if reader.by_htmx:
        said = h.p(".shared-over")[
            "This session is not shared any more: the link by which you came has ended."
        ]
        return html(said, 403, headers={"hx-retarget": "#shared-state", "hx-reswap": "innerHTML"})
    return bare(
        reader,
        "Not shared any more",
        h.section(".message")[
            h.h1["This session is not shared any more"],
            h.p["The link by which you came has ended. Ask whoever sent it for a new one."],
        ],
        status=403,
    )
