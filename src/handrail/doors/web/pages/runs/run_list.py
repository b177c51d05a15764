"""/runs: what ran, the newest first. Filters are a plain form; what is new is counted, and moves nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import get_args
from urllib.parse import urlencode

import htpy as h
from starlette.responses import Response

from handrail.core.define.levels import SOURCES, Source
from handrail.core.errors import UsageError
from handrail.core.tell.runs import Run, RunStatus, parse_cursor
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import STATUS_LABELS, duration, pluralize, status_badge, time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import empty_state, page
from handrail.doors.web.pages.runs.run_view import display_names_for, may_list, user_or_agent
from handrail.doors.web.responses import html
from handrail.doors.web.router import PageContext, PageRouter
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
        return urlencode({name: value for name, value in asdict(self).items() if value})

    @property
    def any(self) -> bool:
        return bool(self.query)

    def address(self, path: str = "/runs", **more: str | None) -> str:
        added = urlencode({name: value for name, value in more.items() if value})
        query = "&".join(filter(None, (self.query, added)))
        return f"{path}?{query}" if query else path


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The span that a list is about."""

    since: float | None
    until: float | None


def read_run_query(query: Mapping[str, str]) -> tuple[RunListQuery, dict[str, str]]:
    """What was asked for, and what of it could not be read, by field."""
    texts = {field.name: query.get(field.name, "") for field in fields(RunListQuery)}
    run_query = RunListQuery(**{name: text.strip()[:MAX_FILTER].strip() for name, text in texts.items()})
    errors: dict[str, str] = {}
    if run_query.status and run_query.status not in STATUSES:
        run_query = replace(run_query, status="")
        errors["status"] = "There is no such state. All are shown."
    if run_query.source and run_query.source not in SOURCES:
        run_query = replace(run_query, source="")
        errors["source"] = "There is no such way in. All are shown."
    for name in ("since", "until"):
        if getattr(run_query, name) and parse_day(getattr(run_query, name)) is None:
            errors[name] = "Write a day as 2026-05-31."
    return run_query, errors


def time_range(run_query: RunListQuery) -> TimeRange:
    """From the beginning of the first day to the end of the last one."""
    first, last = parse_day(run_query.since), parse_day(run_query.until)
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


def filter_form(run_query: RunListQuery, errors: Mapping[str, str]) -> h.Element:
    """Works by itself; with script the list follows what is typed."""
    asks = {
        **c.get_into("/runs", "#runs", "outerMorph"),
        "hx-push-url": "true",
        "hx-trigger": "submit, change, input delay:300ms",
    }
    return h.form("#run-filter.run-filter", asks, method="get", action="/runs", role="search")[
        _field("tool", "Tool", _text("tool", run_query.tool, "data.updateRecord"), errors),
        _field("who", "Who", _text("who", run_query.who, "me, a name, an agent"), errors),
        _field("status", "State", _choice("status", run_query.status, _STATE_WORDS), errors),
        _field("source", "Through", _choice("source", run_query.source, SOURCE_LABELS), errors),
        _field("since", "From", _day("since", run_query.since, errors), errors),
        _field("until", "To", _day("until", run_query.until, errors), errors),
        h.div(".run-filter-do")[
            c.small_submit("Filter"), c.small_link("/runs", "Clear", "ghost") if run_query.any else None
        ],
    ]


_STATE_WORDS: dict[str, str] = {status: STATUS_LABELS[status].word for status in STATUSES}


def _field(name: str, label: str, control: h.Node, errors: Mapping[str, str]) -> h.Element:
    return h.div(".run-field")[
        h.label(for_=f"run-{name}")[label],
        control,
        h.p(".run-wrong", id=f"run-{name}-wrong")[errors[name]] if name in errors else None,
    ]


def _text(name: str, value: str, hint: str) -> h.VoidElement:
    free = {"placeholder": hint, "autocomplete": "off", "spellcheck": "false"}
    return h.input(f"#run-{name}.input", free, type="text", name=name, value=value)


def _day(name: str, value: str, errors: Mapping[str, str]) -> h.VoidElement:
    invalid = {"aria-invalid": "true", "aria-describedby": f"run-{name}-wrong"} if name in errors else {}
    return h.input(f"#run-{name}.input", invalid, type="date", name=name, value=value)


def _choice(name: str, value: str, words: Mapping[str, str]) -> h.Element:
    options = c.select_options([("", "Any"), *words.items()], value)
    return h.select(f"#run-{name}.select", name=name)[options]


router = PageRouter()
PAGE_SIZE = 50

_MAX_NEW = 100
"""New runs that are counted one by one."""


@router.get("/runs")
async def list_runs(ctx: PageContext) -> Response:
    """A page of runs; `part` asks for the rows of a list that is open, or for what is new since."""
    run_query, errors = read_run_query(ctx.query)
    after = ctx.query.get("after") or None
    if ctx.query.get("part") == "rows":
        return html(await _rows_again(ctx, run_query, ctx.query.get("top", "")))
    try:
        runs = await _runs(ctx, run_query, after=after, limit=PAGE_SIZE + 1)
    except UsageError:  # a cursor that is none: from the beginning
        after = None
        runs = await _runs(ctx, run_query, limit=PAGE_SIZE + 1)
    part = await _part(ctx, run_query, runs, after)
    if ctx.by_htmx and ctx.request.headers.get("hx-history-restore-request") != "true":
        return html(part)
    scope = "Everybody's" if ctx.may("runs.read") else "Yours, and those of agents that act for you"
    return page(
        ctx,
        "Runs",
        h.div(".head")[h.h1["Runs"], h.span(".quiet")[scope]],
        filter_form(run_query, errors),
        part,
        active="runs",
        live=[_topic(ctx)],
    )


def _topic(ctx: PageContext) -> str:
    return "runs" if ctx.may("runs.read") else "mine"


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
    status = next((status for status in STATUSES if status == run_query.status), None)
    source = next((source for source in get_args(Source) if source == run_query.source), None)
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
    ctx: PageContext, run_query: RunListQuery, runs: Sequence[Run], after: str | None
) -> h.Element:
    shown, has_more = runs[:PAGE_SIZE], len(runs) > PAGE_SIZE
    if not shown:
        asks = {} if after else c.refresh_on_news(run_query.address(), _topic(ctx))
        return h.section("#runs", asks, aria_label="Runs")[_nothing(run_query, after)]
    older = run_query.address(after=shown[-1].cursor)
    return h.section("#runs", aria_label="Runs")[
        await _table(ctx, run_query, shown, is_first=after is None),
        h.nav(".row.run-pages", aria_label="Pages")[
            c.small_link(run_query.address(), "Newest") if after else None,
            c.small_link(older, "Older", rel="next") if has_more else h.span(".quiet")["These are all."],
        ],
    ]


async def _table(
    ctx: PageContext, run_query: RunListQuery, runs: Sequence[Run], *, is_first: bool, new: int = 0
) -> h.Element:
    """The rows. The first page asks again for the same ones when something happens."""
    asks = {}
    if is_first and runs:
        asks = c.refresh_on_news(run_query.address(part="rows", top=runs[0].id), _topic(ctx))
    display_names = await display_names_for(ctx, {run.user for run in runs})
    news = f"{_MAX_NEW}+ new runs" if new > _MAX_NEW else pluralize(new, "new run")
    return h.div("#run-rows.run-rows", asks)[
        h.p(".run-news", aria_live="polite")[
            c.small_link(run_query.address(), [icon("arrow-up"), news], "secondary") if new else None
        ],
        c.table(
            None,
            _COLUMNS,
            (_row(run, ctx.now, display_names) for run in runs),
            class_="table run-table",
            head_classes=dict(enumerate(_COLUMNS.values())),
        ),
    ]


_COLUMNS = {"When": "", "Tool": "", "Who": "", "Through": "run-wide", "State": "", "Took": "num run-wide"}
"""The heads, and the class of each."""


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
        return await _table(ctx, run_query, (), is_first=True)
    newest, rest = await asyncio.gather(
        _runs(ctx, run_query, limit=_MAX_NEW + 1),
        _runs(ctx, run_query, after=first.cursor, limit=PAGE_SIZE - 1),
    )
    new = sum(parse_cursor(run.cursor) > parse_cursor(first.cursor) for run in newest)
    return await _table(ctx, run_query, [first, *rest], is_first=True, new=new)


def _nothing(run_query: RunListQuery, after: str | None) -> h.Element:
    if after:
        newest = h.a(href=run_query.address())["Newest"]
        return empty_state("Nothing older", "This is the end of the list.", newest)
    if run_query.any:
        return empty_state(
            "No runs like that",
            "No run fits all of these filters.",
            c.small_link("/runs", "Show all runs"),
        )
    return empty_state(
        "Nothing has run yet",
        "Each time you, somebody else or an agent runs a tool, it appears here with what happened.",
        c.link_button("/tools", "Choose a tool", size="sm"),
    )
