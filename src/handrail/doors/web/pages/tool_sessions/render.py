"""How a tool session looks: what the answers come to, and whose they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import htpy as h

from handrail.core.define.names import humanize_field_name
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.doors.web.humanize import pluralize, time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.tool_sessions.access import SessionAccess
from handrail.doors.web.views.result import render_result
from handrail.identity.aggregates import Aggregate
from handrail.platform.display_text import visible, visible_json
from handrail.store.tool_sessions import ToolSession, ToolSessionSubmission

_COLUMNS = 5
_LONG = 60
_STATUS = {
    "active": ("open", "users", "good"),
    "completed": ("closed", "lock", "quiet"),
    "cancelled": ("cancelled", "circle-slash", "quiet"),
}


def session_badge(status: str) -> h.Element:
    word, sign, tone = _STATUS[status]
    return h.span(class_=f"mark mark-{tone}")[icon(sign), word]


def render_state(session: ToolSession, again: bool = False) -> h.Element:
    """Whether it is open; `again` puts it where it stands already."""
    there = {"hx-swap-oob": "true"} if again else {}
    said = {
        "completed": "This session is closed. Nothing more can be submitted.",
        "cancelled": "This session was cancelled. Nothing more can be submitted.",
    }.get(session.status)
    return h.div("#shared-state", there, role="status")[
        session_badge(session.status), h.p(".shared-over")[said] if said else None
    ]


def render_live(
    access: SessionAccess,
    given: Sequence[ToolSessionSubmission],
    made: Aggregate | None,
    now: float,
    asks: str,
) -> h.Element:
    """The part that is drawn anew when something changes, and when the stream begins: it may have before."""
    news = f"{asks} from:body, hello from:body"
    wants = {"hx-get": access.url("part"), "hx-trigger": news, "hx-swap": "outerMorph"}
    return h.div("#shared-live.stack", wants)[
        h.section(".panel.stack", aria_labelledby="together-title")[
            h.h2("#together-title")["Together"], _aggregate(access.tool, given, made)
        ],
        h.section(".panel.stack", aria_labelledby="answers-title")[
            h.div(".head")[
                h.h2("#answers-title")["Answers"],
                h.span(".quiet")[pluralize(len(given), "person has", "people have") + " answered"]
                if given
                else None,
            ],
            _answers(access, given, now) if given else h.p(".quiet")["Nobody has answered yet."],
            _exports(access) if given else None,
        ],
    ]


def _aggregate(tool: Tool, given: Sequence[ToolSessionSubmission], made: Aggregate | None) -> h.Node:
    if tool.aggregate is None:
        return h.p(".quiet")["This tool does not put the answers together. They stand below."]
    if not given:
        return h.p(".quiet")["What the answers come to stands here, as soon as there is one."]
    if made is None or made.error is not None:
        return h.p(".quiet", role="status")[made.error if made is not None else "Look again in a moment."]
    known = isinstance(made.data, dict) and any(one.key in made.data for one in tool.sections)
    return render_result(tool if known else None, Result(data=made.data), id="together")


def _answers(access: SessionAccess, given: Sequence[ToolSessionSubmission], now: float) -> h.Element:
    names = _columns(given)
    return h.div(".table-container", tabindex="0", role="region", aria_label="Table of answers")[
        h.table(".table.shared-answers")[
            h.thead[
                h.tr[
                    h.th(scope="col")["Who"],
                    (h.th(scope="col")[visible(humanize_field_name(name) or name)] for name in names),
                    h.th(scope="col")[h.span(".sr-only")["More"]],
                ]
            ],
            h.tbody[(_answer(access, one, names, now) for one in given)],
        ]
    ]


def _answer(access: SessionAccess, one: ToolSessionSubmission, names: Sequence[str], now: float) -> h.Element:
    values: Mapping[str, Any] = one.input if isinstance(one.input, dict) else {}
    return h.tr(id=f"answer-{one.id}")[
        h.th(scope="row")[submitter(one, access), ", ", time_ago(one.created_at, now)],
        (h.td[_shorten(values.get(name))] for name in names),
        h.td[
            h.a(href=access.url("answer", one.id))[
                "All of it", h.span(".sr-only")[f" of {one.user_display_name}"]
            ]
        ],
    ]


def submitter(one: ToolSessionSubmission, access: SessionAccess | None = None) -> h.Fragment:
    """Whose an answer is; a guest is told apart, whatever name they chose."""
    mine = access is not None and one.user_id == access.who.id
    return h.fragment[
        h.b[one.user_display_name or "somebody"],
        h.span(".quiet")[" (guest)"] if one.user_id.startswith("guest:") else None,
        h.span(".quiet")[" (you)"] if mine else None,
    ]


def _columns(given: Sequence[ToolSessionSubmission]) -> list[str]:
    """The first few names that were filled in with something that fits a cell."""
    found: dict[str, None] = {}
    for one in given:
        if isinstance(one.input, dict):
            found |= {name: None for name, value in one.input.items() if not isinstance(value, dict | list)}
    return list(found)[:_COLUMNS]


def _shorten(value: Any) -> str:
    if value is None:
        return ""
    text = visible(value) if isinstance(value, str) else visible_json(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"


def _exports(access: SessionAccess) -> h.Element:
    return h.p(".row")[
        "Take it along: ",
        h.a(href=access.url("answers.csv"), download="")["CSV"],
        h.a(href=access.url("answers.json"), download="")["JSON"],
    ]
