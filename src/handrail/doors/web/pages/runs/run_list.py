"""/runs: what ran, the newest first. Filters are a plain form; what is new is counted, and moves nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import get_args
from urllib.parse import urlencode

import htpy as h
from starlette.responses import Response

from handrail.core.define.levels import SOURCES, Source
from handrail.core.errors import UsageError
from handrail.core.tell.runs import Run, RunStatus, parse_cursor
from handrail.doors.web.humanize import STATUS_LABELS, duration, pluralize, status_badge, time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import empty_state, page
from handrail.doors.web.pages.runs.run_view import display_names_for, may_list, user_or_agent
from handrail.doors.web.responses import html
from handrail.doors.web.routing import PageContext, PageRouter
from handrail.doors.web.timeline.render import run_url
from handrail.doors.web.timeline.texts import SOURCE_LABELS, DisplayNames, source_label
from handrail.platform.access import is_plausible_id
from handrail.platform.display_text import one_line

STATUSES: tuple[RunStatus, ...] = get_args(RunStatus)
MAX_FILTER = 200


@dataclass(frozen=True, slots=True)
class RunListQuery:
    """What was asked for, each as it was typed."""

    tool: str = ""
    status: str = ""
    source: str = ""
    who: str = ""
    since: str = ""
    until: str = ""

    @property
    def query(self) -> str:
        """As part of an address, without what was left open."""
        return urlencode({one.name: value for one in fields(self) if (value := getattr(self, one.name))})

    @property
    def any(self) -> bool:
        return bool(self.query)

    def address(self, path: str = "/runs", **more: str | None) -> str:
        told = urlencode({name: value for name, value in more.items() if value})
        query = "&".join(filter(None, (self.query, told)))
        return f"{path}?{query}" if query else path


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The span that a list is about."""

    since: float | None
    until: float | None


def read_run_query(query: Mapping[str, str]) -> tuple[RunListQuery, dict[str, str]]:
    """What was asked for, and what of it could not be read, by field."""
    given = RunListQuery(
        **{one.name: query.get(one.name, "").strip()[:MAX_FILTER].strip() for one in fields(RunListQuery)}
    )
    wrong: dict[str, str] = {}
    if given.status and given.status not in STATUSES:
        given = replace(given, status="")
        wrong["status"] = "There is no such state. All are shown."
    if given.source and given.source not in SOURCES:
        given = replace(given, source="")
        wrong["source"] = "There is no such way in. All are shown."
    for name in ("since", "until"):
        if getattr(given, name) and parse_day(getattr(given, name)) is None:
            wrong[name] = "Write a day as 2026-05-31."
    return given, wrong


def time_range(given: RunListQuery) -> TimeRange:
    """From the beginning of the first day to the end of the last one."""
    first, last = parse_day(given.since), parse_day(given.until)
    return TimeRange(
        None if first is None else first.timestamp(),
        None if last is None else (last + timedelta(days=1)).timestamp(),
    )


def parse_day(text: str) -> datetime | None:
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None
    return day if 1970 <= day.year < 9999 else None


def filter_form(run_query: RunListQuery, wrong: Mapping[str, str]) -> h.Element:
    """Works by itself; with script the list follows what is typed."""
    asks = {
        "hx-get": "/runs",
        "hx-target": "#runs",
        "hx-swap": "outerMorph",
        "hx-push-url": "true",
        "hx-trigger": "submit, change, input delay:300ms",
    }
    return h.form("#run-filter.run-filter", asks, method="get", action="/runs", role="search")[
        _field("tool", "Tool", _text("tool", run_query.tool, "data.updateRecord"), wrong),
        _field("who", "Who", _text("who", run_query.who, "me, a name, an agent"), wrong),
        _field("status", "State", _choice("status", run_query.status, _STATE_WORDS), wrong),
        _field("source", "Through", _choice("source", run_query.source, SOURCE_LABELS), wrong),
        _field("since", "From", _day("since", run_query.since, wrong), wrong),
        _field("until", "To", _day("until", run_query.until, wrong), wrong),
        h.div(".run-filter-do")[
            h.button(".btn", type="submit", data_variant="outline", data_size="sm")["Filter"],
            h.a(".btn", href="/runs", data_variant="ghost", data_size="sm")["Clear"]
            if run_query.any
            else None,
        ],
    ]


_STATE_WORDS = {one: STATUS_LABELS[one].word for one in get_args(RunStatus)}


def _field(name: str, label: str, control: h.Node, wrong: Mapping[str, str]) -> h.Element:
    return h.div(".run-field")[
        h.label(for_=f"run-{name}")[label],
        control,
        h.p(".run-wrong", id=f"run-{name}-wrong")[wrong[name]] if name in wrong else None,
    ]


def _text(name: str, value: str, hint: str) -> h.VoidElement:
    return h.input(
        f"#run-{name}.input",
        type="text",
        name=name,
        value=value,
        placeholder=hint,
        autocomplete="off",
        spellcheck="false",
    )


def _day(name: str, value: str, wrong: Mapping[str, str]) -> h.VoidElement:
    said = {"aria-invalid": "true", "aria-describedby": f"run-{name}-wrong"} if name in wrong else {}
    return h.input(f"#run-{name}.input", said, type="date", name=name, value=value)


def _choice(name: str, value: str, words: Mapping[str, str]) -> h.Element:
    return h.select(f"#run-{name}.select", name=name)[
        h.option(value="", selected=not value)["Any"],
        (h.option(value=one, selected=one == value)[word] for one, word in words.items()),
    ]


router = PageRouter()
PAGE_SIZE = 50

_MAX_NEW = 100
"""New runs that are counted one by one."""


@router.get("/runs")
async def list_runs(ctx: PageContext) -> Response:
    """A page of runs; `part` asks for the rows of a list that is open, or for what is new since."""
    run_query, wrong = read_run_query(ctx.query)
    after = ctx.query.get("after") or None
    if ctx.query.get("part") == "rows":
        return html(await _rows_again(ctx, run_query, ctx.query.get("top", "")))
    try:
        found = await _runs(ctx, run_query, after=after, limit=PAGE_SIZE + 1)
    except UsageError:  # a cursor that is none: from the beginning
        after = None
        found = await _runs(ctx, run_query, limit=PAGE_SIZE + 1)
    part = await _part(ctx, run_query, found, after)
    if ctx.by_htmx and ctx.request.headers.get("hx-history-restore-request") != "true":
        return html(part)
    return page(
        ctx,
        "Runs",
        h.div(".head")[h.h1["Runs"], _scope(ctx)],
        filter_form(run_query, wrong),
        part,
        active="runs",
        live=[_topic(ctx)],
    )


def _topic(ctx: PageContext) -> str:
    return "runs" if ctx.may("runs.read") else "mine"


def _refresh_on_news(ctx: PageContext, address: str) -> dict[str, str]:
    """Ask again when something ran, and when the stream begins: it may have begun after the page."""
    news = f"{_topic(ctx)} from:body, hello from:body"
    return {"hx-get": address, "hx-trigger": news, "hx-swap": "outerMorph"}


def _scope(ctx: PageContext) -> h.Element:
    said = "Everybody's" if ctx.may("runs.read") else "Yours, and those of agents that act for you"
    return h.span(".quiet")[said]


async def _runs(
    ctx: PageContext, run_query: RunListQuery, *, after: str | None = None, limit: int
) -> list[Run]:
    """The runs that fit; without the permission to read all, one's own."""
    who, times = ctx.who, time_range(run_query)
    user, agent = await user_or_agent(ctx, run_query.who)
    if not ctx.may("runs.read"):
        if user not in (None, who.user) or who.user is None:
            return []
        user = who.user
    status = next((one for one in STATUSES if one == run_query.status), None)
    source = next((one for one in get_args(Source) if one == run_query.source), None)
    return await ctx.hr.runs(
        who,
        tool=run_query.tool or None,
        status=status,
        source=source,
        user=user,
        agent=agent,
        since=times.since,
        until=times.until,
        after=after,
        limit=limit,
    )


async def _part(
    ctx: PageContext, run_query: RunListQuery, found: Sequence[Run], after: str | None
) -> h.Element:
    shown, more = found[:PAGE_SIZE], len(found) > PAGE_SIZE
    if not shown:
        asks = {} if after else _refresh_on_news(ctx, run_query.address())
        return h.section("#runs", asks, aria_label="Runs")[_nothing(run_query, after)]
    display_names = await display_names_for(ctx, {one.user for one in shown})
    last = shown[-1].cursor
    return h.section("#runs", aria_label="Runs")[
        _table(ctx, run_query, shown, display_names, first=after is None),
        h.nav(".row.run-pages", aria_label="Pages")[
            h.a(".btn", href=run_query.address(), data_variant="outline", data_size="sm")["Newest"]
            if after
            else None,
            h.a(
                ".btn", href=run_query.address(after=last), rel="next", data_variant="outline", data_size="sm"
            )["Older"]
            if more
            else h.span(".quiet")["These are all."],
        ],
    ]


def _table(
    ctx: PageContext,
    run_query: RunListQuery,
    runs: Sequence[Run],
    display_names: DisplayNames,
    *,
    first: bool,
    news: int = 0,
) -> h.Element:
    """The rows. The first page asks again for the same ones when something happens."""
    asks = _refresh_on_news(ctx, run_query.address(part="rows", top=runs[0].id)) if first and runs else {}
    return h.div("#run-rows.run-rows", asks)[
        h.p(".run-news", aria_live="polite")[
            h.a(".btn", href=run_query.address(), data_variant="secondary", data_size="sm")[
                icon("arrow-up"), _new_runs(news)
            ]
            if news
            else None
        ],
        h.div(".table-container")[
            h.table(".table.run-table")[
                h.thead[h.tr[(h.th(scope="col", class_=look)[word] for word, look in _COLUMNS)]],
                h.tbody[(_row(one, ctx.now, display_names) for one in runs)],
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


def _new_runs(news: int) -> str:
    return f"{_MAX_NEW}+ new runs" if news > _MAX_NEW else pluralize(news, "new run")


def _row(run: Run, now: float, display_names: DisplayNames) -> h.Element:
    took = duration(run.ended_at - run.began_at) if run.ended_at is not None else ""
    return h.tr(id=f"run-{run.id}")[
        h.td[time_ago(run.began_at, now)],
        h.td(".run-tool")[h.a(href=run_url(run.id))[one_line(run.tool)]],
        h.td(".run-who")[display_names.caller(run.user, run.agent)],
        h.td(".run-wide")[source_label(run.source)],
        h.td[status_badge(run.status)],
        h.td(".num.run-wide")[took],
    ]


async def _rows_again(ctx: PageContext, run_query: RunListQuery, top: str) -> h.Element:
    """The rows from `top` on as they stand now, and how many are newer."""
    first = await ctx.platform.events.run(ctx.who.tenant, top) if is_plausible_id(top) else None
    if first is None or not may_list(ctx.who, first):
        return _table(ctx, run_query, (), DisplayNames(), first=True)
    fresh, rest = await asyncio.gather(
        _runs(ctx, run_query, limit=_MAX_NEW + 1),
        _runs(ctx, run_query, after=first.cursor, limit=PAGE_SIZE - 1),
    )
    news = sum(parse_cursor(one.cursor) > parse_cursor(first.cursor) for one in fresh)
    shown = [first, *rest]
    display_names = await display_names_for(ctx, {one.user for one in shown})
    return _table(ctx, run_query, shown, display_names, first=True, news=news)


def _nothing(run_query: RunListQuery, after: str | None) -> h.Element:
    if after:
        return empty_state(
            "Nothing older", "This is the end of the list.", h.a(href=run_query.address())["Newest"]
        )
    if run_query.any:
        return empty_state(
            "No runs like that",
            "No run fits all of these filters.",
            h.a(".btn", href="/runs", data_variant="outline", data_size="sm")["Show all runs"],
        )
    return empty_state(
        "Nothing has run yet",
        "Each time you, somebody else or an agent runs a tool, it appears here with what happened.",
        h.a(".btn", href="/tools", data_size="sm")["Choose a tool"],
    )
