"""deciding: what happens when somebody says yes, no or something else. Nothing, if they saw another thing."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import htpy as h
from starlette.datastructures import FormData
from starlette.responses import Response

from handrail.core.define.result import Result
from handrail.core.guard.approval import ApprovalRequest
from handrail.core.run.approvals import Conflict
from handrail.doors.web.answer import html
from handrail.doors.web.frame import page
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.approvals.acting import acts
from handrail.doors.web.pages.approvals.asking import Ask, ask_of
from handrail.doors.web.pages.approvals.card import card
from handrail.doors.web.pages.approvals.outcome import sentence
from handrail.doors.web.pages.approvals.seen import seen_mark
from handrail.doors.web.pages.tools.jsontext import NotJson, read_object
from handrail.doors.web.routing import Pages, Reader, go

pages = Pages()
_LONGEST = 2_000

Say = Callable[[Ask], Awaitable[ApprovalRequest]]


@pages.post("/approvals/{id}/approve")
async def approve(reader: Reader) -> Response:
    """Yes, as asked; or with what an edit made of it, which the reader has seen before."""
    form = await reader.form()
    edits: dict[str, Any] | None = None
    if "edits" in form:
        try:
            edits = read_object(text(form, "edits"), blank=False)
        except NotJson:
            return await _no(reader, "The changed arguments did not arrive whole. Edit them once more.", 422)
    standing = text(form, "standing") == "yes"

    async def say(ask: Ask) -> ApprovalRequest:
        return await reader.hr.approvals.approve(ask.id, by=reader.who, edits=edits, for_session=standing)

    return await _decide(reader, form, say, approves=True)


@pages.post("/approvals/{id}/reject")
async def reject(reader: Reader) -> Response:
    form = await reader.form()
    reason = text(form, "reason").strip()
    if len(reason) > _LONGEST:
        said = f"The reason is {len(reason):,} characters long; write at most {_LONGEST:,}."
        return await _no(reader, said, 422, {"reason": reason}, {"reason": said})

    async def say(ask: Ask) -> ApprovalRequest:
        return await reader.hr.approvals.reject(ask.id, by=reader.who, reason=reason or None)

    return await _decide(reader, form, say, typed={"reason": reason})


@pages.post("/approvals/{id}/respond")
async def respond(reader: Reader) -> Response:
    """Answer in the tool's place."""
    form = await reader.form()
    words, data = text(form, "output"), text(form, "data")
    typed = {"output": words, "data": data}
    if bool(words.strip()) == bool(data.strip()):
        said = (
            "Write the answer in words or as data, not both." if words.strip() else "Write an answer first."
        )
        return await _no(reader, said, 422, typed, {"output": said})
    try:
        result = Result(output=words) if words.strip() else Result(data=json.loads(data))
    except (ValueError, RecursionError):
        said = 'This is not JSON. Text stands in quotation marks: "like this".'
        return await _no(reader, said, 422, typed, {"data": said})

    async def say(ask: Ask) -> ApprovalRequest:
        return await reader.hr.approvals.respond(ask.id, by=reader.who, result=result)

    return await _decide(reader, form, say, typed=typed, place="output" if words.strip() else "data")


async def _decide(
    reader: Reader,
    form: FormData,
    say: Say,
    *,
    approves: bool = False,
    typed: Mapping[str, str] | None = None,
    place: str | None = None,
) -> Response:
    """Say it, if the question is still the one that was shown."""
    ask = await ask_of(reader, reader.part("id"))
    if ask.open and text(form, "shown") != seen_mark(ask.request):
        said = "This is not what you were shown before, so nothing was decided. Read it once more."
        return await _no(reader, said, 409, typed)
    if approves and ask.altered:
        return await _no(reader, "Nothing was decided.", 409, typed)
    try:
        await say(ask)
    except Conflict as conflict:
        now = await ask_of(reader, ask.id)
        errors = {place: str(conflict)} if place and conflict.code == "INVALID_PARAM" else None
        return await _no(reader, _why(now, conflict), 422 if errors else 409, typed, errors)
    reader.web.live.tell(reader.who.tenant, "approvals")
    if not reader.by_htmx:
        return go(f"/approvals/{ask.id}")
    return html(card(await ask_of(reader, ask.id), reader.now, alone=_is_alone(reader, ask)))


def _why(ask: Ask, conflict: Conflict) -> str:
    """A conflict in the words of whoever meets it."""
    if not ask.open:
        return f"Your answer came too late and was not counted. {sentence(ask)}"
    if ask.voted:
        left = ask.request.quorum - len(ask.request.votes)
        return f"You have approved it already; {left} more must."
    return str(conflict)


async def _no(
    reader: Reader,
    said: str,
    status: int,
    typed: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response:
    """The card as it stands now, with why nothing was decided, and all that was typed."""
    ask = await ask_of(reader, reader.part("id"))
    kept = [one for one in (typed or {}).values() if one.strip()]
    note = h.p(".ask-note", role="alert")[icon("circle-alert"), said]
    lost = h.div(".ask-kept")[h.p["What you wrote:"], (h.pre[one] for one in kept)] if kept else None
    told = [note, None if ask.open else lost]
    if reader.by_htmx:
        return html(_drawn(ask, reader, told, typed, errors, alone=_is_alone(reader, ask)), status)
    return page(
        reader,
        ask.request.tool,
        _drawn(ask, reader, told, typed, errors, alone=True),
        h.p[h.a(href="/approvals")["All approvals"]],
        active="approvals",
        crumbs=[("Approvals", "/approvals")],
        status=status,
    )


def _drawn(
    ask: Ask,
    reader: Reader,
    told: h.Node,
    typed: Mapping[str, str] | None,
    errors: Mapping[str, str] | None,
    alone: bool,
) -> h.Element:
    filled = acts(ask, typed or {}, errors or {}) if ask.open else None
    return card(ask, reader.now, note=told, alone=alone, filled=filled)


def _is_alone(reader: Reader, ask: Ask) -> bool:
    """Whether the page has only this card, so that its title is the page's."""
    return urlsplit(reader.request.headers.get("hx-current-url", "")).path == f"/approvals/{ask.id}"


def text(form: FormData, name: str) -> str:
    """A field of a form as text; a file in its place is none."""
    found = form.get(name)
    return found if isinstance(found, str) else ""
