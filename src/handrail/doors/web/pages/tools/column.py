"""The column of a tool's result: how a call stands, in one place from its beginning to its end."""

from __future__ import annotations

from collections.abc import Mapping

import htpy as h

from handrail.core.define.call import Outcome
from handrail.core.define.tool import Tool
from handrail.core.run.approvals import may_decide
from handrail.doors.web.icons import icon
from handrail.doors.web.live import live_url, topic
from handrail.doors.web.pages.tools.inputs import KEY, new_key
from handrail.doors.web.pages.tools.known import url_of
from handrail.doors.web.pages.tools.standing import Standing, is_mine
from handrail.doors.web.routing import Reader
from handrail.doors.web.views.result import draw_result
from handrail.doors.web.words import ago, span, state, when

CALL = "_call"
"""Under this name a form posts which call is to be made again."""
_DRAWN = ("sort.", "all.")
"""How parts of an address begin that say how a result is to be drawn."""


def draw_column(reader: Reader, tool: Tool, stands: Standing | None) -> h.Element:
    """The column; before the first run, what will be here."""
    if stands is None:
        return _frame(None, h.p(".tool-none")["The result will be here."])
    if stands.is_open:
        return _frame(None, _live(reader, tool, stands))
    assert stands.outcome is not None
    return _ended(reader, tool, stands, stands.outcome)


def draw_outcome(tool: Tool, outcome: Outcome) -> h.Element:
    """The column of a call of which the log tells nothing: it was planned, or never began."""
    return _frame(state(outcome.status), draw_result(tool, outcome.result, id="out"))


def _frame(head: h.Node, *body: h.Node) -> h.Element:
    return h.section("#result.panel.tool-panel", aria_labelledby="result-title")[
        h.div(".tool-panel-head")[h.h2("#result-title", tabindex="-1")["Result"], head], body
    ]


def _live(reader: Reader, tool: Tool, stands: Standing) -> h.Element:
    """What is going on; the column listens for more until it is over."""
    news = live_url([topic("call", stands.call_id)])
    return h.div("#call-live", {"hx-sse:connect": news, "hx-swap": "none"})[
        draw_state(reader, tool, stands),
        h.pre(".tool-output", aria_label="Output so far", tabindex="0")[
            draw_more(tool, stands.call_id, stands.last_seq, at_once=True)
        ],
        h.noscript[
            h.meta({"http-equiv": "refresh"}, content=f"2;url={url_of(tool)}?call={stands.call_id}"),
            h.p[h.a(href=f"{url_of(tool)}?call={stands.call_id}")["Look again"]],
        ],
    ]


def draw_more(tool: Tool, call_id: str, after: int, *, at_once: bool) -> h.Element:
    """Where more output will stand: it asks for it whenever there is news, and makes way for it."""
    news = topic("call", call_id)
    first = "load, " if at_once else ""
    asks = {
        "hx-get": f"{url_of(tool, 'call', call_id, 'output')}?after={after}",
        "hx-trigger": f"{first}hello from:#call-live, {news} from:#call-live",
        "hx-swap": "outerHTML",
    }
    return h.span("#call-more", asks)


def draw_state(reader: Reader, tool: Tool, stands: Standing) -> h.Element:
    """The part that changes while a call goes on."""
    news = topic("call", stands.call_id)
    asks = {
        "hx-get": url_of(tool, "call", stands.call_id),
        "hx-trigger": f"hello from:#call-live, {news} from:#call-live",
        "hx-swap": "outerMorph",
    }
    inner = _waiting(reader, tool, stands) if stands.waiting else _running(reader, tool, stands)
    return h.div("#call-state.tool-state", asks, aria_live="polite")[inner]


def _running(reader: Reader, tool: Tool, stands: Standing) -> h.Node:
    title = stands.progress.title if stands.progress is not None else None
    return [
        h.p(".tool-progress")[
            h.span(".tool-spinner", aria_hidden="true"), h.b["Running"], h.span("#call-title")[title or "…"]
        ],
        h.p(".quiet")[f"Began {ago(stands.began_at or stands.at, reader.now)}"],
        _cancel(tool, stands) if is_mine(reader, stands.by) or reader.may("jobs.cancel") else None,
    ]


def _waiting(reader: Reader, tool: Tool, stands: Standing) -> h.Node:
    """Whose word it waits for, and the button if it is this reader's own."""
    asked = stands.approval
    own = asked is not None and asked.by == "caller" and asked.quorum == 1 and not asked.four_eyes
    decides = asked is not None and may_decide(reader.who, asked)
    title = "Needs your confirmation" if own and decides else "Needs approval"
    return [
        h.p(".tool-progress")[icon("hand"), h.b[title]],
        h.p[_reason(asked.reason)] if asked is not None else None,
        None
        if own
        else h.p[_who_decides(decides, asked.quorum if asked else 1, bool(asked and asked.four_eyes))],
        h.p(".quiet")["Asked ", when(stands.at, reader.now), _until(reader, stands)],
        h.div(".row")[
            _button(tool, stands, "confirm", "Confirm and run") if own and decides else None,
            h.a(".btn", href="/approvals", data_variant="outline")["Open the approval"]
            if decides and not own
            else None,
            _cancel(tool, stands) if is_mine(reader, stands.by) or reader.may("jobs.cancel") else None,
        ],
    ]


def _reason(said: str) -> str:
    return f"{said[:1].upper()}{said[1:]}{'' if said.endswith('.') else '.'}"


def _who_decides(me: bool, quorum: int, four_eyes: bool) -> str:
    who = (
        "You can decide on it"
        if me and not four_eyes
        else "Somebody who may decide on approvals can approve it"
    )
    more = f"; {quorum} people must agree" if quorum > 1 else ""
    return f"{who}{more}{', and not whoever asked' if four_eyes else ''}. Nothing has run yet."


def _until(reader: Reader, stands: Standing) -> h.Node:
    lapses = stands.approval.expires_at if stands.approval else None
    return None if lapses is None else [", lapses ", when(lapses, reader.now)]


def _cancel(tool: Tool, stands: Standing) -> h.Element:
    return _button(tool, stands, "cancel", "Cancel", "outline")


def _button(tool: Tool, stands: Standing, verb: str, words: str, look: str | None = None) -> h.Element:
    url = url_of(tool, "call", stands.call_id, verb)
    asks = {"hx-post": url, "hx-target": "#result", "hx-swap": "outerHTML"}
    return h.form(asks, method="post", action=url)[
        h.button(".btn", type="submit", data_size="sm", data_variant=look)[words]
    ]


def _ended(reader: Reader, tool: Tool, stands: Standing, outcome: Outcome) -> h.Element:
    run = f"/runs/{stands.run_id}" if stands.run_id else None
    told = [
        state(outcome.status),
        h.span(".quiet")[
            when(stands.at, reader.now), f" · {span(outcome.duration_ms / 1000)}" if run else None
        ],
    ]
    return _frame(
        h.div(".row")[told],
        draw_result(
            tool,
            outcome.result,
            args=stands.input,
            id="out",
            downloads=f"{run}/result" if run else None,
            frames=f"{run}/frames" if run else None,
            files=f"{run}/files" if run else None,
            here=url_of(tool),
            query={"call": stands.call_id, **_drawn(reader.query)},
        ),
        _steps(tool, stands, run),
    )


def _drawn(query: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in query.items() if name.startswith(_DRAWN)}


def _steps(tool: Tool, stands: Standing, run: str | None) -> h.Element:
    """What can be done next with a call that is over."""
    why = url_of(tool, "call", stands.call_id, "why")
    asks = {"hx-get": why, "hx-trigger": "toggle once", "hx-target": "#why", "hx-swap": "innerHTML"}
    again = url_of(tool, "run")
    return h.div(".tool-next")[
        h.details(asks)[
            h.summary["Why was this allowed?"],
            h.div("#why")[h.noscript[h.a(href=why)["Read what the rules say"]]],
        ],
        h.div(".row")[
            h.form(
                {"hx-post": again, "hx-target": "#result", "hx-swap": "outerHTML", "hx-sync": "this:drop"},
                method="post",
                action=again,
            )[
                h.input(type="hidden", name=CALL, value=stands.call_id),
                h.input(type="hidden", name=KEY, value=new_key()),
                h.button(".btn", type="submit", data_variant="outline", data_size="sm")[
                    icon("rotate-cw"), "Run again"
                ],
            ],
            h.a(".btn", href=f"{url_of(tool)}?call={stands.call_id}", data_variant="outline", data_size="sm")[
                icon("pencil"), "Edit the input"
            ],
            h.a(href=run)["The whole run"] if run else None,
        ],
    ]
