"""Home: what waits for me, what ran, what failed, and the tools that I use."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

import htpy as h
from starlette.responses import Response

from handrail.core.define.redaction import MASK
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError
from handrail.core.guard.approval_request import ApprovalRequest
from handrail.core.run.approvals.inbox import may_decide
from handrail.core.tell.runs import Run
from handrail.doors.web.accounts import Account
from handrail.doors.web.humanize import display_name, duration, level_badge, pluralize, status_badge, time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import empty_state, page
from handrail.doors.web.pages.approvals import exact_values
from handrail.doors.web.pages.tools.lookup import tool_url
from handrail.doors.web.pages.tools.preferences import favourites_of
from handrail.doors.web.responses import html
from handrail.doors.web.routing import PageContext, PageRouter

router = PageRouter()
_WEEK = 7 * 86_400.0
_MAX_SHOWN, _LOOKED, _TOOLS = 6, 40, 8


@dataclass(frozen=True, slots=True)
class _HomeData:
    """What a home page tells."""

    waiting: list[ApprovalRequest]
    mine: list[Run]
    failed: list[Run]
    favourites: list[Tool]
    recent: list[Tool]
    named: dict[str, Tool]
    people: dict[str, str]


@router.get("/")
async def show(ctx: PageContext) -> Response:
    account: Account = ctx.request.scope["state"]["account"]
    return page(
        ctx,
        "Home",
        h.header[
            h.h1["Home"],
            h.p(".quiet")[f"What waits for you, what ran and what failed at {account.tenant}."],
        ],
        _part(ctx, await _load(ctx)),
        active="home",
        live=("mine",),
    )


@router.get("/home/part")
async def part(ctx: PageContext) -> Response:
    """The same again, as it is by now."""
    return html(_part(ctx, await _load(ctx)))


async def _load(ctx: PageContext) -> _HomeData:
    who, hr = ctx.who, ctx.hr
    since = ctx.now - _WEEK
    me = who.user or "nobody"  # without a user, the list would be everybody's
    whose = None if ctx.may("runs.read") else me
    asked, mine, failed, unclear, chosen = await asyncio.gather(
        hr.approvals.list(who, limit=100),
        hr.runs(who, user=me, limit=_LOOKED),
        hr.runs(who, user=whose, status="failed", since=since, limit=_MAX_SHOWN),
        hr.runs(who, user=whose, status="needs_review", since=since, limit=_MAX_SHOWN),
        favourites_of(ctx),
    )
    waiting = [one for one in asked if may_decide(who, one)]
    wrong = sorted([*failed, *unclear], key=lambda run: run.began_at, reverse=True)[:_MAX_SHOWN]
    used = list(dict.fromkeys(run.tool for run in mine))
    shown = {*chosen[:_TOOLS], *used[:_TOOLS], *(run.tool for run in wrong), *(one.tool for one in waiting)}
    named = {name: tool for name in sorted(shown) if (tool := await _tool(ctx, name)) is not None}
    behind = {one.principal.user for one in waiting} | {run.user for run in wrong}
    return _HomeData(
        waiting,
        mine[:_MAX_SHOWN],
        wrong,
        [named[name] for name in chosen[:_TOOLS] if name in named],
        [named[name] for name in used if name in named and name not in chosen][:_TOOLS],
        named,
        await _people(ctx, [user for user in behind if user is not None]),
    )


async def _people(ctx: PageContext, ids: list[str]) -> dict[str, str]:
    return await ctx.platform.user_names(ctx.who.tenant, ids)


async def _tool(ctx: PageContext, name: str) -> Tool | None:
    """A tool that this reader may see."""
    try:
        return (await ctx.hr.describe(name, ctx.who, source="web")).tool
    except ToolError:
        return None


def _part(ctx: PageContext, found: _HomeData) -> h.Element:
    asks = {"hx-get": "/home/part", "hx-trigger": "mine from:body, approvals from:body, hello from:body"}
    fresh = not (found.waiting or found.mine or found.failed)
    return h.div("#home.home", asks, hx_swap="outerMorph")[
        h.div(".home-main")[
            _waiting(ctx, found),
            _first_step() if fresh else _ran(ctx, found),
            _failed(ctx, found) if found.failed else None,
        ],
        h.div(".home-side")[
            _tools("Favourite tools", found.favourites, "Star a tool on its page to find it here."),
            _tools("Recent tools", found.recent, "The tools that you used last will be here."),
        ],
    ]


def _first_step() -> h.Element:
    return empty_state(
        "Run your first tool",
        "Pick a tool, fill in its form and run it. What you ran will be here, with its result.",
        h.a(".btn", href="/tools")["Browse tools"],
    )


def _waiting(ctx: PageContext, found: _HomeData) -> h.Element:
    rows = [_question(ctx, one, found) for one in found.waiting[:_MAX_SHOWN]]
    more = len(found.waiting) - len(rows)
    return h.section(".home-block", aria_labelledby="home-waiting")[
        h.h2("#home-waiting")["Needs your approval"],
        h.ul(".home-list")[rows] if rows else h.p(".quiet")["Nothing waits for you."],
        h.p[h.a(href="/approvals")[f"{pluralize(more, 'more')} to decide"]] if more > 0 else None,
    ]


def _question(ctx: PageContext, one: ApprovalRequest, found: _HomeData) -> h.Element:
    late = one.expires_at
    return h.li[
        h.a(".home-row", href=f"/approvals/{one.id}")[
            icon("hand"),
            h.span(".home-what")[
                h.b[_named(one.tool, found)],
                _with(one),
                f" asked for by {_behind(ctx, one.principal.user, one.principal.agent, found)}",
            ],
            level_badge(one.level, one.danger),
            h.span(".when")["expires ", time_ago(late, ctx.now)]
            if late
            else time_ago(one.created_at, ctx.now),
        ]
    ]


def _with(one: ApprovalRequest) -> h.Node:
    """The argument that says most of what is asked: the first text, such as a command or a path."""
    texts = (value for value in one.args.values() if isinstance(value, str) and value != MASK)
    first = next(texts, None)
    return None if first is None else [" ", exact_values.brief_value(first)]


def _ran(ctx: PageContext, found: _HomeData) -> h.Element:
    return h.section(".home-block", aria_labelledby="home-ran")[
        h.h2("#home-ran")["What you ran"],
        _runs(ctx, found.mine, found, whose=False)
        if found.mine
        else h.p(".quiet")["You have run nothing yet. ", h.a(href="/tools")["Run your first tool"], "."],
    ]


def _failed(ctx: PageContext, found: _HomeData) -> h.Element:
    return h.section(".home-block", aria_labelledby="home-failed")[
        h.h2("#home-failed")["Failed in the last seven days"], _runs(ctx, found.failed, found, whose=True)
    ]


def _runs(ctx: PageContext, runs: Iterable[Run], found: _HomeData, *, whose: bool) -> h.Element:
    return h.ul(".home-list")[(_run(ctx, run, found, whose) for run in runs)]


def _run(ctx: PageContext, run: Run, found: _HomeData, whose: bool) -> h.Element:
    took = None if run.ended_at is None else h.span(".quiet")[duration(run.ended_at - run.began_at)]
    by = f" by {_behind(ctx, run.user, run.agent, found)}" if whose or run.agent else ""
    return h.li(id=f"home-{run.id}-{'failed' if whose else 'ran'}")[
        h.a(".home-row", href=f"/runs/{run.id}")[
            status_badge(run.status),
            h.span(".home-what")[h.b[_named(run.tool, found)], by],
            took,
            time_ago(run.began_at, ctx.now),
        ]
    ]


def _tools(title: str, tools: list[Tool], said: str) -> h.Element:
    name = f"home-{title.partition(' ')[0].lower()}"
    return h.section(".home-block", aria_labelledby=name)[
        h.h2(id=name)[title],
        h.ul(".home-tools")[
            (h.li[h.a(".home-tool", href=tool_url(one))[icon(one.icon), one.name]] for one in tools)
        ]
        if tools
        else h.p(".quiet")[said],
    ]


def _named(tool: str, found: _HomeData) -> str:
    known = found.named.get(tool)
    return tool if known is None else known.name


def _behind(ctx: PageContext, user: str | None, agent: str | None, found: _HomeData) -> str:
    """Who did it, for this reader."""
    if agent is not None:
        return f"agent “{agent}”"
    if user is None:
        return "a program"
    return "you" if user == ctx.who.user else display_name(user, found.people)
