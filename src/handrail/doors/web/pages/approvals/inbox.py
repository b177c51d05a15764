"""inbox: what waits for this reader, what they asked for and others decide, and what was decided lately."""

from __future__ import annotations

from collections.abc import Iterable

import htpy as h
from starlette.responses import Response

from handrail.doors.web.answer import html
from handrail.doors.web.frame import empty, page
from handrail.doors.web.pages.approvals.asking import Ask, ask_of, asks_of, with_end
from handrail.doors.web.pages.approvals.card import asker, card
from handrail.doors.web.pages.approvals.outcome import sentence
from handrail.doors.web.routing import Pages, Reader
from handrail.doors.web.words import count, state, when

pages = Pages()
_MANY = 100
SHOWN = 50
"""Cards of one page."""
_LATELY = 20
MOMENT = 90.0
"""Seconds for which a card stays in its place after it was decided."""


@pages.get("/approvals/badge")
async def badge(reader: Reader) -> Response:
    """How many wait for this reader."""
    waiting = await reader.hr.approvals.list(reader.who, limit=_MANY)
    waits = sum(Ask(one, reader.who, None).mine for one in waiting)
    return html(h.fragment[f"{waits}{'+' if waits == _MANY else ''}" if waits else None])


@pages.get("/approvals")
async def inbox(reader: Reader) -> Response:
    after = reader.query.get("after")
    return page(
        reader,
        "Approvals",
        h.div(".head")[h.h1["Approvals"], _keys()],
        await _lists(reader, after),
        active="approvals",
    )


@pages.get("/approvals/list")
async def lists(reader: Reader) -> Response:
    """The same without the frame, for a page that heard that something changed."""
    return html(await _lists(reader, reader.query.get("after")))


@pages.get("/approvals/{id}")
async def one(reader: Reader) -> Response:
    """One question alone, as somebody opens it from a link."""
    ask = await ask_of(reader, reader.part("id"))
    return page(
        reader,
        ask.request.tool,
        live_card(ask, reader.now),
        h.p[h.a(href="/approvals")["All approvals"]],
        active="approvals",
        crumbs=[("Approvals", "/approvals")],
    )


@pages.get("/approvals/{id}/card")
async def just_card(reader: Reader) -> Response:
    """One card, for a page that heard that something changed."""
    return html(live_card(await ask_of(reader, reader.part("id")), reader.now))


def live_card(ask: Ask, now: float) -> h.Element:
    """A card that asks again whenever something was decided."""
    asks = {
        "hx-get": f"/approvals/{ask.id}/card",
        "hx-trigger": f"approvals from:body, hello from:body, {_again(ask)}",
        "hx-swap": "outerMorph",
    }
    return h.div(asks, id=f"alone-{ask.id}")[card(ask, now, alone=True)]


def _again(ask: Ask) -> str:
    """A vote is no event of the log, so another process does not hear of it."""
    return "every 5s" if ask.open and ask.request.quorum > 1 else "every 60s"


async def _lists(reader: Reader, after: str | None) -> h.Element:
    now, who = reader.now, reader.who
    waiting = await reader.hr.approvals.list(who, after=after, limit=SHOWN + 1)
    more = waiting[SHOWN - 1].id if len(waiting) > SHOWN else None
    over = await reader.hr.approvals.decided(who, limit=_LATELY)
    asks = await asks_of(reader, [*waiting[:SHOWN], *over])
    mine, others, lately = sorted_out(asks, now)
    mine = [await with_end(reader, one) for one in mine]
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


def sorted_out(asks: Iterable[Ask], now: float) -> tuple[list[Ask], list[Ask], list[Ask]]:
    """What waits for the reader or was just decided in its place; what waits for others; what is over."""
    mine: list[Ask] = []
    others: list[Ask] = []
    lately: list[Ask] = []
    for one in asks:
        fresh = now - (one.request.decided_at or 0.0) < MOMENT and one.is_reviewer
        (mine if one.mine or (fresh and not one.open) else others if one.open else lately).append(one)
    mine.sort(key=lambda one: (one.request.created_at, one.id))
    return mine, others, lately[:_LATELY]


def _waiting(mine: list[Ask], now: float) -> h.Element:
    if not mine:
        return h.section("#ask-mine")[
            empty(
                "Nothing needs your decision",
                "When an agent wants to do something that a person must agree to, it appears here by itself.",
                h.a(".btn", href="/runs", data_variant="outline")["See what ran"],
            )
        ]
    waits = sum(one.open for one in mine)
    title = f"{count(waits, 'question')} for you" if waits else "Nothing more waits for you"
    return _cards(title, "ask-mine", mine, now)


def _cards(title: str, id: str, asks: list[Ask], now: float) -> h.Element:
    return h.section(id=id, class_="ask-cards", aria_labelledby=f"{id}-title")[
        h.h2(id=f"{id}-title")[title], (card(one, now) for one in asks)
    ]


def _decided(asks: list[Ask], now: float) -> h.Element:
    return h.section("#ask-lately", aria_labelledby="ask-lately-title")[
        h.h2("#ask-lately-title")["Decided lately"],
        h.ul(".ask-rows")[
            (
                h.li(id=f"row-{one.id}")[
                    h.a(".ask-row", href=f"/approvals/{one.id}")[
                        h.code[one.request.tool], h.span(".quiet")["for ", asker(one)]
                    ],
                    state(one.request.status),
                    h.span(".ask-row-said")[sentence(one)],
                    when(one.request.decided_at or one.request.created_at, now),
                ]
                for one in asks
            )
        ],
    ]


def _keys() -> h.Element:
    return h.p(".quiet.ask-keys")[
        h.kbd(".kbd")["J"], " ", h.kbd(".kbd")["K"], " next and previous, ", h.kbd(".kbd")["?"], " all keys"
    ]
