"""What waits for this reader, what they asked for and others decide, and what was decided lately."""

from __future__ import annotations

from collections.abc import Iterable

import htpy as h
from starlette.responses import Response

from handrail.doors.web import controls as c
from handrail.doors.web.humanize import pluralize, status_badge, time_ago
from handrail.doors.web.layout import empty_state, page
from handrail.doors.web.pages.approvals.approval_view import (
    ApprovalView,
    approval_views,
    find_approval,
    with_call_end,
)
from handrail.doors.web.pages.approvals.card import approval_page, card, decision_sentence, requester
from handrail.doors.web.responses import html
from handrail.doors.web.router import PageContext, PageRouter

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
    requests = await ctx.hr.approvals.list(ctx.who, limit=_MAX_COUNTED)
    count = sum(ApprovalView(request, ctx.who, None).mine for request in requests)
    return html(h.fragment[f"{count}{'+' if count == _MAX_COUNTED else ''}" if count else None])


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
    approval = await find_approval(ctx)
    return approval_page(ctx, approval, live_card(approval, ctx.now))


@router.get("/approvals/{id}/card")
async def show_card(ctx: PageContext) -> Response:
    """One card, for a page that heard that something changed."""
    return html(live_card(await find_approval(ctx), ctx.now))


def live_card(approval: ApprovalView, now: float) -> h.Element:
    """A card that asks again whenever something was decided."""
    asks = _refresh(f"/approvals/{approval.id}/card", [approval])
    return h.div(asks, id=f"alone-{approval.id}")[card(approval, now, alone=True)]


def _refresh(url: str, approvals: Iterable[ApprovalView]) -> dict[str, str]:
    """Ask again when something was decided. A vote is no event of the log, so another process does not hear
    of it: where votes are counted, ask often."""
    has_votes = any(approval.open and approval.request.quorum > 1 for approval in approvals)
    poll = "every 5s" if has_votes else "every 60s"
    return c.refresh_on(url, "approvals from:body", "hello from:body", poll)


async def _lists(ctx: PageContext, after: str | None) -> h.Element:
    now, who = ctx.now, ctx.who
    waiting = await ctx.hr.approvals.list(who, after=after, limit=MAX_CARDS + 1)
    more = waiting[MAX_CARDS - 1].id if len(waiting) > MAX_CARDS else None
    decided = await ctx.hr.approvals.decided(who, limit=_MAX_DECIDED)
    approvals = await approval_views(ctx, [*waiting[:MAX_CARDS], *decided])
    mine, others, lately = group_approvals(approvals, now)
    mine = [await with_call_end(ctx, approval) for approval in mine]
    asks = _refresh("/approvals/list" + (f"?after={after}" if after else ""), approvals)
    return h.div("#asks.ask-lists", asks)[
        _waiting(mine, now),
        h.p[h.a(href=f"/approvals?after={more}")["Show what was asked later"]] if more else None,
        _cards("Waits for others", "ask-others", others, now) if others else None,
        _decided(lately, now) if lately else None,
    ]


def group_approvals(
    approvals: Iterable[ApprovalView], now: float
) -> tuple[list[ApprovalView], list[ApprovalView], list[ApprovalView]]:
    """What waits for the reader or was just decided in its place; what waits for others; what is over."""
    mine: list[ApprovalView] = []
    others: list[ApprovalView] = []
    lately: list[ApprovalView] = []
    for approval in approvals:
        is_fresh = now - (approval.request.decided_at or 0.0) < KEEP_DECIDED and approval.is_reviewer
        stays = approval.mine or (is_fresh and not approval.open)
        (mine if stays else others if approval.open else lately).append(approval)
    mine.sort(key=lambda approval: (approval.request.created_at, approval.id))
    return mine, others, lately[:_MAX_DECIDED]


def _waiting(mine: list[ApprovalView], now: float) -> h.Element:
    if not mine:
        return h.section("#ask-mine")[
            empty_state(
                "Nothing needs your decision",
                "When an agent wants to do something that a person must agree to, it appears here by itself.",
                c.link_button("/runs", "See what ran", "outline"),
            )
        ]
    count = sum(approval.open for approval in mine)
    title = f"{pluralize(count, 'question')} for you" if count else "Nothing more waits for you"
    return _cards(title, "ask-mine", mine, now)


def _cards(title: str, id: str, approvals: list[ApprovalView], now: float) -> h.Element:
    return h.section(id=id, class_="ask-cards", aria_labelledby=f"{id}-title")[
        h.h2(id=f"{id}-title")[title], (card(approval, now) for approval in approvals)
    ]


def _decided(approvals: list[ApprovalView], now: float) -> h.Element:
    def row(approval: ApprovalView) -> h.Element:
        request = approval.request
        return h.li(id=f"row-{approval.id}")[
            h.a(".ask-row", href=f"/approvals/{approval.id}")[
                h.code[request.tool], h.span(".quiet")["for ", requester(approval)]
            ],
            status_badge(request.status),
            h.span(".ask-row-said")[decision_sentence(approval)],
            time_ago(request.decided_at or request.created_at, now),
        ]

    return h.section("#ask-lately", aria_labelledby="ask-lately-title")[
        h.h2("#ask-lately-title")["Decided lately"], h.ul(".ask-rows")[map(row, approvals)]
    ]


def _keys() -> h.Element:
    return h.p(".quiet.ask-keys")[
        h.kbd(".kbd")["J"], " ", h.kbd(".kbd")["K"], " next and previous, ", h.kbd(".kbd")["?"], " all keys"
    ]
