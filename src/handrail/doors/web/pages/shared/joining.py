"""`/join/{token}`: how somebody without an account comes to a session, under a name of their choice."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.core.errors import HandrailError, UsageError
from handrail.doors.web import controls as c
from handrail.doors.web.frame import bare
from handrail.doors.web.pages.shared.seat import GUEST, READ, url_of
from handrail.doors.web.routing import NotThere, Pages, Reader, go
from handrail.identity.guests import LONGEST_NAME
from handrail.identity.submitting import guest_tool
from handrail.store.tool_sessions import ToolSession

pages = Pages()


@pages.get("/join/{token}", open=True)
async def ask(reader: Reader) -> Response:
    """Who comes? A member is known and goes on at once."""
    session = await _behind(reader)
    if session is None:
        return _over(reader)
    who = reader.somebody
    if who is not None and who.tenant == session.tenant_id and who.holds(READ):
        return go(url_of(session))
    return await _asking(reader, session)


@pages.post("/join/{token}", open=True)
async def join(reader: Reader) -> Response:
    session = await _behind(reader)
    if session is None:
        return _over(reader)
    name = c.text(await reader.form(), "name")
    try:
        _, note = reader.offices.tool_sessions.welcome(session, name)
    except UsageError as wrong:
        return await _asking(reader, session, name, str(wrong))
    answer, path = go(url_of(session)), url_of(session)
    seconds = int((session.share_expires_at or 0) - reader.now)
    secure = reader.request.url.scheme == "https"
    answer.set_cookie(
        GUEST, note, max_age=max(seconds, 1), path=path, httponly=True, samesite="lax", secure=secure
    )
    return answer


async def _behind(reader: Reader) -> ToolSession | None:
    if reader.platform.offices is None:
        raise NotThere
    reader.web.pacing.take("join", reader.address)
    session = await reader.offices.tool_sessions.behind(reader.part("token"))
    if session is not None:
        try:
            await guest_tool(reader.hr, session)
        except HandrailError:
            return None  # the tool is hidden by now, or may change things
    return session


async def _asking(reader: Reader, session: ToolSession, name: str = "", error: str | None = None) -> Response:
    tool = await guest_tool(reader.hr, session)
    return bare(
        reader,
        session.title,
        h.section(".panel.stack.shared-join")[
            h.h1[session.title],
            h.p[f"You are invited to fill in “{tool.name}” together with others."],
            h.p(".quiet")[tool.description] if tool.description else None,
            h.p(".quiet")["This session is closed: you can read what came of it."]
            if session.status != "active"
            else None,
            h.form(".stack", method="post")[
                c.field(
                    "name",
                    "Your name",
                    value=name,
                    error=error,
                    hint="The others see it beside your answer.",
                    autocomplete="name",
                    required=True,
                    maxlength=str(LONGEST_NAME),
                ),
                h.div[c.submit("Join")],
            ],
            h.p(".quiet")["No account is needed. You see this session and nothing else."],
        ],
        status=422 if error else 200,
    )


def _over(reader: Reader) -> Response:
    return bare(
        reader,
        "Not shared any more",
        h.section(".message")[
            h.h1["This link does not work any more"],
            h.p["It has ended, was taken back, or was not copied whole. Ask whoever sent it for a new one."],
        ],
        status=404,
    )
