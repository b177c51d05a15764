"""The panel of a tool's input: its form or its JSON, and what can be done with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import htpy as h

from handrail.core.define.tool import Tool
from handrail.doors.web.forms.field import MISSING
from handrail.doors.web.forms.form import form_of
from handrail.doors.web.forms.options import NO_OPTIONS, Options
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.tools.inputs import FACE, KEY, TEXT, Face, Input
from handrail.doors.web.pages.tools.jsontext import json_text
from handrail.doors.web.pages.tools.known import url_of

FORM = "input-form"
"""The id of the form element."""
FACES: Mapping[Face, str] = {"form": "Form", "json": "JSON"}


def draw_panel(
    tool: Tool,
    given: Input,
    *,
    note: h.Node = None,
    tools: h.Node = None,
    options: Options = NO_OPTIONS,
) -> h.Element:
    """The panel as it stands; `tools` are what else can be done with an input."""
    return h.section(".panel.tool-panel", aria_labelledby="input-title")[
        draw_input(tool, given, note, options), tools
    ]


def draw_input(tool: Tool, given: Input, note: h.Node = None, options: Options = NO_OPTIONS) -> h.Element:
    """The form element itself, by the face that it has now."""
    run = url_of(tool, "run")
    asks = {
        "hx-post": run,
        "hx-target": "#result",
        "hx-swap": "outerHTML",
        "hx-sync": "this:drop",
        "data-check": url_of(tool, "check"),
    }
    return h.form(asks, id=FORM, method="post", action=run, enctype="multipart/form-data", novalidate=True)[
        h.button(type="submit", hidden=True, tabindex="-1"),  # Enter presses the first button
        h.input(type="hidden", name=FACE, value=given.face),
        draw_key(given.key),
        h.div(".tool-panel-head")[h.h2("#input-title")["Input"], _faces(tool, given.face)],
        note,
        draw_fields(tool, given, options),
        h.div(".tool-panel-foot")[
            h.button("#run.btn", type="submit", data_run=True, title="Run it with this input")[
                icon("play"), "Run", h.kbd(".kbd")["⌘↵"]
            ],
        ],
    ]


def draw_fields(tool: Tool, given: Input, options: Options = NO_OPTIONS) -> h.Element:
    """The fields, or the text that stands for them."""
    return h.div("#input-fields")[_json(given) if given.face == "json" else _form(tool, given, options)]


def draw_key(key: str, again: bool = False) -> h.VoidElement:
    """The name of this drawn form; `again` puts it into a form that is open already."""
    there = {"hx-swap-oob": "true"} if again else {}
    return h.input("#input-key", there, type="hidden", name=KEY, value=key)


def _faces(tool: Tool, face: Face) -> h.Element:
    """Form or JSON; the other one is a button that posts everything and gets it back the other way."""
    return h.div(".tool-faces", role="group", aria_label="How to give the input")[
        (_face(tool, value, words, value == face) for value, words in FACES.items())
    ]


def _face(tool: Tool, value: Face, words: str, now: bool) -> h.Element:
    if now:
        return h.button(type="button", aria_pressed="true")[words]
    turn = f"{url_of(tool, 'form')}?to={value}"
    asks = {"hx-post": turn, "hx-target": f"#{FORM}", "hx-swap": "outerHTML"}
    return h.button(asks, type="submit", formaction=turn, formnovalidate=True, aria_pressed="false")[words]


def _form(tool: Tool, given: Input, options: Options) -> h.Node:
    form = form_of(tool)
    if given.value is MISSING:
        return form.draw(errors=given.errors, options=options)
    return form.draw(given.value, given.errors, options=options)


def _json(given: Input) -> h.Node:
    text = json_text(given.args) if given.text is None else given.text
    said = [given.said] if given.said else [_told(error.path, error.reason) for error in given.errors]
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


def _told(path: str, reason: str) -> str:
    return f"{path}: {reason}" if path else reason
