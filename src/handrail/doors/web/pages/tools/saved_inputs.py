"""Saving an input under a name, renaming and removing it; and making a link of it."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.core.define.lookup import ToolDetails
from handrail.core.errors import UsageError
from handrail.doors.web.humanize import pluralize
from handrail.doors.web.pages.tools import preferences
from handrail.doors.web.pages.tools.inputs import ToolInput, posted_pairs, posted_value, read_input
from handrail.doors.web.pages.tools.page import ToolPageParts, saved_inputs_of, tool_page
from handrail.doors.web.responses import html
from handrail.doors.web.router import PageContext, PageRouter, redirect
from handrail.doors.web.tool_lookup import described_tool, tool_url

router = PageRouter()
_UNREADABLE = "The input is not JSON yet; set that right first."
_TOO_LONG = "This input is too long for a link. Save it under a name instead."


@router.post("/tools/{slug}/saved")
async def save(ctx: PageContext) -> Response:
    """Keep what stands in the form, whole or half-typed."""
    details = await described_tool(ctx)
    pairs = await posted_pairs(ctx)
    tool_input = read_input(details.tool, pairs)
    if not tool_input.readable:
        return await _refused(ctx, details, _UNREADABLE, tool_input)
    try:
        left_out = await ctx.services.preferences.save(
            ctx.who, details.tool, posted_value(pairs, preferences.NAME) or "", tool_input.args
        )
    except UsageError as error:
        return await _refused(ctx, details, str(error), tool_input)
    return await _saved(ctx, details, f"Saved. {_without_secrets(left_out)}".strip(), tool_input)


@router.post("/tools/{slug}/saved/rename")
async def rename(ctx: PageContext) -> Response:
    """The same input under another name, in the place of what had that name."""
    details = await described_tool(ctx)
    form = await ctx.form()
    old, new = str(form.get(preferences.FROM) or ""), str(form.get(preferences.NAME) or "")
    saved = next((item for item in await saved_inputs_of(ctx, details.tool) if item.name == old), None)
    if saved is None:
        return await _refused(ctx, details, "This input is not there any more.")
    if " ".join(new.split()) != old:
        try:
            await ctx.services.preferences.save(ctx.who, details.tool, new, saved.args)
        except UsageError as error:
            return await _refused(ctx, details, str(error))
        await ctx.services.preferences.remove(ctx.who, details.tool.id, old)
    return await _saved(ctx, details, "Renamed.")


@router.post("/tools/{slug}/saved/remove")
async def remove(ctx: PageContext) -> Response:
    """Forget one."""
    details = await described_tool(ctx)
    form = await ctx.form()
    await ctx.services.preferences.remove(ctx.who, details.tool.id, str(form.get(preferences.NAME) or ""))
    return await _saved(ctx, details, "Removed.")


@router.post("/tools/{slug}/link")
async def link(ctx: PageContext) -> Response:
    """A link to this page with this input in it."""
    details = await described_tool(ctx)
    tool_input = read_input(details.tool, await posted_pairs(ctx))
    element, status = _render_link(ctx, details, tool_input)
    if ctx.by_htmx:
        return html(element, status)
    return await tool_page(ctx, details, tool_input, ToolPageParts(link=element, status=status))


def _render_link(ctx: PageContext, details: ToolDetails, tool_input: ToolInput) -> tuple[h.Element, int]:
    if not tool_input.readable:
        return preferences.render_input_link(details.tool, text=_UNREADABLE), 422
    try:
        path, left_out = preferences.input_link(details.tool, tool_input.args)
    except preferences.LinkTooLong:
        return preferences.render_input_link(details.tool, text=_TOO_LONG), 422
    text = _without_secrets(left_out) or "Whoever may use this tool finds the form filled in like this."
    return preferences.render_input_link(
        details.tool, str(ctx.request.base_url).rstrip("/") + path, text
    ), 200


def _without_secrets(left_out: tuple[str, ...]) -> str:
    return f"{pluralize(len(left_out), 'secret')} left out: type it again each time." if left_out else ""


async def _saved(
    ctx: PageContext, details: ToolDetails, text: str, tool_input: ToolInput | None = None
) -> Response:
    if tool_input is None and not ctx.by_htmx:
        return redirect(tool_url(details.tool))
    return await _answer(ctx, details, text, tool_input, 200)


async def _refused(
    ctx: PageContext, details: ToolDetails, text: str, tool_input: ToolInput | None = None
) -> Response:
    return await _answer(ctx, details, text, tool_input, 422)


async def _answer(
    ctx: PageContext, details: ToolDetails, text: str, tool_input: ToolInput | None, status: int
) -> Response:
    """The list of saved inputs, or without script the page around it, with what was done or went wrong."""
    saved = await saved_inputs_of(ctx, details.tool)
    element = preferences.render_saved_inputs(details.tool, saved, text=text, is_wrong=status != 200)
    if ctx.by_htmx:
        return html(element, status)
    parts = ToolPageParts(saved=element, status=status)
    return await tool_page(ctx, details, tool_input or ToolInput(), parts)
