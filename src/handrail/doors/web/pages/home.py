"""Home: what waits for me, what ran, what failed, and the tools that I use."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

import htpy as h
from starlette.responses import Response

from handrail.core.define.secrecy import MASK
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError
from handrail.core.guard.approval import ApprovalRequest
from handrail.core.run.approvals import may_decide
from handrail.core.tell.runs import Run
from handrail.doors.web.account import Account
from handrail.doors.web.answer import html
from handrail.doors.web.frame import empty, page
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.approvals import drawing
from handrail.doors.web.pages.tools.known import url_of
from handrail.doors.web.routing import Pages, Reader
from handrail.doors.web.words import called, count, level_mark, span, state, when

pages = Pages()
_WEEK = 7 * 86_400.0
_SHOWN, _LOOKED, _TOOLS = 6, 40, 8


@dataclass(frozen=True, slots=True)
class _Found:
    """What a home page tells."""

    waiting: list[ApprovalRequest]
    mine: list[Run]
    failed: list[Run]
    favourites: list[Tool]
    recent: list[Tool]
    named: dict[str, Tool]
    people: dict[str, str]


@pages.get("/")
async def show(reader: Reader) -> Response:
    account: Account = reader.request.scope["state"]["account"]
    return page(
        reader,
        "Home",
        h.header[
            h.h1["Home"],
            h.p(".quiet")[f"What waits for you, what ran and what failed at {account.tenant}."],
        ],
        _part(reader, await _look(reader)),
        active="home",
        live=("mine",),
    )


@pages.get("/home/part")
async def part(reader: Reader) -> Response:
    """The same again, as it is by now."""
    return html(_part(reader, await _look(reader)))


async def _look(reader: Reader) -> _Found:
    who, hr = reader.who, reader.hr
    since = reader.now - _WEEK
    me = who.user or "nobody"  # without a user, the list would be everybody's
    whose = None if reader.may("runs.read") else me
    asked, mine, failed, unclear, chosen = await asyncio.gather(
        hr.approvals.list(who, limit=100),
        hr.runs(who, user=me, limit=_LOOKED),
        hr.runs(who, user=whose, status="failed", since=since, limit=_SHOWN),
        hr.runs(who, user=whose, status="needs_review", since=since, limit=_SHOWN),
        _favourites(reader),
    )
    waiting = [one for one in asked if may_decide(who, one)]
    wrong = sorted([*failed, *unclear], key=lambda run: run.began_at, reverse=True)[:_SHOWN]
    used = list(dict.fromkeys(run.tool for run in mine))
    shown = {*chosen[:_TOOLS], *used[:_TOOLS], *(run.tool for run in wrong), *(one.tool for one in waiting)}
    named = {name: tool for name in sorted(shown) if (tool := await _tool(reader, name)) is not None}
    behind = {one.principal.user for one in waiting} | {run.user for run in wrong}
    return _Found(
        waiting,
        mine[:_SHOWN],
        wrong,
        [named[name] for name in chosen[:_TOOLS] if name in named],
        [named[name] for name in used if name in named and name not in chosen][:_TOOLS],
        named,
        await _people(reader, [user for user in behind if user is not None]),
    )


async def _favourites(reader: Reader) -> list[str]:
    offices, who = reader.platform.offices, reader.who
    if offices is None or who.user is None or who.agent is not None:
        return []
    return await offices.keepsakes.favourites(who)


async def _people(reader: Reader, ids: list[str]) -> dict[str, str]:
    offices = reader.platform.offices
    return {} if offices is None else await offices.people.names(reader.who.tenant, ids)


async def _tool(reader: Reader, name: str) -> Tool | None:
    """A tool that this reader may see."""
    try:
        return (await reader.hr.describe(name, reader.who, source="web")).tool
    except ToolError:
        return None


def _part(reader: Reader, found: _Found) -> h.Element:
    asks = {"hx-get": "/home/part", "hx-trigger": "mine from:body, approvals from:body, hello from:body"}
    fresh = not (found.waiting or found.mine or found.failed)
    return h.div("#home.home", asks, hx_swap="outerMorph")[
        h.div(".home-main")[
            _waiting(reader, found),
            _first_step() if fresh else _ran(reader, found),
            _failed(reader, found) if found.failed else None,
        ],
        h.div(".home-side")[
            _tools("Favourite tools", found.favourites, "Star a tool on its page to find it here."),
            _tools("Recent tools", found.recent, "The tools that you used last will be here."),
        ],
    ]


def _first_step() -> h.Element:
    return empty(
        "Run your first tool",
        "Pick a tool, fill in its form and run it. What you ran will be here, with its result.",
        h.a(".btn", href="/tools")["Browse tools"],
    )


def _waiting(reader: Reader, found: _Found) -> h.Element:
    rows = [_question(reader, one, found) for one in found.waiting[:_SHOWN]]
    more = len(found.waiting) - len(rows)
    return h.section(".home-block", aria_labelledby="home-waiting")[
        h.h2("#home-waiting")["Needs your approval"],
        h.ul(".home-list")[rows] if rows else h.p(".quiet")["Nothing waits for you."],
        h.p[h.a(href="/approvals")[f"{count(more, 'more')} to decide"]] if more > 0 else None,
    ]


def _question(reader: Reader, one: ApprovalRequest, found: _Found) -> h.Element:
    late = one.expires_at
    return h.li[
        h.a(".home-row", href=f"/approvals/{one.id}")[
            icon("hand"),
            h.span(".home-what")[
                h.b[_named(one.tool, found)],
                _with(one),
                f" asked for by {_behind(reader, one.principal.user, one.principal.agent, found)}",
            ],
            level_mark(one.level, one.danger),
            h.span(".when")["expires ", when(late, reader.now)] if late else when(one.created_at, reader.now),
        ]
    ]


def _with(one: ApprovalRequest) -> h.Node:
    """The argument that says most of what is asked: the first text, such as a command or a path."""
    texts = (value for value in one.args.values() if isinstance(value, str) and value != MASK)
    first = next(texts, None)
    return None if first is None else [" ", drawing.brief(first)]


def _ran(reader: Reader, found: _Found) -> h.Element:
    return h.section(".home-block", aria_labelledby="home-ran")[
        h.h2("#home-ran")["What you ran"],
        _runs(reader, found.mine, found, whose=False)
        if found.mine
        else h.p(".quiet")["You have run nothing yet. ", h.a(href="/tools")["Run your first tool"], "."],
    ]


def _failed(reader: Reader, found: _Found) -> h.Element:
    return h.section(".home-block", aria_labelledby="home-failed")[
        h.h2("#home-failed")["Failed in the last seven days"], _runs(reader, found.failed, found, whose=True)
    ]


def _runs(reader: Reader, runs: Iterable[Run], found: _Found, *, whose: bool) -> h.Element:
    return h.ul(".home-list")[(_run(reader, run, found, whose) for run in runs)]


def _run(reader: Reader, run: Run, found: _Found, whose: bool) -> h.Element:
    took = None if run.ended_at is None else h.span(".quiet")[span(run.ended_at - run.began_at)]
    by = f" by {_behind(reader, run.user, run.agent, found)}" if whose or run.agent else ""
    return h.li(id=f"home-{run.id}-{'failed' if whose else 'ran'}")[
        h.a(".home-row", href=f"/runs/{run.id}")[
            state(run.status),
            h.span(".home-what")[h.b[_named(run.tool, found)], by],
            took,
            when(run.began_at, reader.now),
        ]
    ]


def _tools(title: str, tools: list[Tool], said: str) -> h.Element:
    name = f"home-{title.partition(' ')[0].lower()}"
    return h.section(".home-block", aria_labelledby=name)[
        h.h2(id=name)[title],
        h.ul(".home-tools")[
            (h.li[h.a(".home-tool", href=url_of(one))[icon(one.icon), one.name]] for one in tools)
        ]
        if tools
        else h.p(".quiet")[said],
    ]


def _named(tool: str, found: _Found) -> str:
    known = found.named.get(tool)
    return tool if known is None else known.name


def _behind(reader: Reader, user: str | None, agent: str | None, found: _Found) -> str:
    """Who did it, for this reader."""
    if agent is not None:
        return f"agent “{agent}”"
    if user is None:
        return "a program"
    return "you" if user == reader.who.user else called(user, found.people)
