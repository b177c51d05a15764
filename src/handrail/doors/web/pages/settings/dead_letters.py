"""Dead letters: calls that failed for good. To look at, to make once more, or to forget."""

from __future__ import annotations

from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.errors import HandrailError
from handrail.core.tell.dead_letters import DeadLetter, DeadLetterStatus
from handrail.doors.web.humanize import STATUS_LABELS, display_name, pluralize, time_ago
from handrail.doors.web.layout import empty_state
from handrail.doors.web.pages.settings.layout import confirm_page, done_message, settings_page
from handrail.doors.web.routing import PageContext, PageNotFound, PageRouter, redirect
from handrail.doors.web.timeline.texts import SOURCE_LABELS
from handrail.doors.web.views.text import text_block
from handrail.doors.web.views.values import json_details, render_value
from handrail.platform.access import is_plausible_id
from handrail.platform.display_text import one_line

router = PageRouter()
_PATH, _PERMISSION = "/settings/dead-letters", "dead_letters.read"
_PAGE = 50
_MONTH = 30 * 86_400.0
_DONE = {
    "purged": "It is forgotten.",
    "old": "What was older than 30 days is forgotten.",
    **{f"replay-{status}": f"Replayed: {one.word}." for status, one in STATUS_LABELS.items()},
}
_STATUS_LABELS: dict[DeadLetterStatus, tuple[str, str]] = {
    "open": ("to be looked at", "warn"),
    "replaying": ("being replayed", "quiet"),
    "replayed": ("replayed", "good"),
    "unknown": ("nobody knows whether it happened", "bad"),
}


@router.get(_PATH, need=_PERMISSION)
async def show(ctx: PageContext) -> Response:
    found = await ctx.hr.dead_letters.page(ctx.who, after=ctx.query.get("after"), limit=_PAGE + 1)
    shown, more = found[:_PAGE], len(found) > _PAGE
    people = await _people(ctx, shown)
    return settings_page(
        ctx,
        "Dead letters",
        h.header(".head")[
            h.h1["Dead letters"],
            h.a(".btn", href=f"{_PATH}/purge", data_variant="outline")["Purge old ones"]
            if shown and ctx.may("dead_letters.purge")
            else None,
        ],
        h.p(".quiet")["Calls that failed after every retry. Set right what was wrong, then replay them."],
        _table(ctx, shown, people)
        if shown
        else empty_state("Nothing failed for good", "Calls that fail after every retry will be here."),
        _older_link(shown[-1]) if more else None,
        part=_PATH,
        done=done_message(ctx, _DONE),
    )


@router.get(f"{_PATH}/purge", need="dead_letters.purge")
async def ask_purge_old(ctx: PageContext) -> Response:
    return confirm_page(
        ctx,
        "Purge old dead letters?",
        "Those older than 30 days are forgotten, with what they were given, and cannot be replayed any more.",
        part=_PATH,
        action=f"{_PATH}/purge",
        label="Purge",
        back=_PATH,
    )


@router.post(f"{_PATH}/purge", need="dead_letters.purge")
async def purge_old(ctx: PageContext) -> Response:
    await ctx.hr.dead_letters.purge(by=ctx.who, before=ctx.now - _MONTH)
    return redirect(f"{_PATH}?done=old")


@router.get(f"{_PATH}/{{id}}", need=_PERMISSION)
async def inspect(ctx: PageContext) -> Response:
    return await _dead_letter_page(ctx, await _find_dead_letter(ctx))


@router.post(f"{_PATH}/{{id}}/replay", need="dead_letters.replay")
async def replay(ctx: PageContext) -> Response:
    dead_letter = await _find_dead_letter(ctx)
    try:
        outcome = await ctx.hr.dead_letters.replay(dead_letter.id, by=ctx.who)
    except HandrailError as refused:
        return await _dead_letter_page(ctx, await _find_dead_letter(ctx), str(refused))
    return redirect(f"{_PATH}/{dead_letter.id}?done=replay-{outcome.status}")


@router.get(f"{_PATH}/{{id}}/purge", need="dead_letters.purge")
async def ask_purge(ctx: PageContext) -> Response:
    dead_letter = await _find_dead_letter(ctx)
    return confirm_page(
        ctx,
        f"Purge this call of {dead_letter.tool}?",
        "It is forgotten, with what it was given, and cannot be replayed any more.",
        part=_PATH,
        action=f"{_PATH}/{dead_letter.id}/purge",
        label="Purge",
        back=f"{_PATH}/{dead_letter.id}",
    )


@router.post(f"{_PATH}/{{id}}/purge", need="dead_letters.purge")
async def purge(ctx: PageContext) -> Response:
    await ctx.hr.dead_letters.purge((await _find_dead_letter(ctx)).id, by=ctx.who)
    return redirect(f"{_PATH}?done=purged")


async def _find_dead_letter(ctx: PageContext) -> DeadLetter:
    id = ctx.part("id")
    found = await ctx.hr.dead_letters.get(id, ctx.who) if is_plausible_id(id) else None
    if found is None:
        raise PageNotFound
    return found


async def _people(ctx: PageContext, dead_letters: list[DeadLetter]) -> dict[str, str]:
    ids = [one.user for one in dead_letters if one.user is not None]
    return await ctx.platform.user_names(ctx.who.tenant, ids)


def _table(ctx: PageContext, dead_letters: list[DeadLetter], people: dict[str, str]) -> h.Element:
    heads = ("Tool", "Why", "By", "When", "Now")
    return h.div(".table-container", tabindex="0", role="region", aria_label="Dead letters")[
        h.table(".table.set-letters")[
            h.thead[h.tr[(h.th(scope="col")[one] for one in heads)]],
            h.tbody[
                (
                    h.tr[
                        h.th(scope="row")[h.a(href=f"{_PATH}/{one.id}")[one.tool]],
                        h.td(".set-why")[_first_words(one.error)],
                        h.td[_caller(one, people)],
                        h.td[time_ago(one.at, ctx.now)],
                        h.td[_badge(one)],
                    ]
                    for one in dead_letters
                )
            ],
        ]
    ]


def _older_link(last: DeadLetter) -> h.Element:
    there = f"{_PATH}?after={quote(last.cursor)}"
    return h.p[h.a(".btn", href=there, data_variant="outline")["Older ones"]]


async def _dead_letter_page(
    ctx: PageContext, dead_letter: DeadLetter, problem: str | None = None
) -> Response:
    people = await _people(ctx, [dead_letter])
    through = SOURCE_LABELS.get(dead_letter.call.source, dead_letter.call.source)
    return settings_page(
        ctx,
        dead_letter.tool,
        h.header(".head")[h.h1[dead_letter.tool], _badge(dead_letter)],
        h.p(".quiet")[
            f"Called by {_caller(dead_letter, people)} through {through}, ",
            time_ago(dead_letter.at, ctx.now),
            f", tried {pluralize(dead_letter.attempts, 'time')}. ",
            h.a(href=f"/sessions/{quote(dead_letter.session, safe='')}")["Its session"]
            if ctx.may("events.read")
            else None,
        ],
        h.div(".alert", role="alert", data_variant="destructive")[h.p[problem]] if problem else None,
        h.section(".panel.stack")[
            h.h2["Why it failed"],
            text_block(dead_letter.error),
            [h.h3["Earlier tries"], h.ol[(h.li[text_block(one)] for one in dead_letter.earlier_errors)]]
            if dead_letter.earlier_errors
            else None,
        ],
        h.section(".panel.stack")[
            h.h2["What it was given"],
            render_value(dict(dead_letter.args), id="args"),
            json_details(dict(dead_letter.args), "As JSON"),
        ],
        _actions(ctx, dead_letter),
        part=_PATH,
        done=None if problem else done_message(ctx, _DONE),
        status=409 if problem else 200,
    )


def _actions(ctx: PageContext, dead_letter: DeadLetter) -> h.Element:
    replays = ctx.may("dead_letters.replay") and dead_letter.status == "open"
    return h.div(".row")[
        h.form(method="post", action=f"{_PATH}/{dead_letter.id}/replay")[
            h.button(".btn", type="submit")["Replay this call"]
        ]
        if replays
        else None,
        h.a(".btn", href=f"{_PATH}/{dead_letter.id}/purge", data_variant="outline")["Purge"]
        if ctx.may("dead_letters.purge")
        else None,
        h.details(".quiet")[h.summary["For support"], h.code[f"{dead_letter.id} {dead_letter.code or ''}"]],
    ]


def _badge(dead_letter: DeadLetter) -> h.Element:
    word, tone = _STATUS_LABELS[dead_letter.status]
    return h.span(class_=f"mark mark-{tone}")[word]


def _caller(dead_letter: DeadLetter, people: dict[str, str]) -> str:
    if dead_letter.agent is not None:
        return f"agent “{dead_letter.agent}”"
    return "a program" if dead_letter.user is None else display_name(dead_letter.user, people)


def _first_words(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= 90 else f"{line[:89]}…"
