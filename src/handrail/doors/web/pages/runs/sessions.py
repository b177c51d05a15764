"""/sessions: what belongs together, and the story of one session, oldest first, a page at a time."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import htpy as h
from starlette.responses import Response

from handrail.core.tell.events import Event
from handrail.doors.web.humanize import pluralize, time_ago
from handrail.doors.web.layout import empty_state, page
from handrail.doors.web.live import topic
from handrail.doors.web.pages.runs.details import session_url
from handrail.doors.web.pages.runs.page import event_page, parse_seq, timeline_tail
from handrail.doors.web.pages.runs.run_view import display_names_for
from handrail.doors.web.responses import html
from handrail.doors.web.routing import PageContext, PageNotFound, PageRouter
from handrail.doors.web.timeline.render import render_entries
from handrail.doors.web.timeline.sentences import build_timeline, users_in
from handrail.platform.access import is_plausible_id
from handrail.platform.display_text import one_line
from handrail.platform.events import EventFilter

router = PageRouter()
SESSIONS_PER_PAGE = 50
EVENTS_PER_PAGE = 100
"""Events of a session that are told at once."""
READ = "events.read"


@router.get("/sessions")
async def list_sessions(ctx: PageContext) -> Response:
    """Sessions by name; those of a single call are its run."""
    wanted = ctx.query.get("q", "").strip()[:200]
    after = ctx.query.get("after") or None
    found: list[dict[str, Any]] = []
    if ctx.may(READ):
        record = ctx.platform.events
        found = await record.sessions(
            ctx.who.tenant, after[:1_000] if after else None, SESSIONS_PER_PAGE + 1, named=True, prefix=wanted
        )
    return page(
        ctx,
        "Sessions",
        h.div(".head")[h.h1["Sessions"], h.span(".quiet")["Calls that belong together"]],
        _search_form(wanted) if found or wanted else None,
        _table(ctx, found, wanted) if found else _empty(ctx, wanted, after),
        active="sessions",
    )


def _search_form(wanted: str) -> h.Element:
    return h.form(".row", method="get", action="/sessions", role="search")[
        h.label(".sr-only", for_="session-q")["Name begins with"],
        h.input(
            "#session-q.input", name="q", value=wanted, placeholder="Name begins with", autocomplete="off"
        ),
        h.button(".btn", type="submit", data_variant="outline", data_size="sm")["Find"],
    ]


def _table(ctx: PageContext, found: list[dict[str, Any]], wanted: str) -> h.Node:
    shown, now = found[:SESSIONS_PER_PAGE], ctx.now
    following = urlencode({"q": wanted, "after": shown[-1]["id"]})
    return [
        h.div(".table-container")[
            h.table(".table.run-table")[
                h.thead[
                    h.tr[
                        h.th(scope="col")["Session"],
                        h.th(scope="col")["Last"],
                        h.th(".num", scope="col")["Events"],
                    ]
                ],
                h.tbody[
                    (
                        h.tr[
                            h.td(".run-tool")[h.a(href=session_url(one["id"]))[one_line(one["id"])]],
                            h.td[time_ago(one["updated_at"], now)],
                            h.td(".num")[f"{one['last_seq']:,}".replace(",", "\u202f")],
                        ]
                        for one in shown
                    )
                ],
            ]
        ],
        h.nav(".row.run-pages", aria_label="Pages")[
            h.a(".btn", href=f"/sessions?{following}", rel="next", data_variant="outline", data_size="sm")[
                "More"
            ]
            if len(found) > SESSIONS_PER_PAGE
            else h.span(".quiet")["These are all."]
        ],
    ]


def _empty(ctx: PageContext, wanted: str, after: str | None) -> h.Element:
    if not ctx.may(READ):
        return empty_state(
            "Nothing that you may read",
            "Sessions are for those who may read events. Your own calls are under Runs.",
            h.a(".btn", href="/runs", data_size="sm")["Look at runs"],
        )
    if wanted or after:
        return empty_state(
            "No such session", "No session has a name like that.", h.a(href="/sessions")["Show all"]
        )
    return empty_state(
        "No sessions yet",
        "When an agent or a program gives its calls a session, they appear here as one story.",
        h.a(".btn", href="/runs", data_size="sm")["Look at single runs"],
    )


@router.get("/sessions/{id:path}")
async def show_session(ctx: PageContext) -> Response:
    """The newest events of a session; `before` tells the earlier ones, `part` asks for lines or an event."""
    session, part = ctx.part("id"), ctx.query.get("part")
    if not ctx.may(READ) or not is_plausible_id(session):
        raise PageNotFound
    last = await ctx.platform.events.last_seq(ctx.who.tenant, session)
    if not last:
        raise PageNotFound
    if part == "event":
        return await _event(ctx, session)
    if part == "tail":
        return await _tail(ctx, session)
    before = parse_seq(ctx.query.get("before", "")) or last + 1
    events = await _events(ctx, session, before)
    entries = await _entries(ctx, session, events)
    first = events[0].seq if events else 1
    earlier = _earlier(session, first) if first > 1 else None
    if part == "earlier":
        return html(h.fragment[earlier, entries])
    address, live = session_url(session), topic("session", session)
    return page(
        ctx,
        one_line(session),
        h.div(".head")[h.h1[one_line(session)], h.span(".quiet")[pluralize(last, "event")]],
        h.section(".run-happened", aria_label="What happened")[
            h.ol(".story")[earlier, entries],
            timeline_tail(f"{address}?part=tail", [live], last) if before > last else None,
            None if before > last else h.p[h.a(href=address)["To the newest"]],
        ],
        active="sessions",
        crumbs=[("Sessions", "/sessions")],
        live=[live],
    )


async def _events(ctx: PageContext, session: str, before: int) -> list[Event]:
    """The newest events before a number."""
    start = max(before - 1 - EVENTS_PER_PAGE, 0)
    found = await ctx.platform.events.page(
        ctx.who.tenant, EventFilter(session), seq=start, limit=EVENTS_PER_PAGE
    )
    return [one for one in found if one.seq < before]


async def _entries(ctx: PageContext, session: str, events: list[Event]) -> list[h.Element]:
    display_names = await display_names_for(ctx, users_in(events))
    address = f"{session_url(session)}?part=event&seq="
    return render_entries(
        build_timeline(events, display_names), ctx.now, lambda one: f"{address}{one.seq}", linked=True
    )


def _earlier(session: str, first: int) -> h.Element:
    """What came before; without script it is a page of its own."""
    address = session_url(session)
    asks = {
        "hx-get": f"{address}?part=earlier&before={first}",
        "hx-target": "closest li",
        "hx-swap": "outerHTML",
    }
    return h.li(".story-earlier")[
        h.a(".btn", asks, href=f"{address}?before={first}", data_variant="outline", data_size="sm")["Earlier"]
    ]


async def _tail(ctx: PageContext, session: str) -> Response:
    after = parse_seq(ctx.query.get("after", "0"))
    events = await ctx.platform.events.page(
        ctx.who.tenant, EventFilter(session), seq=after, limit=EVENTS_PER_PAGE
    )
    entries = await _entries(ctx, session, events)
    last = events[-1].seq if events else after
    more = "yes" if len(events) == EVENTS_PER_PAGE else "no"
    return html(h.fragment[entries], headers={"x-last": str(last), "x-more": more})


async def _event(ctx: PageContext, session: str) -> Response:
    seq = parse_seq(ctx.query.get("seq", ""))
    found = await ctx.platform.events.page(ctx.who.tenant, EventFilter(session), seq=max(seq - 1, 0), limit=1)
    if not found or found[0].seq != seq:
        raise PageNotFound
    return event_page(ctx, found[0], [("Sessions", "/sessions"), (one_line(session), session_url(session))])
