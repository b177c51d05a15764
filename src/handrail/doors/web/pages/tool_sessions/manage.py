"""Begin a tool session, share it, take the link back, close, reopen and cancel it."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.core.define.tool import Tool
from handrail.core.errors import HandrailError
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import relative_time, time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import empty_state, message, page
from handrail.doors.web.pages.tool_sessions.access import (
    READ,
    SessionAccess,
    require_manager,
    session_badge,
    session_page,
    session_url,
)
from handrail.doors.web.router import PageContext, PageNotFound, PageRouter, redirect
from handrail.doors.web.tool_lookup import requested_tool, tool_url
from handrail.store.tool_sessions import SessionStatus, ToolSession

router = PageRouter()
CREATE = "tool_sessions.create"
_PAGE_SIZE = 50


def session_starter(tool: Tool, title: str = "", error: str | None = None) -> h.Element:
    """What begins a session of a tool."""
    form = c.Controls({"title": title}, {"title": error} if error else {})
    return h.form(".stack.shared-launch", method="post", action=tool_url(tool, "session"))[
        form.field("title", "What is it about?", maxlength="200", placeholder=tool.name, autocomplete="off"),
        h.div[c.submit("Begin a session")],
    ]


@router.get("/tools/{slug}/session", need=READ)
async def show(ctx: PageContext) -> Response:
    return await _sessions_page(ctx, await _collaborative_tool(ctx))


@router.post("/tools/{slug}/session", need=CREATE)
async def begin(ctx: PageContext) -> Response:
    tool = await _collaborative_tool(ctx)
    title = c.posted_text(await ctx.form(), "title")
    try:
        session = await ctx.services.tool_sessions.create(ctx.who, tool, title)
    except HandrailError as refused:
        return await _sessions_page(ctx, tool, title, str(refused))
    return redirect(session_url(session))


async def _collaborative_tool(ctx: PageContext) -> Tool:
    tool = await requested_tool(ctx)
    if not tool.collaborative:
        raise PageNotFound
    return tool


async def _sessions_page(ctx: PageContext, tool: Tool, title: str = "", error: str | None = None) -> Response:
    sessions = await ctx.services.tool_sessions.list(ctx.who, tool=tool.slug, limit=_PAGE_SIZE)
    names = await ctx.user_names(session.created_by for session in sessions)
    starter = h.section(".panel.shared-narrow")[session_starter(tool, title, error)]
    return page(
        ctx,
        "Fill it in together",
        h.header(".head")[h.h1[f"{tool.name}, together"]],
        h.p(".quiet")[
            "Each person answers for themselves; everybody sees the answers and what they come to. "
            "People without an account join by a link."
        ],
        starter if ctx.may(CREATE) else None,
        h.section(".stack", aria_labelledby="sessions-title")[
            h.h2("#sessions-title")["Sessions"],
            _table(ctx, sessions, names)
            if sessions
            else empty_state("No sessions yet", "The first one that somebody begins stands here."),
        ],
        active="tools",
        crumbs=[("Tools", "/tools"), (tool.name, tool_url(tool))],
        status=422 if error else 200,
    )


def _table(ctx: PageContext, sessions: list[ToolSession], names: dict[str, str]) -> h.Element:
    def row(session: ToolSession) -> h.Element:
        return h.tr[
            h.th(scope="row")[h.a(href=session_url(session))[session.title]],
            h.td[session_badge(session.status)],
            h.td[names.get(session.created_by, session.created_by)],
            h.td[time_ago(session.created_at, ctx.now)],
        ]

    return c.table("Table of sessions", ("About", "Stands", "Begun by", "Begun"), map(row, sessions))


_PATH = "/tools/{slug}/session/{id}"
_WEEK = "604800"
_LIFETIMES = {"3600": "For an hour", "86400": "For a day", _WEEK: "For a week", "2592000": "For 30 days"}


def render_manage(ctx: PageContext, access: SessionAccess) -> h.Element:
    """What can be done with a session, in a row."""
    session, is_shared = access.session, access.session.is_shared(ctx.now)
    is_open = session.status == "active"
    return h.section(".panel.stack.shared-manage", aria_label="Manage this session")[
        h.p[_share_status(ctx, access)] if is_open or is_shared else None,
        h.div(".row")[
            _link_form(access, is_shared) if is_open and is_shareable(access) else None,
            _action_button(access, "unshare", "Take the link back", "unlink") if is_shared else None,
            _action_button(access, "close", "Close the session", "lock") if is_open else None,
            _action_button(access, "reopen", "Reopen it", "lock-open")
            if session.status == "completed"
            else None,
            c.small_link(access.url("cancel"), "Cancel it for good", "ghost")
            if session.status != "cancelled"
            else None,
        ],
    ]


def is_shareable(access: SessionAccess) -> bool:
    return access.tool.level == "read" and access.tool.policy == "auto"


def _share_status(ctx: PageContext, access: SessionAccess) -> h.Node:
    """Who can come in, in words."""
    until = access.session.share_expires_at
    if not is_shareable(access):
        return "This tool can change things, so it is not shared by link. Members of the tenant can open it."
    if until is None or not access.session.is_shared(ctx.now):
        return "Nobody without an account can come in."
    after = h.span(".quiet")["A new link ends this one, and guests who came by it are out."]
    return h.fragment["Shared by link. The link ends ", time_ago(until, ctx.now), ". ", after]


def _link_form(access: SessionAccess, is_shared: bool) -> h.Element:
    return h.form(".row", method="post", action=access.url("share"))[
        h.label(".sr-only", for_="lifetime")["How long the link lives"],
        h.select("#lifetime.select", name="lifetime")[c.select_options(_LIFETIMES.items(), _WEEK)],
        c.small_submit([icon("link"), "Make a new link" if is_shared else "Make a link"]),
    ]


def _action_button(access: SessionAccess, action: str, label: str, sign: str) -> h.Element:
    return c.post_button(access.url(action), [icon(sign), label], "outline", "sm")


async def _set_status(ctx: PageContext, status: SessionStatus) -> Response:
    access = await require_manager(ctx)
    await ctx.services.tool_sessions.set_status(access.session, status)
    ctx.web.watcher.tell(access.session)
    return redirect(access.url())


@router.post(f"{_PATH}/close")
async def close(ctx: PageContext) -> Response:
    return await _set_status(ctx, "completed")


@router.post(f"{_PATH}/reopen")
async def reopen(ctx: PageContext) -> Response:
    return await _set_status(ctx, "active")


@router.get(f"{_PATH}/cancel")
async def ask_cancel(ctx: PageContext) -> Response:
    access = await require_manager(ctx)
    title = f"Cancel “{access.session.title}”?"
    text = "Nothing more can be submitted, and it cannot be reopened. What was submitted stays."
    panel = c.confirm_panel(
        title, text, access.url("cancel"), "Cancel the session", access.url(), "shared-narrow"
    )
    return session_page(ctx, access, "Cancel the session?", panel)


@router.post(f"{_PATH}/cancel")
async def cancel(ctx: PageContext) -> Response:
    return await _set_status(ctx, "cancelled")


@router.post(f"{_PATH}/share")
async def share(ctx: PageContext) -> Response:
    """The new link, to be copied: nobody can read it again."""
    access = await require_manager(ctx)
    lifetime = c.posted_text(await ctx.form(), "lifetime")
    seconds = float(lifetime if lifetime in _LIFETIMES else _WEEK)
    try:
        text, session = await ctx.services.tool_sessions.share(
            access.who.principal, access.session, access.tool, seconds
        )
    except HandrailError as refused:
        back = h.p[h.a(href=access.url())["Back to the session"]]
        content = message("Not shared", str(refused), back)
        return session_page(ctx, access, "Not shared", content, status=409)
    ctx.web.watcher.tell(session)
    return session_page(
        ctx,
        SessionAccess(session, access.tool, access.who, True),
        "The link",
        h.section(".panel.stack.shared-narrow")[
            h.h1["Send this link"],
            h.p["Copy it now: it is shown only here."],
            c.shown_once("share-link", "The link", f"{ctx.origin}/join/{text.reveal()}", "shared-link"),
            h.p(".quiet")[
                "Whoever has it joins under a name of their choice, sees this session and submits to it. "
                f"It ends {relative_time(session.share_expires_at or 0, ctx.now)}; "
                "you can take it back before."
            ],
            h.p[c.link_button(access.url(), "Back to the session")],
        ],
    )


@router.post(f"{_PATH}/unshare")
async def unshare(ctx: PageContext) -> Response:
    access = await require_manager(ctx)
    await ctx.services.tool_sessions.unshare(access.session)
    ctx.web.watcher.tell(access.session)
    return redirect(access.url())
