"""/sessions: what belongs together, and the timeline of one session, oldest first, a page at a time."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import htpy as h
from starlette.responses import Response

from handrail.core.tell.events import Event
from handrail.core.tell.log import EventFilter
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import pluralize, time_ago
from handrail.doors.web.layout import empty_state, page
from handrail.doors.web.live import topic
from handrail.doors.web.pages.runs.details import session_url
from handrail.doors.web.pages.runs.page import event_page, parse_seq, timeline_part, timeline_tail
from handrail.doors.web.pages.runs.run_view import display_names_for
from handrail.doors.web.responses import html
from handrail.doors.web.router import PageContext, PageNotFound, PageRouter
from handrail.doors.web.timeline.render import render_entries
from handrail.doors.web.timeline.sentences import build_timeline, users_in
from handrail.platform.access import is_plausible_id
from handrail.platform.display_text import one_line

router = PageRouter()
SESSIONS_PER_PAGE = 50
EVENTS_PER_PAGE = 100
"""Events of a session that are told at once."""
READ = "events.read"


@router.get("/sessions")
async def list_sessions(ctx: PageContext) -> Response:
    """Sessions by name; those of a single call are its run."""
    prefix = ctx.query.get("q", "").strip()[:200]
    after = ctx.query.get("after", "")[:1_000] or None
    sessions: list[dict[str, Any]] = []
    if ctx.may(READ):
        sessions = await ctx.platform.events.sessions(
            ctx.who.tenant, after, SESSIONS_PER_PAGE + 1, named=True, prefix=prefix
        )
    return page(
        ctx,
        "Sessions",
        h.div(".head")[h.h1["Sessions"], h.span(".quiet")["Calls that belong together"]],
        _search_form(prefix) if sessions or prefix else None,
        _table(ctx, sessions, prefix) if sessions else _empty(ctx, prefix, after),
        active="sessions",
    )


def _search_form(prefix: str) -> h.Element:
    hint = "Name begins with"
    return h.form(".row", method="get", action="/sessions", role="search")[
        h.label(".sr-only", for_="session-q")[hint],
        h.input("#session-q.input", name="q", value=prefix, placeholder=hint, autocomplete="off"),
        c.small_submit("Find"),
    ]


def _table(ctx: PageContext, sessions: list[dict[str, Any]], prefix: str) -> h.Node:
    def row(session: dict[str, Any]) -> h.Element:
        return h.tr[
            h.td(".run-tool")[h.a(href=session_url(session["id"]))[one_line(session["id"])]],
            h.td[time_ago(session["updated_at"], ctx.now)],
            h.td(".num")[f"{session['last_seq']:,}".replace(",", "\u202f")],
        ]

    shown, heads = sessions[:SESSIONS_PER_PAGE], ("Session", "Last", "Events")
    following = f"/sessions?{urlencode({'q': prefix, 'after': shown[-1]['id']})}"
    return [
        c.table(None, heads, map(row, shown), class_="table run-table", head_classes={2: "num"}),
        h.nav(".row.run-pages", aria_label="Pages")[
            c.small_link(following, "More", rel="next")
            if len(sessions) > SESSIONS_PER_PAGE
            else h.span(".quiet")["These are all."]
        ],
    ]


def _empty(ctx: PageContext, prefix: str, after: str | None) -> h.Element:
    if not ctx.may(READ):
        return empty_state(
            "Nothing that you may read",
            "Sessions are for those who may read events. Your own calls are under Runs.",
            c.link_button("/runs", "Look at runs", size="sm"),
        )
    if prefix or after:
        show_all = h.a(href="/sessions")["Show all"]
        return empty_state("No such session", "No session has a name like that.", show_all)
    return empty_state(
        "No sessions yet",
        "When an agent or a program gives its calls a session, they appear here as one story.",
        c.link_button("/runs", "Look at single runs", size="sm"),
    )


@router.get("/sessions/{id:path}")
async def show_session(ctx: PageContext) -> Response:
    """The newest events of a session; `before` gives earlier ones, `part` asks for entries or an event."""
    session, part = ctx.part("id"), ctx.query.get("part")
    if not ctx.may(READ) or not is_plausible_id(session):
        raise PageNotFound
    last = await ctx.platform.events.last_seq(ctx.who.tenant, session)
    if not last:
        raise PageNotFound
    if part == "event":
        crumbs = [("Sessions", "/sessions"), (one_line(session), session_url(session))]
        return await event_page(ctx, EventFilter(session), ctx.query.get("seq", ""), crumbs)
    if part == "tail":
        return await _tail(ctx, session)
    before = parse_seq(ctx.query.get("before", "")) or last + 1
    events = await _events(ctx, session, before)
    entries = await _entries(ctx, session, events)
    first = events[0].seq if events else 1
    earlier = _earlier(session, first) if first > 1 else None
    if part == "earlier":
        return html(h.fragment[earlier, entries])
    url, live_topic, is_newest = session_url(session), topic("session", session), before > last
    return page(
        ctx,
        one_line(session),
        h.div(".head")[h.h1[one_line(session)], h.span(".quiet")[pluralize(last, "event")]],
        h.section(".run-happened", aria_label="What happened")[
            h.ol(".story")[earlier, entries],
            timeline_tail(f"{url}?part=tail", live_topic, last)
            if is_newest
            else h.p[h.a(href=url)["To the newest"]],
        ],
        active="sessions",
        crumbs=[("Sessions", "/sessions")],
        live=[live_topic],
    )


async def _events(ctx: PageContext, session: str, before: int) -> list[Event]:
    """The newest events before a number."""
    start = max(before - 1 - EVENTS_PER_PAGE, 0)
    events = await _events_after(ctx, session, start)
    return [event for event in events if event.seq < before]


async def _events_after(ctx: PageContext, session: str, seq: int) -> list[Event]:
    which = EventFilter(session)
    return await ctx.platform.events.page(ctx.who.tenant, which, seq=seq, limit=EVENTS_PER_PAGE)


async def _entries(ctx: PageContext, session: str, events: list[Event]) -> list[h.Element]:
    display_names = await display_names_for(ctx, users_in(events))
    url = f"{session_url(session)}?part=event&seq="
    entries = build_timeline(events, display_names)
    return render_entries(entries, ctx.now, lambda event: f"{url}{event.seq}", linked=True)


def _earlier(session: str, first: int) -> h.Element:
    """What came before; without script it is a page of its own."""
    url = session_url(session)
    asks = c.get_into(f"{url}?part=earlier&before={first}", "closest li")
    return h.li(".story-earlier")[c.small_link(f"{url}?before={first}", "Earlier", asks=asks)]


async def _tail(ctx: PageContext, session: str) -> Response:
    after = parse_seq(ctx.query.get("after", "0"))
    events = await _events_after(ctx, session, after)
    entries = await _entries(ctx, session, events)
    last = events[-1].seq if events else after
    return timeline_part(entries, last, has_more=len(events) == EVENTS_PER_PAGE)
