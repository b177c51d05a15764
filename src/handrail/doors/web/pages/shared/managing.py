"""What whoever manages a session does with it: share it, take the link back, close, reopen, cancel."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.core.errors import HandrailError
from handrail.doors.web import controls as c
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.shared.seat import Seat, managed, shown
from handrail.doors.web.routing import Pages, Reader, go
from handrail.doors.web.words import ago, when
from handrail.store.tool_sessions import SessionStatus

pages = Pages()
_HERE = "/tools/{slug}/session/{id}"
_SPANS = {"3600": "For an hour", "86400": "For a day", "604800": "For a week", "2592000": "For 30 days"}


def draw_manage(reader: Reader, seat: Seat) -> h.Element:
    """What can be done with a session, in a row."""
    session, there = seat.session, seat.session.is_shared(reader.now)
    is_open = session.status == "active"
    return h.section(".panel.stack.shared-manage", aria_label="Manage this session")[
        h.p[_shared(reader, seat)] if is_open or there else None,
        h.div(".row")[
            _link_form(seat, there) if is_open and shareable(seat) else None,
            _act(seat, "unshare", "Take the link back", "unlink") if there else None,
            _act(seat, "close", "Close the session", "lock") if is_open else None,
            _act(seat, "reopen", "Reopen it", "lock-open") if session.status == "completed" else None,
            h.a(".btn", href=seat.url("cancel"), data_variant="ghost", data_size="sm")["Cancel it for good"]
            if session.status != "cancelled"
            else None,
        ],
    ]


def shareable(seat: Seat) -> bool:
    return seat.tool.level == "read" and seat.tool.policy == "auto"


def _shared(reader: Reader, seat: Seat) -> h.Node:
    """Who can come in, in words."""
    until = seat.session.share_expires_at
    if not shareable(seat):
        return "This tool can change things, so it is not shared by link. Members of the tenant can open it."
    if until is None or not seat.session.is_shared(reader.now):
        return "Nobody without an account can come in."
    after = h.span(".quiet")["A new link ends this one, and guests who came by it are out."]
    return h.fragment["Shared by link. The link ends ", when(until, reader.now), ". ", after]


def _link_form(seat: Seat, there: bool) -> h.Element:
    return h.form(".row", method="post", action=seat.url("share"))[
        h.label(".sr-only", for_="lifetime")["How long the link lives"],
        h.select("#lifetime.select", name="lifetime")[
            (h.option(value=value, selected=value == "604800")[word] for value, word in _SPANS.items())
        ],
        h.button(".btn", type="submit", data_variant="outline", data_size="sm")[
            icon("link"), "Make a new link" if there else "Make a link"
        ],
    ]


def _act(seat: Seat, what: str, label: str, sign: str) -> h.Element:
    return h.form(method="post", action=seat.url(what))[
        h.button(".btn", type="submit", data_variant="outline", data_size="sm")[icon(sign), label]
    ]


async def _turn(reader: Reader, status: SessionStatus) -> Response:
    seat = await managed(reader)
    await reader.offices.tool_sessions.turn(seat.session, status)
    reader.web.watching.tell(seat.session)
    return go(seat.url())


@pages.post(f"{_HERE}/close")
async def close(reader: Reader) -> Response:
    return await _turn(reader, "completed")


@pages.post(f"{_HERE}/reopen")
async def reopen(reader: Reader) -> Response:
    return await _turn(reader, "active")


@pages.get(f"{_HERE}/cancel")
async def ask_cancel(reader: Reader) -> Response:
    seat = await managed(reader)
    return shown(
        reader,
        seat,
        "Cancel the session?",
        h.section(".panel.stack.shared-narrow")[
            h.h1[f"Cancel “{seat.session.title}”?"],
            h.p["Nothing more can be submitted, and it cannot be reopened. What was submitted stays."],
            h.form(".row", method="post", action=seat.url("cancel"))[
                c.submit("Cancel the session", "destructive"),
                h.a(".btn", href=seat.url(), data_variant="outline")["Keep it"],
            ],
        ],
    )


@pages.post(f"{_HERE}/cancel")
async def cancel(reader: Reader) -> Response:
    return await _turn(reader, "cancelled")


@pages.post(f"{_HERE}/share")
async def share(reader: Reader) -> Response:
    """The new link, to be copied: nobody can read it again."""
    seat = await managed(reader)
    span = c.text(await reader.form(), "lifetime")
    lifetime = float(span) if span in _SPANS else 604_800.0
    try:
        text, session = await reader.offices.tool_sessions.share(
            seat.who.principal, seat.session, seat.tool, lifetime
        )
    except HandrailError as refused:
        return shown(
            reader,
            seat,
            "Not shared",
            h.section(".message")[
                h.h1["Not shared"], h.p[str(refused)], h.p[h.a(href=seat.url())["Back to the session"]]
            ],
            status=409,
        )
    reader.web.watching.tell(session)
    url = f"{reader.request.url.scheme}://{reader.request.url.netloc}/join/{text.reveal()}"
    return shown(
        reader,
        Seat(session, seat.tool, seat.who, True),
        "The link",
        h.section(".panel.stack.shared-narrow")[
            h.h1["Send this link"],
            h.p["Copy it now: it is shown only here."],
            h.label(".label", for_="share-link")["The link"],
            h.div(".row.shared-link")[
                h.input("#share-link.input.mono", type="text", readonly=True, value=url),
                h.button(".btn", type="button", data_copy="share-link", data_variant="outline")[
                    icon("copy"), "Copy"
                ],
            ],
            h.p(".quiet")[
                "Whoever has it joins under a name of their choice, sees this session and submits to it. "
                f"It ends {ago(session.share_expires_at or 0, reader.now)}; you can take it back before."
            ],
            h.p[h.a(".btn", href=seat.url())["Back to the session"]],
        ],
    )


@pages.post(f"{_HERE}/unshare")
async def unshare(reader: Reader) -> Response:
    seat = await managed(reader)
    await reader.offices.tool_sessions.unshare(seat.session)
    reader.web.watching.tell(seat.session)
    return go(seat.url())
