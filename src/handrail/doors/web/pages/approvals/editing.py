"""editing: change what would run, see what that changes, then approve it."""

from __future__ import annotations

import json
from typing import Any

import htpy as h
from starlette.responses import Response

from handrail.core.define.jsonvalue import copy_object
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.approval import Reply
from handrail.core.guard.approval import approve as yes
from handrail.core.guard.axes import axes
from handrail.core.run.edits import recorded
from handrail.doors.web.answer import html
from handrail.doors.web.frame import page
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.approvals import drawing
from handrail.doors.web.pages.approvals.asking import Ask, ask_of
from handrail.doors.web.pages.approvals.card import asker
from handrail.doors.web.pages.approvals.differences import differences
from handrail.doors.web.pages.approvals.exact import rows
from handrail.doors.web.pages.approvals.odd import pieces
from handrail.doors.web.pages.approvals.outcome import sentence
from handrail.doors.web.pages.approvals.seen import seen_mark
from handrail.doors.web.pages.tools.inputs import FACE, Input, posted, read_input, text_under
from handrail.doors.web.pages.tools.jsontext import NotJson, read_object
from handrail.doors.web.pages.tools.panel import draw_fields
from handrail.doors.web.pages.tools.picking import options_of
from handrail.doors.web.routing import Pages, Reader, go
from handrail.doors.web.words import level_mark

pages = Pages()


@pages.get("/approvals/{id}/edit")
async def edit(reader: Reader) -> Response:
    ask = await ask_of(reader, reader.part("id"))
    if not ask.can_approve:
        return go(f"/approvals/{ask.id}")
    return await _editing(reader, ask, Input(value=dict(ask.request.args)), seen_mark(ask.request))


@pages.post("/approvals/{id}/edit")
async def look(reader: Reader) -> Response:
    """What the changes would change. Nothing is decided by looking."""
    pairs = await posted(reader)
    ask = await ask_of(reader, reader.part("id"))
    shown = text_under(pairs, "shown") or ""
    if ask.tool is None:
        return go(f"/approvals/{ask.id}")
    given = read_input(ask.tool, pairs)
    if turn := text_under(pairs, "_to"):
        return await _editing(reader, ask, given.turned("json" if turn == "json" else "form"), shown)
    if given.done or not given.readable or given.errors:
        return await _editing(reader, ask, given, shown)
    if not ask.can_approve or shown != seen_mark(ask.request):
        return await _editing(reader, ask, given, shown, 409)
    reply = recorded(ask.request, yes(by=reader.who.user, edits=given.args), ask.tool, True)
    if not isinstance(reply, Reply):
        return await _editing(reader, ask, given.wrong(reply), shown)
    return _looking(reader, ask, copy_object(given.args))


async def _editing(reader: Reader, ask: Ask, given: Input, shown: str, status: int = 200) -> Response:
    assert ask.tool is not None
    wrong = bool(given.errors) or not given.readable
    action = f"/approvals/{ask.id}/edit"
    return page(
        reader,
        "Edit and approve",
        h.div(".head")[h.h1["Edit, then approve"]],
        _lead(ask, " Change what should be otherwise."),
        standing(ask, shown),
        h.form(
            ".ask-edit.panel", method="post", action=action, enctype="multipart/form-data", novalidate=True
        )[
            h.input(type="hidden", name="shown", value=shown),
            h.input(type="hidden", name=FACE, value=given.face),
            _as_asked(ask),
            draw_fields(ask.tool, given, await options_of(reader, ask.tool)),
            h.div(".ask-buttons")[
                h.button(".btn", type="submit")["See what changes"],
                _other_face(given),
                h.a(".btn", href=f"/approvals/{ask.id}", data_variant="ghost")["Back without changes"],
            ],
        ],
        active="approvals",
        crumbs=_crumbs(ask),
        status=422 if wrong else status,
    )


def _as_asked(ask: Ask) -> h.Element:
    """The proposal beside the form, in which some of it may not be seen: then it is open."""
    assert ask.tool is not None
    shown = rows(dict(ask.request.args), ask.tool.input_schema)
    odd = any(piece.kind != "plain" for row in shown for piece in pieces(row.path + row.literal))
    return h.details(open=odd)[
        h.summary["What was asked, exactly" + (": not all of it shows in a form" if odd else "")],
        drawing.table(shown),
    ]


def _other_face(given: Input) -> h.Element:
    to, words = ("json", "Edit as JSON") if given.face == "form" else ("form", "Edit in the form")
    return h.button(".btn", type="submit", name="_to", value=to, data_variant="outline", formnovalidate=True)[
        words
    ]


def _looking(reader: Reader, ask: Ask, value: Any) -> Response:
    """Old and new side by side, and the last step."""
    tool = ask.tool
    assert tool is not None
    before = dict(ask.request.args)
    found = differences(before, value, tool.input_schema)
    kept = json.dumps(value, ensure_ascii=True)
    changed = [h.input(type="hidden", name="edits", value=kept)] if found else None
    return page(
        reader,
        "Look and approve",
        h.div(".head")[h.h1["Look once more, then approve"], _level(ask, value)],
        _lead(ask),
        standing(ask, seen_mark(ask.request)),
        h.section(".panel.ask-look", aria_labelledby="ask-look-title")[
            h.h2("#ask-look-title")["You change"]
            if found
            else h.h2("#ask-look-title")["You changed nothing"],
            drawing.changes(found) if found else h.p["It would run exactly as asked."],
            h.details[h.summary["All that would run"], drawing.table(rows(value, tool.input_schema))],
            h.div(".ask-buttons")[
                h.form(method="post", action=f"/approvals/{ask.id}/approve")[
                    h.input(type="hidden", name="shown", value=seen_mark(ask.request)),
                    changed,
                    h.button(".btn", type="submit")[
                        icon("check"), "Approve with these changes" if found else "Approve as asked"
                    ],
                ],
                h.form(method="post", action=f"/approvals/{ask.id}/edit/back")[
                    h.input(type="hidden", name="shown", value=seen_mark(ask.request)),
                    h.input(type="hidden", name="edits", value=kept),
                    h.button(".btn", type="submit", data_variant="outline")["Change more"],
                ],
            ],
        ],
        active="approvals",
        crumbs=_crumbs(ask),
    )


@pages.post("/approvals/{id}/edit/back")
async def back(reader: Reader) -> Response:
    """Back to the form, with what was changed before."""
    form = await reader.form()
    ask = await ask_of(reader, reader.part("id"))
    if not ask.can_approve:
        return go(f"/approvals/{ask.id}")
    try:
        value = read_object(str(form.get("edits") or ""), blank=False)
    except NotJson:
        value = dict(ask.request.args)
    return await _editing(reader, ask, Input(value=value), seen_mark(ask.request))


def _level(ask: Ask, value: Any) -> h.Node:
    """How grave it is with the changes."""
    assert ask.tool is not None
    admitted = admit(ask.tool, value)
    if not isinstance(admitted, Admitted):
        return None
    return level_mark(*axes(ask.tool, admitted.values))


def _lead(ask: Ask, more: str = "") -> h.Element:
    return h.p(".ask-lead")[asker(ask), " wants to run ", h.code[ask.request.tool], ".", more]


def _crumbs(ask: Ask) -> list[tuple[str, str]]:
    return [("Approvals", "/approvals"), (ask.request.tool, f"/approvals/{ask.id}")]


def standing(ask: Ask, shown: str) -> h.Element:
    """Whether the question is still open and the same; it asks again by itself, beside the form."""
    asks = {
        "hx-get": f"/approvals/{ask.id}/standing?shown={shown}",
        "hx-trigger": "approvals from:body, every 30s",
        "hx-swap": "outerMorph",
    }
    return h.div("#ask-standing", asks, role="status")[_stands(ask, shown)]


def _stands(ask: Ask, shown: str) -> h.Node:
    if not ask.open:
        said = f"{sentence(ask)} What you typed is still here, but it can no longer be sent."
    elif shown != seen_mark(ask.request):
        said = (
            "This is not what you were shown before, so nothing was decided. Go back and read it once more."
        )
    elif not ask.can_approve:
        said = "It cannot be approved as it stands now. Go back to see why."
    else:
        return None
    return h.p(".ask-note")[
        icon("circle-alert"), h.span[said, " ", h.a(href=f"/approvals/{ask.id}")["Open it"]]
    ]


@pages.get("/approvals/{id}/standing")
async def still(reader: Reader) -> Response:
    ask = await ask_of(reader, reader.part("id"))
    return html(standing(ask, reader.query.get("shown", "")))
