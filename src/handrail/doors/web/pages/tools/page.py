"""`/tools/{slug}`: the page of one tool, its form filled in as the address says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.define.lookup import ToolDetails
from handrail.core.define.redaction import drop_paths
from handrail.core.define.tool import Tool
from handrail.doors.web.humanize import level_badge
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import page
from handrail.doors.web.live import topic
from handrail.doors.web.pages.tools.call_view import CallView, find_call_view, find_run_of_tool, last_call
from handrail.doors.web.pages.tools.history import render_history
from handrail.doors.web.pages.tools.input_panel import (
    load_picker_options,
    render_fields,
    render_input,
    render_panel,
)
from handrail.doors.web.pages.tools.inputs import (
    TOUCHED,
    InputMode,
    InvalidJson,
    ToolInput,
    errors_at_touched,
    input_errors,
    posted_pairs,
    read_input,
)
from handrail.doors.web.pages.tools.lookup import described_tool, requested_tool, tool_url
from handrail.doors.web.pages.tools.preferences import (
    favourites_of,
    has_preferences,
    input_from_link,
    render_input_link,
    render_saved_inputs,
    render_star,
)
from handrail.doors.web.pages.tools.result_panel import render_result_panel
from handrail.doors.web.responses import html
from handrail.doors.web.routing import PageContext, PageNotFound, PageRouter
from handrail.store.preferences import SavedInput


@dataclass(frozen=True, slots=True)
class ToolPageParts:
    """What stands on the page beside the input."""

    call_view: CallView | None = None
    column: h.Element | None = None
    """In the place of how a call stands."""
    note: h.Node = None
    saved: h.Element | None = None
    linker: h.Element | None = None
    status: int = 200


async def tool_page(
    ctx: PageContext, known: ToolDetails, given: ToolInput, shown: ToolPageParts | None = None
) -> Response:
    """The page. Where nothing else is to be shown, the result is that of this reader's last run."""
    tool, shown = known.tool, shown or ToolPageParts()
    column = shown.column
    if column is None:
        column = render_result_panel(ctx, tool, shown.call_view or await last_call(ctx, tool))
    kept = shown.saved
    if kept is None and has_preferences(ctx):
        kept = render_saved_inputs(tool, await saved_inputs_of(ctx, tool))
    tools = h.div(".tool-keep")[kept, shown.linker or render_input_link(tool)]
    return page(
        ctx,
        tool.name,
        await _head(ctx, known),
        h.div(".tool-columns")[
            render_panel(
                tool, given, note=shown.note, tools=tools, options=await load_picker_options(ctx, tool)
            ),
            column,
        ],
        await render_history(ctx, tool),
        active="tools",
        crumbs=[("Tools", "/tools")],
        live=[topic("tool", tool.id)],
        status=shown.status,
    )


async def saved_inputs_of(ctx: PageContext, tool: Tool) -> Sequence[SavedInput]:
    return await ctx.services.preferences.saved(ctx.who, tool.id) if has_preferences(ctx) else ()


async def _head(ctx: PageContext, known: ToolDetails) -> h.Element:
    tool = known.tool
    starred = tool.id in await favourites_of(ctx)
    return h.header(".tool-head")[
        h.div(".head")[
            h.h1[h.span(".tool-head-icon")[icon(tool.icon)], tool.name],
            h.div(".row")[
                level_badge(tool.level, tool.danger),
                render_star(tool, starred) if has_preferences(ctx) else None,
                _menu(ctx, tool),
            ],
        ],
        h.p(".tool-about")[tool.description] if tool.description else None,
        h.p(".quiet")[_guard_note(known)] if _guard_note(known) else None,
        h.details(".tool-guidance")[h.summary["When to use it"], h.p[tool.guidance]]
        if tool.guidance
        else None,
    ]


def _guard_note(known: ToolDetails) -> str | None:
    """What a call will meet, where that is worth knowing beforehand."""
    decision = known.decision
    if decision.verdict == "ask":
        return (
            "Asks you to confirm before it runs."
            if decision.by == "caller"
            else "Needs approval before it runs."
        )
    return "Is planned first, and runs when the plan is run." if decision.verdict == "queue" else None


def _menu(ctx: PageContext, tool: Tool) -> h.Element:
    """What else there is to a tool."""
    return h.details(".menu")[
        h.summary(aria_label=f"More about {tool.name}")[icon("ellipsis")],
        h.div(".menu-list")[
            h.a(href=tool_url(tool, "session"))["Fill it in together"]
            if has_preferences(ctx) and tool.collaborative and ctx.may("tool_sessions.read")
            else None,
            h.a(href=f"/settings/embeds/new?tool={quote(tool.slug, safe='')}")["Publish it on a site"]
            if has_preferences(ctx) and tool.level == "read" and ctx.may("embeds.manage")
            else None,
            h.a(href=f"/runs?tool={quote(tool.id, safe='')}")["All its runs"],
            h.a(href=f"/api{tool_url(tool)}")["Its definition (JSON)"],
        ],
    ]


router = PageRouter()


@router.get("/tools/{slug}")
async def show(ctx: PageContext) -> Response:
    """The page: empty, or filled in by a link, a saved input or an earlier call."""
    known = await described_tool(ctx)
    given, note, call_view = await _prefilled_input(ctx, known.tool)
    return await tool_page(ctx, known, given, ToolPageParts(call_view=call_view, note=note))


async def _prefilled_input(ctx: PageContext, tool: Tool) -> tuple[ToolInput, h.Node, CallView | None]:
    query = ctx.query
    if query.get("input"):
        try:
            return ToolInput(value=input_from_link(tool, query["input"])), None, None
        except InvalidJson as error:
            return ToolInput(), h.p(".form-error", role="alert")[str(error)], None
    if query.get("saved"):
        found = next((one for one in await saved_inputs_of(ctx, tool) if one.name == query["saved"]), None)
        if found is None:
            raise PageNotFound
        return ToolInput(value=dict(found.args)), h.p(".quiet")[f"Filled in from “{found.name}”."], None
    call_id = query.get("call")
    if call_id is None and query.get("run"):
        call_id = (await find_run_of_tool(ctx, tool, query["run"])).call_id
    if call_id:
        call_view = await find_call_view(ctx, tool, call_id)
        args, left_out = drop_paths(dict(call_view.input), tool.secrets)
        note = h.p(".quiet")["Secrets are not kept: type them again."] if left_out else None
        return ToolInput(value=dict(args)), note, call_view
    return ToolInput(), None, None


@router.post("/tools/{slug}/form")
async def switch_mode(ctx: PageContext) -> Response:
    """The same input by the other face, with everything that was typed."""
    known = await described_tool(ctx)
    pairs = await posted_pairs(ctx)
    given = read_input(known.tool, pairs)
    if not given.done:
        mode: InputMode = "json" if ctx.query.get("to") == "json" else "form"
        given = given.turned(mode, known.tool.secrets)
    status = 200 if given.readable else 422
    if ctx.by_htmx:
        return html(
            render_input(known.tool, given, options=await load_picker_options(ctx, known.tool)), status
        )
    return await tool_page(ctx, known, given, ToolPageParts(status=status))


@router.post("/tools/{slug}/check")
async def check_input(ctx: PageContext) -> Response:
    """The form with what is wrong at the fields that somebody was at. The page takes only that from it."""
    tool = await requested_tool(ctx)
    pairs = await posted_pairs(ctx)
    given = read_input(tool, pairs)
    touched = [one for name, one in pairs if name == TOUCHED and isinstance(one, str)]
    errors = input_errors(tool, given)
    if given.mode == "form":
        errors = errors_at_touched(errors, given.value, touched)
    return html(h.fragment[render_fields(tool, replace(given, errors=errors))])
