"""/runs: what ran, the newest first. Filters are a plain form; what is new is counted, and moves nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import get_args

import htpy as h
from starlette.responses import Response

from handrail.core.define.permission import Source
from handrail.core.errors import UsageError
from handrail.core.tell.log import FollowedLog
from handrail.core.tell.runs import Run, place_of
from handrail.doors.http.whose import plausible
from handrail.doors.visible import one_line
from handrail.doors.web.answer import html
from handrail.doors.web.frame import empty, page
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.runs.asking import STATUSES, Asking, asking_of, times_of
from handrail.doors.web.pages.runs.filtering import filter_form
from handrail.doors.web.pages.runs.finding import may_list
from handrail.doors.web.pages.runs.people import voice_of, whose
from handrail.doors.web.routing import Pages, Reader
from handrail.doors.web.story.drawing import run_url
from handrail.doors.web.story.voice import Voice, source_word
from handrail.doors.web.words import count, span, state, when

pages = Pages()
PAGE = 50
_NEWS = 100
"""New runs that are counted one by one."""


@pages.get("/runs")
async def list_runs(reader: Reader) -> Response:
    """A page of runs; `part` asks for the rows of a list that is open, or for what is new since."""
    asked, wrong = asking_of(reader.query)
    after = reader.query.get("after") or None
    if reader.query.get("part") == "rows":
        return html(await _rows_again(reader, asked, reader.query.get("top", "")))
    try:
        found = await _runs(reader, asked, after=after, limit=PAGE + 1)
    except UsageError:  # a cursor that is none: from the beginning
        after = None
        found = await _runs(reader, asked, limit=PAGE + 1)
    part = await _part(reader, asked, found, after)
    if reader.by_htmx and reader.request.headers.get("hx-history-restore-request") != "true":
        return html(part)
    return page(
        reader,
        "Runs",
        h.div(".head")[h.h1["Runs"], _scope(reader)],
        filter_form(asked, wrong),
        part,
        active="runs",
        live=[_topic(reader)],
    )


def _topic(reader: Reader) -> str:
    return "runs" if reader.may("runs.read") else "mine"


def _asks(reader: Reader, address: str) -> dict[str, str]:
    """Ask again when something ran, and when the stream begins: it may have begun after the page."""
    news = f"{_topic(reader)} from:body, hello from:body"
    return {"hx-get": address, "hx-trigger": news, "hx-swap": "outerMorph"}


def _scope(reader: Reader) -> h.Element:
    said = "Everybody's" if reader.may("runs.read") else "Yours, and those of agents that act for you"
    return h.span(".quiet")[said]


async def _runs(reader: Reader, asked: Asking, *, after: str | None = None, limit: int) -> list[Run]:
    """The runs that fit; without the permission to read all, one's own."""
    who, times = reader.who, times_of(asked)
    user, agent = await whose(reader, asked.who)
    if not reader.may("runs.read"):
        if user not in (None, who.user) or who.user is None:
            return []
        user = who.user
    status = next((one for one in STATUSES if one == asked.status), None)
    source = next((one for one in get_args(Source) if one == asked.source), None)
    return await reader.hr.runs(
        who,
        tool=asked.tool or None,
        status=status,
        source=source,
        user=user,
        agent=agent,
        since=times.since,
        until=times.until,
        after=after,
        limit=limit,
    )


async def _part(reader: Reader, asked: Asking, found: Sequence[Run], after: str | None) -> h.Element:
    shown, more = found[:PAGE], len(found) > PAGE
    if not shown:
        asks = {} if after else _asks(reader, asked.address())
        return h.section("#runs", asks, aria_label="Runs")[_nothing(asked, after)]
    voice = await voice_of(reader, {one.user for one in shown})
    last = shown[-1].cursor
    return h.section("#runs", aria_label="Runs")[
        _table(reader, asked, shown, voice, first=after is None),
        h.nav(".row.run-pages", aria_label="Pages")[
            h.a(".btn", href=asked.address(), data_variant="outline", data_size="sm")["Newest"]
            if after
            else None,
            h.a(".btn", href=asked.address(after=last), rel="next", data_variant="outline", data_size="sm")[
                "Older"
            ]
            if more
            else h.span(".quiet")["These are all."],
        ],
    ]


def _table(
    reader: Reader, asked: Asking, runs: Sequence[Run], voice: Voice, *, first: bool, news: int = 0
) -> h.Element:
    """The rows. The first page asks again for the same ones when something happens."""
    asks = _asks(reader, asked.address(part="rows", top=runs[0].id)) if first and runs else {}
    return h.div("#run-rows.run-rows", asks)[
        h.p(".run-news", aria_live="polite")[
            h.a(".btn", href=asked.address(), data_variant="secondary", data_size="sm")[
                icon("arrow-up"), _new(news)
            ]
            if news
            else None
        ],
        h.div(".table-container")[
            h.table(".table.run-table")[
                h.thead[h.tr[(h.th(scope="col", class_=look)[word] for word, look in _COLUMNS)]],
                h.tbody[(_row(one, reader.now, voice) for one in runs)],
            ]
        ],
    ]


_COLUMNS = (
    ("When", ""),
    ("Tool", ""),
    ("Who", ""),
    ("Through", "run-wide"),
    ("State", ""),
    ("Took", "num run-wide"),
)


def _new(news: int) -> str:
    return f"{_NEWS}+ new runs" if news > _NEWS else count(news, "new run")


def _row(run: Run, now: float, voice: Voice) -> h.Element:
    took = span(run.ended_at - run.began_at) if run.ended_at is not None else ""
    return h.tr(id=f"run-{run.id}")[
        h.td[when(run.began_at, now)],
        h.td(".run-tool")[h.a(href=run_url(run.id))[one_line(run.tool)]],
        h.td(".run-who")[voice.caller(run.user, run.agent)],
        h.td(".run-wide")[source_word(run.source)],
        h.td[state(run.status)],
        h.td(".num.run-wide")[took],
    ]


async def _rows_again(reader: Reader, asked: Asking, top: str) -> h.Element:
    """The rows from `top` on as they stand now, and how many are newer."""
    log = reader.hr.log
    first = await log.run(reader.who.tenant, top) if plausible(top) and isinstance(log, FollowedLog) else None
    if first is None or not may_list(reader.who, first):
        return _table(reader, asked, (), Voice(), first=True)
    fresh, rest = await asyncio.gather(
        _runs(reader, asked, limit=_NEWS + 1),
        _runs(reader, asked, after=first.cursor, limit=PAGE - 1),
    )
    news = sum(place_of(one.cursor) > place_of(first.cursor) for one in fresh)
    shown = [first, *rest]
    voice = await voice_of(reader, {one.user for one in shown})
    return _table(reader, asked, shown, voice, first=True, news=news)


def _nothing(asked: Asking, after: str | None) -> h.Element:
    if after:
        return empty("Nothing older", "This is the end of the list.", h.a(href=asked.address())["Newest"])
    if asked.any:
        return empty(
            "No runs like that",
            "No run fits all of these filters.",
            h.a(".btn", href="/runs", data_variant="outline", data_size="sm")["Show all runs"],
        )
    return empty(
        "Nothing has run yet",
        "Each time you, somebody else or an agent runs a tool, it appears here with what happened.",
        h.a(".btn", href="/tools", data_size="sm")["Choose a tool"],
    )
