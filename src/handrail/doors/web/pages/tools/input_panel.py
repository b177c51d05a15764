"""The input panel of a tool: its form or its JSON, what can be done with it, and what its pickers offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import htpy as h
from starlette.responses import JSONResponse, Response

from handrail.core.define.tool import Tool
from handrail.doors.web import controls as c
from handrail.doors.web.forms.form import form_of
from handrail.doors.web.forms.options import NO_OPTIONS, PickerOptions, load_options
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.tools.inputs import KEY, MODE, TEXT, InputMode, ToolInput, to_json_text
from handrail.doors.web.router import PageContext, PageRouter
from handrail.doors.web.tool_lookup import requested_tool, tool_url

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
    options = await ctx.web.options(ctx.who).search(type, text, _MAX_OPTIONS)
    rows = [option.to_dict() for option in options[:_MAX_OPTIONS]]
    return JSONResponse(rows, headers={"cache-control": "no-store"})


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


def render_input(
    tool: Tool, tool_input: ToolInput, note: h.Node = None, options: PickerOptions = NO_OPTIONS
) -> h.Element:
    """The form element itself, in the mode that it has now."""
    check = {"data-check": tool_url(tool, "check")}
    return c.upload_form(FORM_ID, tool_url(tool, "run"), "#result", **check)[
        h.button(type="submit", hidden=True, tabindex="-1"),  # Enter presses the first button
        h.input(type="hidden", name=MODE, value=tool_input.mode),
        render_form_key(tool_input.key),
        h.div(".tool-panel-head")[h.h2("#input-title")["Input"], _mode_switch(tool, tool_input.mode)],
        note,
        render_fields(tool, tool_input, options),
        h.div(".tool-panel-foot")[
            h.button("#run.btn", type="submit", data_run=True, title="Run it with this input")[
                icon("play"), "Run", h.kbd(".kbd")["⌘↵"]
            ],
        ],
    ]


def render_fields(tool: Tool, tool_input: ToolInput, options: PickerOptions = NO_OPTIONS) -> h.Element:
    """The fields, or the text that stands for them."""
    if tool_input.mode == "json":
        return h.div("#input-fields")[_json(tool_input)]
    fields = form_of(tool).render(tool_input.value, tool_input.errors, options=options)
    return h.div("#input-fields")[fields]


def render_form_key(key: str, again: bool = False) -> h.VoidElement:
    """The name of this drawn form; `again` puts it into a form that is open already."""
    swap = {"hx-swap-oob": "true"} if again else {}
    return h.input("#input-key", swap, type="hidden", name=KEY, value=key)


def _mode_switch(tool: Tool, mode: InputMode) -> h.Element:
    """Form or JSON; the other one is a button that posts everything and gets it back the other way."""
    return h.div(".tool-faces", role="group", aria_label="How to give the input")[
        (_mode_button(tool, value, words, value == mode) for value, words in INPUT_MODES.items())
    ]


def _mode_button(tool: Tool, value: InputMode, words: str, is_current: bool) -> h.Element:
    if is_current:
        return h.button(type="button", aria_pressed="true")[words]
    url = f"{tool_url(tool, 'form')}?to={value}"
    asks = c.post_into(url, f"#{FORM_ID}")
    return h.button(asks, type="submit", formaction=url, formnovalidate=True, aria_pressed="false")[words]


def _json(tool_input: ToolInput) -> h.Node:
    text = to_json_text(tool_input.args) if tool_input.text is None else tool_input.text
    errors = [f"{error.path}: {error.reason}" if error.path else error.reason for error in tool_input.errors]
    if tool_input.problem:
        errors = [tool_input.problem]
    return h.div(".form-field")[
        h.label(".form-label", for_="input-json")["Input as JSON"],
        h.textarea(
            "#input-json.textarea.mono",
            {"aria-invalid": "true"} if errors else {},
            name=TEXT,
            rows=str(min(max(text.count("\n") + 2, 8), 30)),
            spellcheck="false",
            autocomplete="off",
            aria_describedby="input-json-help input-json-error" if errors else "input-json-help",
        )["\n" + text],  # the first line break of a text area is not part of it
        h.p("#input-json-help.form-help")["Names and values, as the tool gets them."],
        _error_list(errors) if errors else None,
    ]


def _error_list(errors: Sequence[str]) -> h.Element:
    if len(errors) == 1:
        return h.p("#input-json-error.form-error")[errors[0]]
    return h.ul("#input-json-error.form-error")[(h.li[error] for error in errors)]
