"""CallView: how a call of a tool stands, for whoever may see that; and the panel that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import htpy as h

from handrail.core.define.call import Outcome
from handrail.core.define.principal import Principal
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.core.guard.approval_request import ApprovalRequest
from handrail.core.run.approvals.inbox import may_decide
from handrail.core.tell.events import Event, NeedsApproval, Progress, ToolCancelled, ToolFailed, ToolStarted
from handrail.core.tell.projections import outcome_of
from handrail.core.tell.runs import Run
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import capitalize, duration, status_badge, time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.live import live_url, topic
from handrail.doors.web.pages.runs.result import large_result_link, render_call_result, view_parameters
from handrail.doors.web.pages.runs.run_view import display_names_for
from handrail.doors.web.pages.tools.inputs import KEY, new_form_key
from handrail.doors.web.router import PageContext, PageNotFound
from handrail.doors.web.timeline.render import run_url
from handrail.doors.web.timeline.sentences import canceller, describe_ending
from handrail.doors.web.tool_lookup import tool_url
from handrail.doors.web.views.result import render_result
from handrail.doors.web.views.text import paragraph
from handrail.platform.access import find_call, is_plausible_id
from handrail.platform.calls import wait_for_outcome

CALL = "_call"
"""Under this name a form posts which call is to be made again."""

_MAX_LINE = 500
"""Characters of what a large result says that stand in the page at once."""


@dataclass(frozen=True, slots=True)
class CallView:
    """One call, as it stands now."""

    first: Event
    """The event with which its record begins."""
    input: Mapping[str, Any]
    outcome: Outcome | None
    """None while it runs."""
    started: ToolStarted | None = None
    """The event with which its body began, the last time."""
    approval: ApprovalRequest | None = None
    """What it waits for, or waited for."""
    progress: Progress | None = None
    ending: str | None = None
    """How it ended, in a sentence, where it was cancelled or never began."""

    @property
    def call_id(self) -> str:
        return self.first.call_id

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for a person."""
        return self.outcome is not None and self.outcome.status == "pending"

    @property
    def is_open(self) -> bool:
        """Whether there is more to come."""
        return self.outcome is None or self.is_waiting


async def find_call_view(ctx: PageContext, tool: Tool, call_id: str) -> CallView:
    """How a call of this tool stands. For whoever may not see it there is none."""
    call = await find_call(ctx.platform, call_id, ctx.who, "events.read", ctx.source)
    if call is None or call.first is None or call.first.tool != tool.id:
        raise PageNotFound
    tenant = ctx.who.tenant
    events = await ctx.platform.events.call_events(tenant, call_id)
    outcome = outcome_of(events)
    if outcome is None or outcome.status == "pending":
        outcome = await wait_for_outcome(ctx.hr, tenant, call_id, 0.0) or outcome
    question = next((event.approval_id for event in events if isinstance(event, NeedsApproval)), None)
    approval = await ctx.hr.approvals.get(question, ctx.who) if question else None
    inputs = [args for event in events if (args := getattr(event, "input", None)) is not None]
    return CallView(
        call.first,
        inputs[-1] if inputs else {},
        outcome,
        next((event for event in reversed(events) if isinstance(event, ToolStarted)), None),
        approval,
        ctx.web.live.progress.get(call_id),
        await _ending(ctx, events[-1], approval) if events else None,
    )


async def _ending(ctx: PageContext, last: Event, approval: ApprovalRequest | None) -> str | None:
    """What is said of a call that nobody let come to a result."""
    if not isinstance(last, ToolFailed | ToolCancelled):
        return None
    if isinstance(last, ToolFailed) and last.layer is None:
        return None
    decider = approval.decided_by if approval is not None else None
    users = [decider, canceller(last) if isinstance(last, ToolCancelled) else None]
    decided = {approval.id: decider} if approval is not None and decider is not None else {}
    display_names = await display_names_for(ctx, users, decided)
    return describe_ending(last, display_names, approval.id if approval is not None else None).sentence


async def find_run_of_tool(ctx: PageContext, tool: Tool, run_id: str) -> Run:
    """A run of this tool."""
    run = await ctx.platform.events.run(ctx.who.tenant, run_id) if is_plausible_id(run_id) else None
    if run is None or run.tool != tool.id:
        raise PageNotFound
    return run


async def last_call(ctx: PageContext, tool: Tool) -> CallView | None:
    """This reader's newest run of a tool."""
    user = ctx.who.user
    runs = await ctx.hr.runs(ctx.who, tool=tool.id, user=user, limit=5) if user is not None else []
    newest = next((run for run in runs if run.agent == ctx.who.agent), None)
    try:
        return None if newest is None else await find_call_view(ctx, tool, newest.call_id)
    except PageNotFound:
        return None


def render_live_call(ctx: PageContext, tool: Tool, call_view: CallView) -> h.Element:
    """What is going on; the stream stays open as long as this stands on the page."""
    news = live_url([topic("call", call_view.call_id)])
    return h.div("#call-live", {"hx-sse:connect": news, "hx-swap": "none"})[
        render_call_state(ctx, tool, call_view),
        h.pre(".tool-output", role="log", aria_label="Output so far", tabindex="0")[
            render_output_tail(tool, call_view.call_id, call_view.first.seq, at_once=True)
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
    asks = c.refresh_on(tool_url(tool, "call", call_view.call_id), _call_news(call_view.call_id))
    content = _waiting(ctx, tool, call_view) if call_view.is_waiting else _running(ctx, tool, call_view)
    return h.div("#call-state.tool-state", asks, aria_live="polite")[content]


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
        h.p(".quiet")["Began ", time_ago((call_view.started or call_view.first).at, ctx.now)],
        h.div(".row")[_cancel(ctx, tool, call_view)],
    ]


def _waiting(ctx: PageContext, tool: Tool, call_view: CallView) -> h.Node:
    """Whose word it waits for, and the button if it is this reader's own."""
    request = call_view.approval
    if request is None:
        return [h.p(".tool-progress")[icon("hand"), h.b["Needs approval"]]]
    decides, own = may_decide(ctx.who, request), may_confirm(ctx.who, request)
    return [
        h.p(".tool-progress")[icon("hand"), h.b["Needs your confirmation" if own else "Needs approval"]],
        h.p[_reason(request.reason)],
        None if own else h.p[_who_decides(decides, request)],
        h.p(".quiet")["Asked ", time_ago(call_view.first.at, ctx.now), _until(ctx, request)],
        h.div(".row")[
            _button(tool, call_view, "confirm", "Confirm and run") if own else None,
            c.small_link(f"/approvals/{request.id}", "Open the approval") if decides and not own else None,
            _cancel(ctx, tool, call_view),
        ],
    ]


def may_confirm(who: Principal, request: ApprovalRequest) -> bool:
    """Whether a call waits for nothing but a word of its own caller, and this is who."""
    return (
        may_decide(who, request) and request.by == "caller" and request.quorum == 1 and not request.four_eyes
    )


def _reason(text: str) -> str:
    """Why somebody is asked; that somebody is, stands above it."""
    text = text.removeprefix("Needs approval: ").removeprefix("Needs confirmation: ")
    return f"{capitalize(text)}{'' if text.endswith('.') else '.'}"


def _who_decides(me: bool, request: ApprovalRequest) -> str:
    others = "Somebody who may decide on approvals can approve it"
    who = "You can decide on it" if me and not request.four_eyes else others
    many = f"; {request.quorum} people must agree" if request.quorum > 1 else ""
    return f"{who}{many}{', but not whoever asked' if request.four_eyes else ''}. Nothing has run yet."


def _until(ctx: PageContext, request: ApprovalRequest) -> h.Node:
    return None if request.expires_at is None else [", lapses ", time_ago(request.expires_at, ctx.now)]


def _cancel(ctx: PageContext, tool: Tool, call_view: CallView) -> h.Element | None:
    maker = call_view.first.call.principal
    if not (ctx.who.is_same_caller(maker) or ctx.may("jobs.cancel")):
        return None
    return _button(tool, call_view, "cancel", "Cancel", "outline")


def _button(tool: Tool, call_view: CallView, verb: str, words: str, look: str | None = None) -> h.Element:
    url = tool_url(tool, "call", call_view.call_id, verb)
    return h.form(c.post_into(url, "#result"), method="post", action=url)[c.submit(words, look, "sm")]


def render_result_panel(ctx: PageContext, tool: Tool, call_view: CallView | None) -> h.Element:
    """The panel; before the first run, what will be here."""
    if call_view is None:
        return _panel(None, h.p(".tool-none")["The result will be here."])
    if call_view.outcome is None or call_view.is_waiting:
        return _panel(None, render_live_call(ctx, tool, call_view))
    return _ended(ctx, tool, call_view, call_view.outcome)


def render_outcome_panel(tool: Tool, outcome: Outcome) -> h.Element:
    """The panel of a call of which the log tells nothing: it was planned, or never began."""
    return _panel(status_badge(outcome.status), render_result(tool, outcome.result, id="out"))


def _panel(head: h.Node, *body: h.Node) -> h.Element:
    return h.section("#result.panel.tool-panel", aria_labelledby="result-title")[
        h.div(".tool-panel-head")[h.h2("#result-title", tabindex="-1")["Result"], head], body
    ]


def _ended(ctx: PageContext, tool: Tool, call_view: CallView, outcome: Outcome) -> h.Element:
    took = f" · {duration(outcome.duration_ms / 1000)}" if call_view.started else None
    return _panel(
        h.div(".row")[
            status_badge(outcome.status), h.span(".quiet")[time_ago(call_view.first.at, ctx.now), took]
        ],
        h.p(".tool-ended")[call_view.ending]
        if call_view.ending
        else h.div("#tool-result")[_result(ctx, tool, call_view, outcome.result)],
        _next_steps(tool, call_view, outcome),
    )


def _result(ctx: PageContext, tool: Tool, call_view: CallView, result: Result) -> h.Node:
    """The result; of a large one what it says in a line, and the rest when it is asked for."""
    if later := large_result_link(result, call_view.call_id, "tool-result"):
        text = result.error or result.summary or result.title or ""
        return [paragraph(text) if 0 < len(text) <= _MAX_LINE else None, later]
    query = {"call": call_view.call_id, **view_parameters(ctx)}
    return render_call_result(
        tool, result, call_view.call_id, here=tool_url(tool), query=query, args=call_view.input
    )


def _next_steps(tool: Tool, call_view: CallView, outcome: Outcome) -> h.Element:
    """What can be done next with a call that is over."""
    run = run_url(call_view.call_id)
    why, is_refused = f"{run}/why", outcome.status == "refused"
    asks = {**c.get_into(why, "#why", "innerHTML"), "hx-trigger": "toggle once"}
    again = c.small_submit([icon("rotate-cw"), "Run again"])
    return h.div(".tool-next")[
        h.details(asks)[
            h.summary[f"Why was this {'not ' if is_refused else ''}allowed?"],
            h.div("#why")[h.noscript[h.a(href=why)["Read what the rules say"]]],
        ],
        h.div(".row")[
            run_again_form(tool, call_view.call_id, again, **{"hx-sync": "this:drop"}),
            c.small_link(f"{tool_url(tool)}?call={call_view.call_id}", [icon("pencil"), "Edit the input"]),
            h.a(href=run)["The whole run"],
        ],
    ]


def run_again_form(tool: Tool, call_id: str, button: h.Element, **more: str) -> h.Element:
    """Runs the tool with the input of an earlier call."""
    url = tool_url(tool, "run")
    asks = {**c.post_into(url, "#result"), **more}
    return h.form(asks, method="post", action=url)[c.hidden(**{CALL: call_id, KEY: new_form_key()}), button]
