"""A call that is not over: it runs or waits for a person, and its column listens until it has ended."""

from __future__ import annotations

import htpy as h

from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.guard.approval import ApprovalRequest
from handrail.core.run.approvals import may_decide
from handrail.doors.web.icons import icon
from handrail.doors.web.live import live_url, topic
from handrail.doors.web.pages.tools.known import url_of
from handrail.doors.web.pages.tools.standing import Standing, is_mine
from handrail.doors.web.routing import Reader
from handrail.doors.web.words import when


def draw_live(reader: Reader, tool: Tool, stands: Standing) -> h.Element:
    """What is going on; the stream stays open as long as this stands on the page."""
    news = live_url([topic("call", stands.call_id)])
    return h.div("#call-live", {"hx-sse:connect": news, "hx-swap": "none"})[
        draw_state(reader, tool, stands),
        h.pre(".tool-output", role="log", aria_label="Output so far", tabindex="0")[
            draw_more(tool, stands.call_id, stands.first_seq, at_once=True)
        ],
        None if reader.by_htmx else _look_again(f"{url_of(tool)}?call={stands.call_id}"),
    ]


def _look_again(url: str) -> h.Element:
    """For browsers without script; in a part that a script brings in, it would count for all."""
    return h.noscript[
        h.meta({"http-equiv": "refresh"}, content=f"2;url={url}"), h.p[h.a(href=url)["Look again"]]
    ]


def draw_more(tool: Tool, call_id: str, after: int, *, at_once: bool) -> h.Element:
    """Where more output will stand: it asks for it whenever there is news, and makes way for it."""
    first = "load, " if at_once else ""
    asks = {
        "hx-get": f"{url_of(tool, 'call', call_id, 'output')}?after={after}",
        "hx-trigger": f"{first}{_news(call_id)}",
        "hx-swap": "outerHTML",
    }
    return h.span("#call-more", asks)


def draw_state(reader: Reader, tool: Tool, stands: Standing) -> h.Element:
    """The part that changes while a call goes on."""
    asks = {
        "hx-get": url_of(tool, "call", stands.call_id),
        "hx-trigger": _news(stands.call_id),
        "hx-swap": "outerMorph",
    }
    inner = _waiting(reader, tool, stands) if stands.waiting else _running(reader, tool, stands)
    return h.div("#call-state.tool-state", asks, aria_live="polite")[inner]


def _news(call_id: str) -> str:
    """When to ask again: something happened, or the stream was (re)opened and something may have."""
    return f"hello from:#call-live, {topic('call', call_id)} from:#call-live"


def _running(reader: Reader, tool: Tool, stands: Standing) -> h.Node:
    title = stands.progress.title if stands.progress is not None else None
    return [
        h.p(".tool-progress")[
            h.span(".tool-spinner", aria_hidden="true"),
            h.b["Running"],
            h.span("#call-title")[title],
        ],
        h.p(".quiet")["Began ", when(stands.began_at or stands.at, reader.now)],
        h.div(".row")[_cancel(reader, tool, stands)],
    ]


def _waiting(reader: Reader, tool: Tool, stands: Standing) -> h.Node:
    """Whose word it waits for, and the button if it is this reader's own."""
    asked = stands.approval
    if asked is None:
        return [h.p(".tool-progress")[icon("hand"), h.b["Needs approval"]]]
    decides, own = may_decide(reader.who, asked), may_confirm(reader.who, asked)
    return [
        h.p(".tool-progress")[icon("hand"), h.b["Needs your confirmation" if own else "Needs approval"]],
        h.p[_reason(asked.reason)],
        None if own else h.p[_who_decides(decides, asked)],
        h.p(".quiet")["Asked ", when(stands.at, reader.now), _until(reader, asked)],
        h.div(".row")[
            _button(tool, stands, "confirm", "Confirm and run") if own else None,
            h.a(".btn", href=f"/approvals/{asked.id}", data_variant="outline", data_size="sm")[
                "Open the approval"
            ]
            if decides and not own
            else None,
            _cancel(reader, tool, stands),
        ],
    ]


def may_confirm(who: Principal, asked: ApprovalRequest) -> bool:
    """Whether a call waits for nothing but a word of its own caller, and this is who."""
    return may_decide(who, asked) and asked.by == "caller" and asked.quorum == 1 and not asked.four_eyes


def _reason(said: str) -> str:
    """Why somebody is asked; that somebody is, stands above it."""
    said = said.removeprefix("Needs approval: ").removeprefix("Needs confirmation: ")
    return f"{said[:1].upper()}{said[1:]}{'' if said.endswith('.') else '.'}"


def _who_decides(me: bool, asked: ApprovalRequest) -> str:
    others = "Somebody who may decide on approvals can approve it"
    who = "You can decide on it" if me and not asked.four_eyes else others
    many = f"; {asked.quorum} people must agree" if asked.quorum > 1 else ""
    return f"{who}{many}{', but not whoever asked' if asked.four_eyes else ''}. Nothing has run yet."


def _until(reader: Reader, asked: ApprovalRequest) -> h.Node:
    return None if asked.expires_at is None else [", lapses ", when(asked.expires_at, reader.now)]


def _cancel(reader: Reader, tool: Tool, stands: Standing) -> h.Element | None:
    if not (is_mine(reader, stands.by) or reader.may("jobs.cancel")):
        return None
    return _button(tool, stands, "cancel", "Cancel", "outline")


def _button(tool: Tool, stands: Standing, verb: str, words: str, look: str | None = None) -> h.Element:
    url = url_of(tool, "call", stands.call_id, verb)
    asks = {"hx-post": url, "hx-target": "#result", "hx-swap": "outerHTML"}
    return h.form(asks, method="post", action=url)[
        h.button(".btn", type="submit", data_size="sm", data_variant=look)[words]
    ]
