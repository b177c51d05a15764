"""`/tools/{slug}/session/{id}`: the page of a session. What others submit appears by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import wraps
from math import ceil
from typing import Any

import htpy as h
from starlette.responses import JSONResponse, Response

from handrail.core.define.call import FieldError, Outcome
from handrail.core.define.operator_fields import without_operator_fields
from handrail.core.define.result import Result
from handrail.core.define.secrecy import without
from handrail.core.errors import HandrailError
from handrail.core.run.approvals import Conflict
from handrail.doors.http.routing import source_of
from handrail.doors.http.telling import as_bytes
from handrail.doors.session_export import as_csv, as_data, for_guests
from handrail.doors.web import controls as c
from handrail.doors.web.answer import html
from handrail.doors.web.forms.field import MISSING
from handrail.doors.web.forms.form import form_of
from handrail.doors.web.forms.post import taken
from handrail.doors.web.forms.refused import refused_fields
from handrail.doors.web.pacing import check_listeners
from handrail.doors.web.pages.shared.drawing import draw_live, draw_state, who
from handrail.doors.web.pages.shared.managing import draw_manage
from handrail.doors.web.pages.shared.seat import Gone, Seat, gone, seat_of, shown
from handrail.doors.web.pages.tools.picking import options_of
from handrail.doors.web.routing import NotSignedIn, NotThere, Pages, Reader, go
from handrail.doors.web.views.result import draw_result
from handrail.doors.web.watching import news_of
from handrail.doors.web.words import when
from handrail.identity.errors import TooOften
from handrail.identity.submitting import submit
from handrail.store.tool_sessions import ToolSessionSubmission

pages = Pages()
_HERE = "/tools/{slug}/session/{id}"
Handler = Callable[[Reader], Awaitable[Response]]


def _seated(handler: Callable[[Reader, Seat], Awaitable[Response]]) -> Handler:
    """A page for whoever has a seat; a guest whose link has ended is told so."""

    @wraps(handler)
    async def answer(reader: Reader) -> Response:
        try:
            seat = await seat_of(reader)
            if not seat.guest:
                seat = replace(seat, options=await options_of(reader, seat.tool))
            return await handler(reader, seat)
        except Gone:
            return gone(reader)

    return answer


@pages.get(_HERE, open=True)
@_seated
async def show(reader: Reader, seat: Seat) -> Response:
    given = await _given(reader, seat)
    mine = next((one for one in given if one.user_id == seat.who.id), None)
    value: Any = MISSING
    if mine is not None and isinstance(mine.input, dict):
        value = dict(without(mine.input, seat.tool.secrets)[0])
    note = h.p(".shared-done", role="status")["Your answer is in."] if reader.query.get("done") else None
    return await _page(reader, seat, draw_form(seat, value, note=note, again=mine is not None), given)


@pages.post(_HERE, open=True)
@_seated
async def answer(reader: Reader, seat: Seat) -> Response:
    """Submit; whatever goes wrong, everything typed stays."""
    read = form_of(seat.tool, seat.mode).read(await taken((await reader.form()).multi_items()))
    if not read.ok:
        return await _again(
            reader, seat, draw_form(seat, read.value, read.errors), 422 if read.errors else 200
        )
    sessions, source = reader.offices.tool_sessions, source_of(reader.request)
    try:
        done = await submit(reader.hr, sessions, seat.session, seat.who, dict(read.value), source=source)
    except Conflict as refused:
        return await _again(reader, seat, draw_form(seat, read.value, said=str(refused)), 409)
    except TooOften as refused:
        told = await _again(reader, seat, draw_form(seat, read.value, said=str(refused)), 429)
        told.headers["retry-after"] = str(ceil(refused.wait))
        return told
    if done.submission is None:
        errors, said = _wrong(done.outcome)
        return await _again(reader, seat, draw_form(seat, read.value, errors, said=said), 422)
    reader.web.watching.tell(seat.session)
    if not reader.by_htmx:
        return go(f"{seat.url()}?done=1#shared-live")
    note = h.p(".shared-done", role="status")["Your answer is in."]
    return await _again(reader, seat, draw_form(seat, read.value, note=note, again=True), 200)


async def _given(reader: Reader, seat: Seat) -> Sequence[ToolSessionSubmission]:
    """What was submitted, as this participant may read it: a guest nothing that is for operators only."""
    given = await reader.offices.tool_sessions.submissions(seat.session)
    if not seat.guest:
        return given
    return [
        replace(
            one,
            input=without_operator_fields(seat.tool, _args(one)),
            user_display_name=one.user_display_name or "somebody",
        )
        for one in given
    ]


async def _again(reader: Reader, seat: Seat, form: h.Element, status: int) -> Response:
    """The form again, with everything that was typed, and what the session has come to."""
    session = await reader.offices.tool_sessions.find(seat.session.tenant_id, seat.session.id)
    seat = Seat(session or seat.session, seat.tool, seat.who, seat.manages)
    if reader.by_htmx:
        return html(h.fragment[form, draw_state(seat.session, again=True)], status)
    return await _page(reader, seat, form, await _given(reader, seat), status)


async def _page(
    reader: Reader, seat: Seat, form: h.Element, given: Sequence[ToolSessionSubmission], status: int = 200
) -> Response:
    return shown(
        reader,
        seat,
        seat.session.title,
        h.header(".stack")[
            h.div(".head")[h.h1[seat.session.title], draw_state(seat.session)],
            h.p(".quiet")[
                f"{seat.tool.name}. You are here as ", h.b[seat.who.name], " (guest)." if seat.guest else "."
            ],
        ],
        draw_manage(reader, seat) if seat.manages else None,
        h.div(".shared-columns")[
            h.section(".panel.stack", aria_labelledby="mine-title")[h.h2("#mine-title")["Your answer"], form],
            await _live(reader, seat, given),
        ],
        status=status,
    )


def draw_form(
    seat: Seat,
    value: Any = MISSING,
    errors: Sequence[FieldError] = (),
    *,
    note: h.Node = None,
    said: str | None = None,
    again: bool = False,
) -> h.Element:
    """The form of the tool, as this participant fills it in."""
    asks = {
        "hx-post": seat.url(),
        "hx-target": "#shared-form",
        "hx-swap": "outerMorph",
        "hx-sync": "this:drop",
    }
    form = form_of(seat.tool, seat.mode)
    fields = (
        form.draw(errors=errors, options=seat.options)
        if value is MISSING
        else form.draw(value, errors, options=seat.options)
    )
    return h.form(
        asks,
        id="shared-form",
        method="post",
        action=seat.url(),
        enctype="multipart/form-data",
        novalidate=True,
    )[
        note,
        c.alert(said) if said else None,
        fields,
        h.div(".row.shared-foot")[
            h.button(".btn", type="submit", data_run=True)["Change my answer" if again else "Submit"],
            h.span(".quiet")["It takes the place of the one that you gave."] if again else None,
        ],
    ]


def _wrong(outcome: Outcome) -> tuple[list[FieldError], str | None]:
    if errors := refused_fields(outcome):
        return errors, None
    if outcome.status == "pending":
        return [], "This needs approval first, so it was not added. Submit again once it was given."
    return [], outcome.result.error or "It did not work, so it was not added."


@pages.get(f"{_HERE}/part", open=True)
@_seated
async def part(reader: Reader, seat: Seat) -> Response:
    """What the session has come to, for a page that is open."""
    given = await _given(reader, seat)
    return html(h.fragment[await _live(reader, seat, given), draw_state(seat.session, again=True)])


async def _live(reader: Reader, seat: Seat, given: Sequence[ToolSessionSubmission]) -> h.Element:
    made = await reader.offices.aggregates.of(seat.tool, seat.session, given)
    return draw_live(seat, given, made, reader.now, news_of(seat.session.id))


@pages.get(f"{_HERE}/live", open=True)
@_seated
async def live(reader: Reader, seat: Seat) -> Response:
    """The stream of a guest's page. It ends with the link by which they came, once the page was told so."""
    last = False

    async def still() -> bool:
        nonlocal last
        if last:
            return False
        try:
            await seat_of(reader, counts=False)
        except (Gone, NotSignedIn, NotThere, HandrailError):
            last = True
        return True

    reader.request.scope["state"]["still"] = still
    tenant, news = seat.session.tenant_id, news_of(seat.session.id)
    if seat.guest:
        check_listeners(reader.web.live, tenant, news, seat.who.id)
    return reader.web.live.answer(reader.request, tenant, [news], seat.who.principal if seat.guest else None)


@pages.get(f"{_HERE}/answer/{{submission}}", open=True)
@_seated
async def one_answer(reader: Reader, seat: Seat) -> Response:
    """One participant's answer, all of it."""
    given = await _given(reader, seat)
    found = next((one for one in given if one.id == reader.part("submission")), None)
    if found is None:
        raise NotThere
    return shown(
        reader,
        seat,
        f"Answer of {found.user_display_name}",
        h.p[h.a(href=seat.url())[f"← {seat.session.title}"]],
        h.header(".head")[h.h1[who(found, seat)], when(found.created_at, reader.now)],
        h.section(".panel.stack")[
            draw_result(seat.tool, Result(data=found.output), args=_args(found), id="answer")
        ],
    )


def _args(found: ToolSessionSubmission) -> dict[str, Any]:
    return found.input if isinstance(found.input, dict) else {}


@pages.get(f"{_HERE}/answers.json", open=True)
@_seated
async def as_json_file(reader: Reader, seat: Seat) -> Response:
    given = await _given(reader, seat)
    made = await reader.offices.aggregates.of(seat.tool, seat.session, given)
    data = (for_guests if seat.guest else as_data)(seat.session, given, made)
    return Response(as_bytes(data), headers=_file("answers.json"), media_type=JSONResponse.media_type)


@pages.get(f"{_HERE}/answers.csv", open=True)
@_seated
async def as_csv_file(reader: Reader, seat: Seat) -> Response:
    given = await _given(reader, seat)
    return Response(as_csv(given), headers=_file("answers.csv"), media_type="text/csv")


def _file(name: str) -> dict[str, str]:
    return {
        "content-disposition": f'attachment; filename="{name}"',
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
    }
