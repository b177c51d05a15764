"""The input panel of a tool: its form or its JSON, what can be done with it, and what its pickers offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import htpy as h
from starlette.responses import JSONResponse, Response

from handrail.core.define.tool import Tool
from handrail.doors.web.forms.fields import MISSING
from handrail.doors.web.forms.form import form_of
from handrail.doors.web.forms.options import NO_OPTIONS, PickerOptions, load_options
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.tools.inputs import KEY, MODE, TEXT, InputMode, ToolInput, to_json_text
from handrail.doors.web.pages.tools.lookup import requested_tool, tool_url
from handrail.doors.web.routing import PageContext, PageRouter

router = PageRouter()
_MAX_SEARCH = 200
_MAX_OPTIONS = 50


@router.get("/tools/{slug}/options")
async def picker_options(ctx: PageContext) -> Response:
    """Things of a type that the tool's form picks from, by what was typed so far."""
    tool = await requested_tool(ctx)
    type, text = ctx.query.get("type", ""), ctx.query.get("q", "").strip()[:_MAX_SEARCH]
    if type not in form_of(tool).types:
        return JSONResponse([])
    found = await ctx.web.options(ctx.who).search(type, text, _MAX_OPTIONS)
    return JSONResponse(
        [one.to_dict() for one in found[:_MAX_OPTIONS]], headers={"cache-control": "no-store"}
    )


async def load_picker_options(ctx: PageContext, tool: Tool) -> PickerOptions:
    """The first things of each type that the form picks from, and where a page can look for more."""
    types = form_of(tool).types
    if not types:
        return NO_OPTIONS
    return await load_options(
        sorted(types), ctx.web.options(ctx.who), tool_url(tool, "options"), _MAX_OPTIONS
    )


FORM_ID = "input-form"
"""The id of the form element."""
INPUT_MODES: Mapping[InputMode, str] = {"form": "Form", "json": "JSON"}


def render_panel(
    tool: Tool,
    given: ToolInput,
    *,
    note: h.Node = None,
    tools: h.Node = None,
    options: PickerOptions = NO_OPTIONS,
) -> h.Element:
    """The panel as it stands; `tools` are what else can be done with an input."""
    return h.section(".panel.tool-panel", aria_labelledby="input-title")[
        render_input(tool, given, note, options), tools
    ]


def render_input(
    tool: Tool, given: ToolInput, note: h.Node = None, options: PickerOptions = NO_OPTIONS
) -> h.Element:
    """The form element itself, by the face that it has now."""
    run = tool_url(tool, "run")
    asks = {
        "hx-post": run,
        "hx-target": "#result",
        "hx-swap": "outerHTML",
        "hx-sync": "this:drop",
        "data-check": tool_url(tool, "check"),
    }
    return h.form(
        asks, id=FORM_ID, method="post", action=run, enctype="multipart/form-data", novalidate=True
    )[
        h.button(type="submit", hidden=True, tabindex="-1"),  # Enter presses the first button
        h.input(type="hidden", name=MODE, value=given.mode),
        render_form_key(given.key),
        h.div(".tool-panel-head")[h.h2("#input-title")["Input"], _mode_switch(tool, given.mode)],
        note,
        render_fields(tool, given, options),
        h.div(".tool-panel-foot")[
            h.button("#run.btn", type="submit", data_run=True, title="Run it with this input")[
                icon("play"), "Run", h.kbd(".kbd")["⌘↵"]
            ],
        ],
    ]


def render_fields(tool: Tool, given: ToolInput, options: PickerOptions = NO_OPTIONS) -> h.Element:
    """The fields, or the text that stands for them."""
    return h.div("#input-fields")[_json(given) if given.mode == "json" else _form(tool, given, options)]


def render_form_key(key: str, again: bool = False) -> h.VoidElement:
    """The name of this drawn form; `again` puts it into a form that is open already."""
    there = {"hx-swap-oob": "true"} if again else {}
    return h.input("#input-key", there, type="hidden", name=KEY, value=key)


def _mode_switch(tool: Tool, mode: InputMode) -> h.Element:
    """Form or JSON; the other one is a button that posts everything and gets it back the other way."""
    return h.div(".tool-faces", role="group", aria_label="How to give the input")[
        (_mode_button(tool, value, words, value == mode) for value, words in INPUT_MODES.items())
    ]


def _mode_button(tool: Tool, value: InputMode, words: str, now: bool) -> h.Element:
    if now:
        return h.button(type="button", aria_pressed="true")[words]
    turn = f"{tool_url(tool, 'form')}?to={value}"
    asks = {"hx-post": turn, "hx-target": f"#{FORM_ID}", "hx-swap": "outerHTML"}
    return h.button(asks, type="submit", formaction=turn, formnovalidate=True, aria_pressed="false")[words]


def _form(tool: Tool, given: ToolInput, options: PickerOptions) -> h.Node:
    form = form_of(tool)
    if given.value is MISSING:
        return form.render(errors=given.errors, options=options)
    return form.render(given.value, given.errors, options=options)


def _json(given: ToolInput) -> h.Node:
    text = to_json_text(given.args) if given.text is None else given.text
    said = [given.said] if given.said else [_error_line(error.path, error.reason) for error in given.errors]
    wrong = {"aria-invalid": "true"} if said else {}
    return h.div(".form-field")[
        h.label(".form-label", for_="input-json")["Input as JSON"],
        h.textarea(
            "#input-json.textarea.mono",
            wrong,
            name=TEXT,
            rows=str(min(max(text.count("\n") + 2, 8), 30)),
            spellcheck="false",
            autocomplete="off",
            aria_describedby="input-json-help input-json-error" if said else "input-json-help",
        )["\n" + text],  # the first line break of a text area is not part of it
        h.p("#input-json-help.form-help")["Names and values, as the tool gets them."],
        _sentences(said) if said else None,
    ]


def _sentences(said: Sequence[str]) -> h.Element:
    if len(said) == 1:
        return h.p("#input-json-error.form-error")[said[0]]
    return h.ul("#input-json-error.form-error")[(h.li[one] for one in said)]


def _error_line(path: str, reason: str) -> str:
    return f"{path}: {reason}" if path else reason
