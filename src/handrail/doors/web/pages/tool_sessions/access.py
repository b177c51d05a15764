"""SessionAccess: who takes part in a tool session, as a member or as a guest by a link."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.tool import Tool
from handrail.core.errors import HandrailError, ToolError, UsageError
from handrail.doors.web import controls as c
from handrail.doors.web.cookies import is_secure
from handrail.doors.web.forms.fields import ToolFormMode
from handrail.doors.web.forms.options import NO_OPTIONS, PickerOptions
from handrail.doors.web.layout import bare_page, message, page
from handrail.doors.web.live import tool_session_topic
from handrail.doors.web.responses import html
from handrail.doors.web.router import PageContext, PageNotFound, PageRouter, SignInRequired, redirect
from handrail.doors.web.tool_lookup import tool_url
from handrail.identity.session_submissions import guest_tool, member_participant, tool_of_session
from handrail.identity.tool_sessions import MAX_GUEST_NAME, Participant, may_manage
from handrail.platform.access import is_plausible_id
from handrail.store.tool_sessions import ToolSession

GUEST_COOKIE = "handrail_guest"
"""The cookie of a guest; it is sent to the page of its session alone."""
READ = "tool_sessions.read"
_STATUS = {
    "active": ("open", "good", "users"),
    "completed": ("closed", "quiet", "lock"),
    "cancelled": ("cancelled", "quiet", "circle-slash"),
}


class ShareEnded(Exception):
    """A guest whose link has ended."""


@dataclass(frozen=True, slots=True)
class SessionAccess:
    """Who takes part in which session, and what they may do there."""

    session: ToolSession
    tool: Tool
    who: Participant
    manages: bool = False
    options: PickerOptions = NO_OPTIONS
    """What pickers offer; a guest learns nothing of what there is."""

    @property
    def guest(self) -> bool:
        return self.who.guest

    @property
    def mode(self) -> ToolFormMode:
        """A guest is no operator."""
        return "embed" if self.guest else "internal"

    def url(self, *more: str) -> str:
        return session_url(self.session, *more)


def session_badge(status: str) -> h.Element:
    return c.badge(*_STATUS[status])


def session_url(session: ToolSession, *more: str) -> str:
    """The address of a session, or of something below it."""
    parts = (session.tool_slug, "session", session.id, *more)
    return "/".join(["/tools", *(quote(part, safe="") for part in parts)])


async def session_access(ctx: PageContext, *, counts: bool = True) -> SessionAccess:
    """What this reader may do in the session of the address. A guest's requests are counted."""
    access = await _member(ctx) or await _guest(ctx, counts)
    if access is None and ctx.somebody is None:
        raise SignInRequired
    if access is None or access.session.tool_slug != ctx.part("slug"):
        raise PageNotFound
    return access


async def require_manager(ctx: PageContext) -> SessionAccess:
    """The access of somebody who manages the session; for others there is no such page."""
    try:
        access = await session_access(ctx)
    except ShareEnded:
        raise PageNotFound from None
    if not access.manages:
        raise PageNotFound
    return access


async def _member(ctx: PageContext) -> SessionAccess | None:
    who, id = ctx.somebody, ctx.part("id")
    if who is None or not who.holds(READ) or not is_plausible_id(id):
        return None
    session = await ctx.services.tool_sessions.get(who, id)
    if session is None:
        return None
    try:
        tool = await tool_of_session(ctx.hr, session, who)
    except ToolError:
        raise PageNotFound from None
    participant = await member_participant(ctx.services.people, who)
    return SessionAccess(session, tool, participant, may_manage(who, session))


async def _guest(ctx: PageContext, counts: bool) -> SessionAccess | None:
    cookie, id = ctx.request.cookies.get(GUEST_COOKIE), ctx.part("id")
    if cookie is None or not is_plausible_id(id):
        return None
    sessions = ctx.services.tool_sessions
    holder = sessions.holder(cookie, id)
    if holder is not None and counts:
        ctx.web.rate_limits.take("guest", holder.id)
        ctx.web.rate_limits.take("link", holder.share)
    shared = await sessions.guest(cookie, id)
    if shared is None:
        raise ShareEnded
    guest, session = shared
    try:
        tool = await guest_tool(ctx.hr, session)
    except (ToolError, UsageError):
        raise ShareEnded from None  # the tool is hidden by now, or is no longer one that can be shared
    return SessionAccess(session, tool, guest.participant(tool))


def session_page(
    ctx: PageContext,
    access: SessionAccess,
    title: str,
    *content: h.Node,
    status: int = 200,
    above: Iterable[h.Node] = (),
) -> Response:
    """A page of a session: in the frame for a member, by itself for a guest."""
    ctx.web.watcher.watch(access.session)
    if access.guest:
        return bare_page(ctx, title, *above, *content, status=status, wide=True, live=access.url("live"))
    tool = access.tool
    crumbs = [("Tools", "/tools"), (tool.name, tool_url(tool)), ("Together", tool_url(tool, "session"))]
    return page(
        ctx,
        title,
        *above,
        *content,
        active="tools",
        crumbs=crumbs,
        live=[tool_session_topic(access.session.id)],
        status=status,
    )


def share_ended_page(ctx: PageContext) -> Response:
    """What a guest reads whose link has ended. On a page that is open, everything typed stays."""
    if ctx.by_htmx:
        text = "This session is not shared any more: the link by which you came has ended."
        headers = {"hx-retarget": "#shared-state", "hx-reswap": "innerHTML"}
        return html(h.p(".shared-over")[text], 403, headers=headers)
    title = "This session is not shared any more"
    text = "The link by which you came has ended. Ask whoever sent it for a new one."
    return bare_page(ctx, "Not shared any more", message(title, text), status=403)


router = PageRouter()


@router.get("/join/{token}", open=True)
async def join_form(ctx: PageContext) -> Response:
    """Who comes? A member is known and goes on at once."""
    session = await _shared_session(ctx)
    if session is None:
        return _link_ended_page(ctx)
    who = ctx.somebody
    if who is not None and who.tenant == session.tenant_id and who.holds(READ):
        return redirect(session_url(session))
    return await _join_page(ctx, session)


@router.post("/join/{token}", open=True)
async def join(ctx: PageContext) -> Response:
    session = await _shared_session(ctx)
    if session is None:
        return _link_ended_page(ctx)
    name = c.posted_text(await ctx.form(), "name")
    try:
        _, cookie = ctx.services.tool_sessions.add_guest(session, name)
    except UsageError as refused:
        return await _join_page(ctx, session, name, str(refused))
    path = session_url(session)
    response = redirect(path)
    response.set_cookie(
        GUEST_COOKIE,
        cookie,
        max_age=max(int((session.share_expires_at or 0) - ctx.now), 1),
        path=path,
        httponly=True,
        samesite="lax",
        secure=is_secure(ctx),
    )
    return response


async def _shared_session(ctx: PageContext) -> ToolSession | None:
    if not ctx.platform.can_sign_in:
        raise PageNotFound
    ctx.web.rate_limits.take("join", ctx.address)
    session = await ctx.services.tool_sessions.by_token(ctx.part("token"))
    if session is not None:
        try:
            await guest_tool(ctx.hr, session)
        except HandrailError:
            return None  # the tool is hidden by now, or may change things
    return session


async def _join_page(
    ctx: PageContext, session: ToolSession, name: str = "", error: str | None = None
) -> Response:
    tool = await guest_tool(ctx.hr, session)
    is_closed = session.status != "active"
    form = c.Controls({"name": name}, {"name": error} if error else {})
    return bare_page(
        ctx,
        session.title,
        h.section(".panel.stack.shared-join")[
            h.h1[session.title],
            h.p[f"You are invited to fill in “{tool.name}” together with others."],
            h.p(".quiet")[tool.description] if tool.description else None,
            h.p(".quiet")["This session is closed: you can read what came of it."] if is_closed else None,
            h.form(".stack", method="post")[
                form.field(
                    "name",
                    "Your name",
                    hint="The others see it beside your answer.",
                    autocomplete="name",
                    required=True,
                    maxlength=str(MAX_GUEST_NAME),
                ),
                h.div[c.submit("Join")],
            ],
            h.p(".quiet")["No account is needed. You see this session and nothing else."],
        ],
        status=422 if error else 200,
    )


def _link_ended_page(ctx: PageContext) -> Response:
    text = "It has ended, was taken back, or was not copied whole. Ask whoever sent it for a new one."
    return bare_page(
        ctx, "Not shared any more", message("This link does not work any more", text), status=404
    )
