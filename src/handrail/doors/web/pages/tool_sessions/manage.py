"""Begin a tool session, share it, take the link back, close, reopen and cancel it."""

from __future__ import annotations

from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.tool import Tool
from handrail.core.errors import HandrailError
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import relative_time, time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import empty_state, page
from handrail.doors.web.pages.tool_sessions.access import (
    READ,
    SessionAccess,
    require_manager,
    session_page,
    session_url,
)
from handrail.doors.web.pages.tool_sessions.render import session_badge
from handrail.doors.web.pages.tools.lookup import requested_tool
from handrail.doors.web.routing import PageContext, PageNotFound, PageRouter, redirect
from handrail.store.tool_sessions import SessionStatus, ToolSession

router = PageRouter()
CREATE = "tool_sessions.create"
_PAGE_SIZE = 50


def session_starter(tool: Tool, *, title: str = "", error: str | None = None) -> h.Element:
    """What begins a session of a tool; it can stand on any page of whoever may begin one."""
    return h.form(
        ".stack.shared-launch", method="post", action=f"/tools/{quote(tool.slug, safe='')}/session"
    )[
        c.field(
            "title",
            "What is it about?",
            value=title,
            error=error,
            maxlength="200",
            placeholder=tool.name,
            autocomplete="off",
        ),
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
        made = await ctx.services.tool_sessions.create(ctx.who, tool, title)
    except HandrailError as refused:
        return await _sessions_page(ctx, tool, title, str(refused))
    return redirect(session_url(made))


async def _collaborative_tool(ctx: PageContext) -> Tool:
    tool = await requested_tool(ctx)
    if not tool.collaborative:
        raise PageNotFound
    return tool


async def _sessions_page(ctx: PageContext, tool: Tool, title: str = "", error: str | None = None) -> Response:
    found = await ctx.services.tool_sessions.list(ctx.who, tool=tool.slug, limit=_PAGE_SIZE)
    names = await ctx.services.people.names(ctx.who.tenant, [one.created_by for one in found])
    return page(
        ctx,
        "Fill it in together",
        h.header(".head")[h.h1[f"{tool.name}, together"]],
        h.p(".quiet")[
            "Each person answers for themselves; everybody sees the answers and what they come to. "
            "People without an account join by a link."
        ],
        h.section(".panel.shared-narrow")[session_starter(tool, title=title, error=error)]
        if ctx.may(CREATE)
        else None,
        h.section(".stack", aria_labelledby="sessions-title")[
            h.h2("#sessions-title")["Sessions"],
            _table(ctx, found, names)
            if found
            else empty_state("No sessions yet", "The first one that somebody begins stands here."),
        ],
        active="tools",
        crumbs=[("Tools", "/tools"), (tool.name, f"/tools/{quote(tool.slug, safe='')}")],
        status=422 if error else 200,
    )


def _table(ctx: PageContext, found: list[ToolSession], names: dict[str, str]) -> h.Element:
    return h.div(".table-container", tabindex="0", role="region", aria_label="Table of sessions")[
        h.table(".table")[
            h.thead[h.tr[(h.th(scope="col")[word] for word in ("About", "Stands", "Begun by", "Begun"))]],
            h.tbody[
                (
                    h.tr[
                        h.th(scope="row")[h.a(href=session_url(one))[one.title]],
                        h.td[session_badge(one.status)],
                        h.td[names.get(one.created_by, one.created_by)],
                        h.td[time_ago(one.created_at, ctx.now)],
                    ]
                    for one in found
                )
            ],
        ]
    ]


_PATH = "/tools/{slug}/session/{id}"
_LIFETIMES = {"3600": "For an hour", "86400": "For a day", "604800": "For a week", "2592000": "For 30 days"}


def render_manage(ctx: PageContext, access: SessionAccess) -> h.Element:
    """What can be done with a session, in a row."""
    session, there = access.session, access.session.is_shared(ctx.now)
    is_open = session.status == "active"
    return h.section(".panel.stack.shared-manage", aria_label="Manage this session")[
        h.p[_share_status(ctx, access)] if is_open or there else None,
        h.div(".row")[
            _link_form(access, there) if is_open and is_shareable(access) else None,
            _action_button(access, "unshare", "Take the link back", "unlink") if there else None,
            _action_button(access, "close", "Close the session", "lock") if is_open else None,
            _action_button(access, "reopen", "Reopen it", "lock-open")
            if session.status == "completed"
            else None,
            h.a(".btn", href=access.url("cancel"), data_variant="ghost", data_size="sm")["Cancel it for good"]
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


def _link_form(access: SessionAccess, there: bool) -> h.Element:
    return h.form(".row", method="post", action=access.url("share"))[
        h.label(".sr-only", for_="lifetime")["How long the link lives"],
        h.select("#lifetime.select", name="lifetime")[
            (h.option(value=value, selected=value == "604800")[word] for value, word in _LIFETIMES.items())
        ],
        h.button(".btn", type="submit", data_variant="outline", data_size="sm")[
            icon("link"), "Make a new link" if there else "Make a link"
        ],
    ]


def _action_button(access: SessionAccess, what: str, label: str, sign: str) -> h.Element:
    return h.form(method="post", action=access.url(what))[
        h.button(".btn", type="submit", data_variant="outline", data_size="sm")[icon(sign), label]
    ]


async def _set_status(ctx: PageContext, status: SessionStatus) -> Response:
    access = await require_manager(ctx)
    await ctx.services.tool_sessions.set_status(access.session, status)
    ctx.web.watching.tell(access.session)
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
    return session_page(
        ctx,
        access,
        "Cancel the session?",
        h.section(".panel.stack.shared-narrow")[
            h.h1[f"Cancel “{access.session.title}”?"],
            h.p["Nothing more can be submitted, and it cannot be reopened. What was submitted stays."],
            h.form(".row", method="post", action=access.url("cancel"))[
                c.submit("Cancel the session", "destructive"),
                h.a(".btn", href=access.url(), data_variant="outline")["Keep it"],
            ],
        ],
    )


@router.post(f"{_PATH}/cancel")
async def cancel(ctx: PageContext) -> Response:
    return await _set_status(ctx, "cancelled")


@router.post(f"{_PATH}/share")
async def share(ctx: PageContext) -> Response:
    """The new link, to be copied: nobody can read it again."""
    access = await require_manager(ctx)
    span = c.posted_text(await ctx.form(), "lifetime")
    lifetime = float(span) if span in _LIFETIMES else 604_800.0
    try:
        text, session = await ctx.services.tool_sessions.share(
            access.who.principal, access.session, access.tool, lifetime
        )
    except HandrailError as refused:
        return session_page(
            ctx,
            access,
            "Not shared",
            h.section(".message")[
                h.h1["Not shared"], h.p[str(refused)], h.p[h.a(href=access.url())["Back to the session"]]
            ],
            status=409,
        )
    ctx.web.watching.tell(session)
    url = f"{ctx.request.url.scheme}://{ctx.request.url.netloc}/join/{text.reveal()}"
    return session_page(
        ctx,
        SessionAccess(session, access.tool, access.who, True),
        "The link",
        h.section(".panel.stack.shared-narrow")[
            h.h1["Send this link"],
            h.p["Copy it now: it is shown only here."],
            h.label(".label", for_="share-link")["The link"],
            h.div(".row.shared-link")[
                h.input("#share-link.input.mono", type="text", readonly=True, value=url),
                h.button(".btn", type="button", data_copy="share-link", data_variant="outline")[
                    icon("copy"), "Copy"
                ],
            ],
            h.p(".quiet")[
                "Whoever has it joins under a name of their choice, sees this session and submits to it. "
                f"It ends {relative_time(session.share_expires_at or 0, ctx.now)}; "
                "you can take it back before."
            ],
            h.p[h.a(".btn", href=access.url())["Back to the session"]],
        ],
    )


@router.post(f"{_PATH}/unshare")
async def unshare(ctx: PageContext) -> Response:
    access = await require_manager(ctx)
    await ctx.services.tool_sessions.unshare(access.session)
    ctx.web.watching.tell(access.session)
    return redirect(access.url())
