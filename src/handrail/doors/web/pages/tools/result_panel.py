"""The result panel of a tool: how a call stands, from its beginning to its end, in one place."""

from __future__ import annotations

from collections.abc import Mapping

import htpy as h

from handrail.core.define.call import Outcome
from handrail.core.define.principal import Principal
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.core.guard.approval_request import ApprovalRequest
from handrail.core.run.approvals.inbox import may_decide
from handrail.doors.web.humanize import duration, status_badge, time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.live import live_url, topic
from handrail.doors.web.pages.runs.result import large_result_link
from handrail.doors.web.pages.tools.call_view import CallView, is_own_call
from handrail.doors.web.pages.tools.inputs import KEY, new_form_key
from handrail.doors.web.pages.tools.lookup import tool_url
from handrail.doors.web.routing import PageContext
from handrail.doors.web.timeline.render import run_url
from handrail.doors.web.views.result import render_result
from handrail.doors.web.views.text import paragraph


def render_live_call(ctx: PageContext, tool: Tool, call_view: CallView) -> h.Element:
    """What is going on; the stream stays open as long as this stands on the page."""
    news = live_url([topic("call", call_view.call_id)])
    return h.div("#call-live", {"hx-sse:connect": news, "hx-swap": "none"})[
        render_call_state(ctx, tool, call_view),
        h.pre(".tool-output", role="log", aria_label="Output so far", tabindex="0")[
            render_output_tail(tool, call_view.call_id, call_view.first_seq, at_once=True)
        ],
        None if ctx.by_htmx else _reload_link(f"{tool_url(tool)}?call={call_view.call_id}"),
    ]


def _reload_link(url: str) -> h.Element:
    """For browsers without script; in a part that a script brings in, it would count for all."""
    return h.noscript[
        h.meta({"http-equiv": "refresh"}, content=f"2;url={url}"), h.p[h.a(href=url)["Look again"]]
    ]


def render_output_tail(tool: Tool, call_id: str, after: int, *, at_once: bool) -> h.Element:
    """Where more output will stand: it asks for it whenever there is news, and makes way for it."""
    first = "load, " if at_once else ""
    asks = {
        "hx-get": f"{tool_url(tool, 'call', call_id, 'output')}?after={after}",
        "hx-trigger": f"{first}{_call_news(call_id)}",
        "hx-swap": "outerHTML",
    }
    return h.span("#call-more", asks)


def render_call_state(ctx: PageContext, tool: Tool, call_view: CallView) -> h.Element:
    """The part that changes while a call goes on."""
    asks = {
        "hx-get": tool_url(tool, "call", call_view.call_id),
        "hx-trigger": _call_news(call_view.call_id),
        "hx-swap": "outerMorph",
    }
    inner = _waiting(ctx, tool, call_view) if call_view.waiting else _running(ctx, tool, call_view)
    return h.div("#call-state.tool-state", asks, aria_live="polite")[inner]


def _call_news(call_id: str) -> str:
    """When to ask again: something happened, or the stream was (re)opened and something may have."""
    return f"hello from:#call-live, {topic('call', call_id)} from:#call-live"


def _running(ctx: PageContext, tool: Tool, call_view: CallView) -> h.Node:
    title = call_view.progress.title if call_view.progress is not None else None
    return [
        h.p(".tool-progress")[
            h.span(".tool-spinner", aria_hidden="true"),
            h.b["Running"],
            h.span("#call-title")[title],
        ],
        h.p(".quiet")["Began ", time_ago(call_view.began_at or call_view.at, ctx.now)],
        h.div(".row")[_cancel(ctx, tool, call_view)],
    ]


def _waiting(ctx: PageContext, tool: Tool, call_view: CallView) -> h.Node:
    """Whose word it waits for, and the button if it is this reader's own."""
    asked = call_view.approval
    if asked is None:
        return [h.p(".tool-progress")[icon("hand"), h.b["Needs approval"]]]
    decides, own = may_decide(ctx.who, asked), may_confirm(ctx.who, asked)
    return [
        h.p(".tool-progress")[icon("hand"), h.b["Needs your confirmation" if own else "Needs approval"]],
        h.p[_reason(asked.reason)],
        None if own else h.p[_who_decides(decides, asked)],
        h.p(".quiet")["Asked ", time_ago(call_view.at, ctx.now), _until(ctx, asked)],
        h.div(".row")[
            _button(tool, call_view, "confirm", "Confirm and run") if own else None,
            h.a(".btn", href=f"/approvals/{asked.id}", data_variant="outline", data_size="sm")[
                "Open the approval"
            ]
            if decides and not own
            else None,
            _cancel(ctx, tool, call_view),
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


def _until(ctx: PageContext, asked: ApprovalRequest) -> h.Node:
    return None if asked.expires_at is None else [", lapses ", time_ago(asked.expires_at, ctx.now)]


def _cancel(ctx: PageContext, tool: Tool, call_view: CallView) -> h.Element | None:
    if not (is_own_call(ctx, call_view.by) or ctx.may("jobs.cancel")):
        return None
    return _button(tool, call_view, "cancel", "Cancel", "outline")


def _button(tool: Tool, call_view: CallView, verb: str, words: str, look: str | None = None) -> h.Element:
    url = tool_url(tool, "call", call_view.call_id, verb)
    asks = {"hx-post": url, "hx-target": "#result", "hx-swap": "outerHTML"}
    return h.form(asks, method="post", action=url)[
        h.button(".btn", type="submit", data_size="sm", data_variant=look)[words]
    ]


CALL = "_call"
"""Under this name a form posts which call is to be made again."""

_VIEW_PARAMETERS = ("sort.", "all.")
"""How parts of an address begin that say how a result is to be drawn."""

_MAX_LINE = 500
"""Characters of what a large result says that stand in the page at once."""


def render_result_panel(ctx: PageContext, tool: Tool, call_view: CallView | None) -> h.Element:
    """The column; before the first run, what will be here."""
    if call_view is None:
        return _panel(None, h.p(".tool-none")["The result will be here."])
    if call_view.is_open:
        return _panel(None, render_live_call(ctx, tool, call_view))
    assert call_view.outcome is not None
    return _ended(ctx, tool, call_view, call_view.outcome)


def render_outcome_panel(tool: Tool, outcome: Outcome) -> h.Element:
    """The column of a call of which the log tells nothing: it was planned, or never began."""
    return _panel(status_badge(outcome.status), render_result(tool, outcome.result, id="out"))


def _panel(head: h.Node, *body: h.Node) -> h.Element:
    return h.section("#result.panel.tool-panel", aria_labelledby="result-title")[
        h.div(".tool-panel-head")[h.h2("#result-title", tabindex="-1")["Result"], head], body
    ]


def _ended(ctx: PageContext, tool: Tool, call_view: CallView, outcome: Outcome) -> h.Element:
    took = f" · {duration(outcome.duration_ms / 1000)}" if call_view.run_id else None
    return _panel(
        h.div(".row")[status_badge(outcome.status), h.span(".quiet")[time_ago(call_view.at, ctx.now), took]],
        h.p(".tool-ended")[call_view.ending]
        if call_view.ending
        else h.div("#tool-result")[_result(ctx, tool, call_view, outcome.result)],
        _next_steps(tool, call_view, outcome),
    )


def _result(ctx: PageContext, tool: Tool, call_view: CallView, result: Result) -> h.Node:
    """The result; of a large one what it says in a line, and the rest when it is asked for."""
    if later := large_result_link(result, call_view.call_id, "tool-result"):
        said = result.error or result.summary or result.title or ""
        return [paragraph(said) if 0 < len(said) <= _MAX_LINE else None, later]
    run = run_url(call_view.call_id)
    return render_result(
        tool,
        result,
        args=call_view.input,
        id="out",
        downloads=f"{run}/result",
        frames=f"{run}/frame",
        files=f"{run}/files",
        here=tool_url(tool),
        query={"call": call_view.call_id, **_view_parameters(ctx.query)},
    )


def _view_parameters(query: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in query.items() if name.startswith(_VIEW_PARAMETERS)}


def _next_steps(tool: Tool, call_view: CallView, outcome: Outcome) -> h.Element:
    """What can be done next with a call that is over."""
    run = run_url(call_view.call_id)
    why, refused = f"{run}/why", outcome.status == "refused"
    asks = {"hx-get": why, "hx-trigger": "toggle once", "hx-target": "#why", "hx-swap": "innerHTML"}
    again = tool_url(tool, "run")
    return h.div(".tool-next")[
        h.details(asks)[
            h.summary[f"Why was this {'not ' if refused else ''}allowed?"],
            h.div("#why")[h.noscript[h.a(href=why)["Read what the rules say"]]],
        ],
        h.div(".row")[
            h.form(
                {"hx-post": again, "hx-target": "#result", "hx-swap": "outerHTML", "hx-sync": "this:drop"},
                method="post",
                action=again,
            )[
                h.input(type="hidden", name=CALL, value=call_view.call_id),
                h.input(type="hidden", name=KEY, value=new_form_key()),
                h.button(".btn", type="submit", data_variant="outline", data_size="sm")[
                    icon("rotate-cw"), "Run again"
                ],
            ],
            h.a(
                ".btn",
                href=f"{tool_url(tool)}?call={call_view.call_id}",
                data_variant="outline",
                data_size="sm",
            )[icon("pencil"), "Edit the input"],
            h.a(href=run)["The whole run"],
        ],
    ]
