"""/sessions: what belongs together, and the story of one session, oldest first, a page at a time."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import htpy as h
from starlette.responses import Response

from handrail.core.tell.events import Event
from handrail.doors.http.record import Record, Wanted
from handrail.doors.http.whose import plausible
from handrail.doors.visible import one_line
from handrail.doors.web.answer import html
from handrail.doors.web.frame import empty, page
from handrail.doors.web.live import topic
from handrail.doors.web.pages.runs.around import session_url
from handrail.doors.web.pages.runs.people import voice_of
from handrail.doors.web.pages.runs.run import exact_event, number_of
from handrail.doors.web.pages.runs.tail import tail
from handrail.doors.web.routing import NotThere, Pages, Reader
from handrail.doors.web.story.drawing import story_lines
from handrail.doors.web.story.telling import told, users_in
from handrail.doors.web.words import count, when

pages = Pages()
PAGE = 50
EVENTS = 100
"""Events of a session that are told at once."""
READ = "events.read"


@pages.get("/sessions")
async def list_sessions(reader: Reader) -> Response:
    """Sessions by name; those of a single call are its run."""
    wanted = reader.query.get("q", "").strip()[:200]
    after = reader.query.get("after") or None
    found: list[dict[str, Any]] = []
    if reader.may(READ):
        record = Record(reader.platform)
        found = await record.sessions(
            reader.who.tenant, after[:1_000] if after else None, PAGE + 1, named=True, prefix=wanted
        )
    return page(
        reader,
        "Sessions",
        h.div(".head")[h.h1["Sessions"], h.span(".quiet")["Calls that belong together"]],
        _find(wanted) if found or wanted else None,
        _table(reader, found, wanted) if found else _none(reader, wanted, after),
        active="sessions",
    )


def _find(wanted: str) -> h.Element:
    return h.form(".row", method="get", action="/sessions", role="search")[
        h.label(".sr-only", for_="session-q")["Name begins with"],
        h.input(
            "#session-q.input", name="q", value=wanted, placeholder="Name begins with", autocomplete="off"
        ),
        h.button(".btn", type="submit", data_variant="outline", data_size="sm")["Find"],
    ]


def _table(reader: Reader, found: list[dict[str, Any]], wanted: str) -> h.Node:
    shown, now = found[:PAGE], reader.now
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
                            h.td[when(one["updated_at"], now)],
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
            if len(found) > PAGE
            else h.span(".quiet")["These are all."]
        ],
    ]


def _none(reader: Reader, wanted: str, after: str | None) -> h.Element:
    if not reader.may(READ):
        return empty(
            "Nothing that you may read",
            "Sessions are for those who may read events. Your own calls are under Runs.",
            h.a(".btn", href="/runs", data_size="sm")["Look at runs"],
        )
    if wanted or after:
        return empty("No such session", "No session has a name like that.", h.a(href="/sessions")["Show all"])
    return empty(
        "No sessions yet",
        "When an agent or a program gives its calls a session, they appear here as one story.",
        h.a(".btn", href="/runs", data_size="sm")["Look at single runs"],
    )


@pages.get("/sessions/{id:path}")
async def show_session(reader: Reader) -> Response:
    """The newest events of a session; `before` tells the earlier ones, `part` asks for lines or an event."""
    session, part = reader.part("id"), reader.query.get("part")
    if not reader.may(READ) or not plausible(session):
        raise NotThere
    last = await Record(reader.platform).last_seq(reader.who.tenant, session)
    if not last:
        raise NotThere
    if part == "event":
        return await _event(reader, session)
    if part == "tail":
        return await _tail(reader, session)
    before = number_of(reader.query.get("before", "")) or last + 1
    events = await _events(reader, session, before)
    lines = await _lines(reader, session, events)
    first = events[0].seq if events else 1
    earlier = _earlier(session, first) if first > 1 else None
    if part == "earlier":
        return html(h.fragment[earlier, lines])
    address, live = session_url(session), topic("session", session)
    return page(
        reader,
        one_line(session),
        h.div(".head")[h.h1[one_line(session)], h.span(".quiet")[count(last, "event")]],
        h.section(".run-happened", aria_label="What happened")[
            h.ol(".story")[earlier, lines],
            tail(f"{address}?part=tail", [live], last) if before > last else None,
            None if before > last else h.p[h.a(href=address)["To the newest"]],
        ],
        active="sessions",
        crumbs=[("Sessions", "/sessions")],
        live=[live],
    )


async def _events(reader: Reader, session: str, before: int) -> list[Event]:
    """The newest events before a number."""
    start = max(before - 1 - EVENTS, 0)
    found = await Record(reader.platform).page(reader.who.tenant, Wanted(session), seq=start, limit=EVENTS)
    return [one for one in found if one.seq < before]


async def _lines(reader: Reader, session: str, events: list[Event]) -> list[h.Element]:
    voice = await voice_of(reader, users_in(events))
    address = f"{session_url(session)}?part=event&seq="
    return story_lines(told(events, voice), reader.now, lambda one: f"{address}{one.seq}", linked=True)


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


async def _tail(reader: Reader, session: str) -> Response:
    after = number_of(reader.query.get("after", "0"))
    events = await Record(reader.platform).page(reader.who.tenant, Wanted(session), seq=after, limit=EVENTS)
    lines = await _lines(reader, session, events)
    last = events[-1].seq if events else after
    more = "yes" if len(events) == EVENTS else "no"
    return html(h.fragment[lines], headers={"x-last": str(last), "x-more": more})


async def _event(reader: Reader, session: str) -> Response:
    seq = number_of(reader.query.get("seq", ""))
    found = await Record(reader.platform).page(
        reader.who.tenant, Wanted(session), seq=max(seq - 1, 0), limit=1
    )
    if not found or found[0].seq != seq:
        raise NotThere
    return exact_event(
        reader, found[0], [("Sessions", "/sessions"), (one_line(session), session_url(session))]
    )
