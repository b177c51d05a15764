"""Home: what waits for me, what ran, what failed, and the tools that I use."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

import htpy as h
from starlette.responses import Response

from handrail.core.define.redaction import MASK
from handrail.core.define.tool import Tool
from handrail.core.guard.approval_request import ApprovalRequest
from handrail.core.run.approvals.inbox import may_decide
from handrail.core.tell.runs import Run
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import display_name, duration, level_badge, pluralize, status_badge, time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import empty_state, page
from handrail.doors.web.pages.approvals import exact_values
from handrail.doors.web.pages.tools.preferences import favourites_of
from handrail.doors.web.responses import html
from handrail.doors.web.router import PageContext, PageRouter
from handrail.doors.web.tool_lookup import tool_url, visible_tool

router = PageRouter()
_WEEK = 7 * 86_400.0
_MAX_SHOWN, _LOOKED, _TOOLS = 6, 40, 8


@dataclass(frozen=True, slots=True)
class _HomeData:
    """What a home page shows."""

    waiting: list[ApprovalRequest]
    own_runs: list[Run]
    failed: list[Run]
    favourites: list[Tool]
    recent: list[Tool]
    tools: dict[str, Tool]
    """The tools that the reader may see, by name."""
    people: dict[str, str]

    def tool_name(self, tool: str) -> str:
        return self.tools[tool].name if tool in self.tools else tool


@router.get("/")
async def show(ctx: PageContext) -> Response:
    return page(
        ctx,
        "Home",
        h.header[
            h.h1["Home"],
            h.p(".quiet")[f"What waits for you, what ran and what failed at {ctx.account.tenant}."],
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
    requests, own_runs, failed, unclear, starred = await asyncio.gather(
        hr.approvals.list(who, limit=100),
        hr.runs(who, user=me, limit=_LOOKED),
        hr.runs(who, user=whose, status="failed", since=since, limit=_MAX_SHOWN),
        hr.runs(who, user=whose, status="needs_review", since=since, limit=_MAX_SHOWN),
        favourites_of(ctx),
    )
    waiting = [request for request in requests if may_decide(who, request)]
    failed = sorted([*failed, *unclear], key=lambda run: run.began_at, reverse=True)[:_MAX_SHOWN]
    used = list(dict.fromkeys(run.tool for run in own_runs))
    shown = {*starred[:_TOOLS], *used[:_TOOLS], *(run.tool for run in failed)}
    shown |= {request.tool for request in waiting}
    tools = {name: tool for name in sorted(shown) if (tool := await visible_tool(ctx, name)) is not None}
    users = {request.principal.user for request in waiting} | {run.user for run in failed}
    return _HomeData(
        waiting,
        own_runs[:_MAX_SHOWN],
        failed,
        [tools[name] for name in starred[:_TOOLS] if name in tools],
        [tools[name] for name in used if name in tools and name not in starred][:_TOOLS],
        tools,
        await ctx.user_names(users),
    )


def _part(ctx: PageContext, data: _HomeData) -> h.Element:
    is_new = not (data.waiting or data.own_runs or data.failed)
    return h.div("#home.home", c.refresh_on_news("/home/part", "mine", "approvals"))[
        h.div(".home-main")[
            _waiting(ctx, data),
            _first_step() if is_new else _own_runs(ctx, data),
            _block("failed", "Failed in the last seven days", _runs(ctx, data.failed, data, failed=True))
            if data.failed
            else None,
        ],
        h.div(".home-side")[
            _tools("Favourite tools", data.favourites, "Star a tool on its page to find it here."),
            _tools("Recent tools", data.recent, "The tools that you used last will be here."),
        ],
    ]


def _block(name: str, title: str, *content: h.Node) -> h.Element:
    return h.section(".home-block", aria_labelledby=f"home-{name}")[h.h2(id=f"home-{name}")[title], content]


def _first_step() -> h.Element:
    return empty_state(
        "Run your first tool",
        "Pick a tool, fill in its form and run it. What you ran will be here, with its result.",
        c.link_button("/tools", "Browse tools"),
    )


def _waiting(ctx: PageContext, data: _HomeData) -> h.Element:
    rows = [_question(ctx, request, data) for request in data.waiting[:_MAX_SHOWN]]
    more = len(data.waiting) - len(rows)
    return _block(
        "waiting",
        "Needs your approval",
        h.ul(".home-list")[rows] if rows else h.p(".quiet")["Nothing waits for you."],
        h.p[h.a(href="/approvals")[f"{pluralize(more, 'more')} to decide"]] if more > 0 else None,
    )


def _question(ctx: PageContext, request: ApprovalRequest, data: _HomeData) -> h.Element:
    who, expires_at = request.principal, request.expires_at
    return h.li[
        h.a(".home-row", href=f"/approvals/{request.id}")[
            icon("hand"),
            h.span(".home-what")[
                h.b[data.tool_name(request.tool)],
                _first_text(request),
                f" asked for by {_caller(ctx, who.user, who.agent, data)}",
            ],
            level_badge(request.level, request.danger),
            h.span(".when")["expires ", time_ago(expires_at, ctx.now)]
            if expires_at
            else time_ago(request.created_at, ctx.now),
        ]
    ]


def _first_text(request: ApprovalRequest) -> h.Node:
    """The argument that says most of what is asked: the first text, such as a command or a path."""
    texts = (value for value in request.args.values() if isinstance(value, str) and value != MASK)
    first = next(texts, None)
    return None if first is None else [" ", exact_values.brief_value(first)]


def _own_runs(ctx: PageContext, data: _HomeData) -> h.Element:
    nothing = h.p(".quiet")["You have run nothing yet. ", h.a(href="/tools")["Run your first tool"], "."]
    runs = _runs(ctx, data.own_runs, data, failed=False) if data.own_runs else nothing
    return _block("ran", "What you ran", runs)


def _runs(ctx: PageContext, runs: Iterable[Run], data: _HomeData, *, failed: bool) -> h.Element:
    return h.ul(".home-list")[(_run(ctx, run, data, failed) for run in runs)]


def _run(ctx: PageContext, run: Run, data: _HomeData, failed: bool) -> h.Element:
    took = None if run.ended_at is None else h.span(".quiet")[duration(run.ended_at - run.began_at)]
    by = f" by {_caller(ctx, run.user, run.agent, data)}" if failed or run.agent else ""
    return h.li(id=f"home-{run.id}-{'failed' if failed else 'ran'}")[
        h.a(".home-row", href=f"/runs/{run.id}")[
            status_badge(run.status),
            h.span(".home-what")[h.b[data.tool_name(run.tool)], by],
            took,
            time_ago(run.began_at, ctx.now),
        ]
    ]


def _tools(title: str, tools: list[Tool], empty: str) -> h.Element:
    links = (h.li[h.a(".home-tool", href=tool_url(tool))[icon(tool.icon), tool.name]] for tool in tools)
    name = title.partition(" ")[0].lower()
    return _block(name, title, h.ul(".home-tools")[links] if tools else h.p(".quiet")[empty])


def _caller(ctx: PageContext, user: str | None, agent: str | None, data: _HomeData) -> str:
    """Who did it, for this reader."""
    if agent is not None:
        return f"agent “{agent}”"
    if user is None:
        return "a program"
    return "you" if user == ctx.who.user else display_name(user, data.people)
