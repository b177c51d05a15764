"""inbox: what waits for this reader, what they asked for and others decide, and what was decided lately."""

from __future__ import annotations

from collections.abc import Iterable

import htpy as h
from starlette.responses import Response

from handrail.doors.web.humanize import pluralize, status_badge, time_ago
from handrail.doors.web.layout import empty_state, page
from handrail.doors.web.pages.approvals.approval_view import (
    ApprovalView,
    approval_views,
    find_approval,
    with_call_end,
)
from handrail.doors.web.pages.approvals.card import card, decision_sentence, requester
from handrail.doors.web.responses import html
from handrail.doors.web.routing import PageContext, PageRouter

router = PageRouter()
_MAX_COUNTED = 100
MAX_CARDS = 50
"""Cards of one page."""
_MAX_DECIDED = 20
KEEP_DECIDED = 90.0
"""Seconds for which a card stays in its place after it was decided."""


@router.get("/approvals/badge")
async def badge(ctx: PageContext) -> Response:
    """How many wait for this reader."""
    waiting = await ctx.hr.approvals.list(ctx.who, limit=_MAX_COUNTED)
    waits = sum(ApprovalView(one, ctx.who, None).mine for one in waiting)
    return html(h.fragment[f"{waits}{'+' if waits == _MAX_COUNTED else ''}" if waits else None])


@router.get("/approvals")
async def inbox(ctx: PageContext) -> Response:
    after = ctx.query.get("after")
    return page(
        ctx,
        "Approvals",
        h.div(".head")[h.h1["Approvals"], _keys()],
        await _lists(ctx, after),
        active="approvals",
    )


@router.get("/approvals/list")
async def inbox_lists(ctx: PageContext) -> Response:
    """The same without the frame, for a page that heard that something changed."""
    return html(await _lists(ctx, ctx.query.get("after")))


@router.get("/approvals/{id}")
async def show_approval(ctx: PageContext) -> Response:
    """One question alone, as somebody opens it from a link."""
    approval = await find_approval(ctx, ctx.part("id"))
    return page(
        ctx,
        approval.request.tool,
        live_card(approval, ctx.now),
        h.p[h.a(href="/approvals")["All approvals"]],
        active="approvals",
        crumbs=[("Approvals", "/approvals")],
    )


@router.get("/approvals/{id}/card")
async def show_card(ctx: PageContext) -> Response:
    """One card, for a page that heard that something changed."""
    return html(live_card(await find_approval(ctx, ctx.part("id")), ctx.now))


def live_card(approval: ApprovalView, now: float) -> h.Element:
    """A card that asks again whenever something was decided."""
    asks = {
        "hx-get": f"/approvals/{approval.id}/card",
        "hx-trigger": f"approvals from:body, hello from:body, {_poll_trigger(approval)}",
        "hx-swap": "outerMorph",
    }
    return h.div(asks, id=f"alone-{approval.id}")[card(approval, now, alone=True)]


def _poll_trigger(approval: ApprovalView) -> str:
    """A vote is no event of the log, so another process does not hear of it."""
    return "every 5s" if approval.open and approval.request.quorum > 1 else "every 60s"


async def _lists(ctx: PageContext, after: str | None) -> h.Element:
    now, who = ctx.now, ctx.who
    waiting = await ctx.hr.approvals.list(who, after=after, limit=MAX_CARDS + 1)
    more = waiting[MAX_CARDS - 1].id if len(waiting) > MAX_CARDS else None
    over = await ctx.hr.approvals.decided(who, limit=_MAX_DECIDED)
    asks = await approval_views(ctx, [*waiting[:MAX_CARDS], *over])
    mine, others, lately = group_approvals(asks, now)
    mine = [await with_call_end(ctx, one) for one in mine]
    votes = any(one.open and one.request.quorum > 1 for one in asks)
    listen = {
        "hx-get": "/approvals/list" + (f"?after={after}" if after else ""),
        "hx-trigger": f"approvals from:body, hello from:body, every {5 if votes else 60}s",
        "hx-swap": "outerMorph",
    }
    return h.div("#asks.ask-lists", listen)[
        _waiting(mine, now),
        h.p[h.a(href=f"/approvals?after={more}")["Show what was asked later"]] if more else None,
        _cards("Waits for others", "ask-others", others, now) if others else None,
        _decided(lately, now) if lately else None,
    ]


def group_approvals(
    asks: Iterable[ApprovalView], now: float
) -> tuple[list[ApprovalView], list[ApprovalView], list[ApprovalView]]:
    """What waits for the reader or was just decided in its place; what waits for others; what is over."""
    mine: list[ApprovalView] = []
    others: list[ApprovalView] = []
    lately: list[ApprovalView] = []
    for one in asks:
        fresh = now - (one.request.decided_at or 0.0) < KEEP_DECIDED and one.is_reviewer
        (mine if one.mine or (fresh and not one.open) else others if one.open else lately).append(one)
    mine.sort(key=lambda one: (one.request.created_at, one.id))
    return mine, others, lately[:_MAX_DECIDED]


def _waiting(mine: list[ApprovalView], now: float) -> h.Element:
    if not mine:
        return h.section("#ask-mine")[
            empty_state(
                "Nothing needs your decision",
                "When an agent wants to do something that a person must agree to, it appears here by itself.",
                h.a(".btn", href="/runs", data_variant="outline")["See what ran"],
            )
        ]
    waits = sum(one.open for one in mine)
    title = f"{pluralize(waits, 'question')} for you" if waits else "Nothing more waits for you"
    return _cards(title, "ask-mine", mine, now)


def _cards(title: str, id: str, asks: list[ApprovalView], now: float) -> h.Element:
    return h.section(id=id, class_="ask-cards", aria_labelledby=f"{id}-title")[
        h.h2(id=f"{id}-title")[title], (card(one, now) for one in asks)
    ]


def _decided(asks: list[ApprovalView], now: float) -> h.Element:
    return h.section("#ask-lately", aria_labelledby="ask-lately-title")[
        h.h2("#ask-lately-title")["Decided lately"],
        h.ul(".ask-rows")[
            (
                h.li(id=f"row-{one.id}")[
                    h.a(".ask-row", href=f"/approvals/{one.id}")[
                        h.code[one.request.tool], h.span(".quiet")["for ", requester(one)]
                    ],
                    status_badge(one.request.status),
                    h.span(".ask-row-said")[decision_sentence(one)],
                    time_ago(one.request.decided_at or one.request.created_at, now),
                ]
                for one in asks
            )
        ],
    ]


def _keys() -> h.Element:
    return h.p(".quiet.ask-keys")[
        h.kbd(".kbd")["J"], " ", h.kbd(".kbd")["K"], " next and previous, ", h.kbd(".kbd")["?"], " all keys"
    ]
