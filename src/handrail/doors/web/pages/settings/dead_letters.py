"""Dead letters: calls that failed for good. To look at, to make once more, or to forget."""

from __future__ import annotations

from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.errors import HandrailError
from handrail.core.tell.dead_letters import DeadLetter, DeadLetterStatus
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import STATUS_LABELS, display_name, pluralize, time_ago
from handrail.doors.web.layout import empty_state
from handrail.doors.web.pages.settings.section import Question, settings_section
from handrail.doors.web.router import PageContext, require
from handrail.doors.web.timeline.texts import SOURCE_LABELS
from handrail.doors.web.views.text import text_block
from handrail.doors.web.views.values import json_details, render_value
from handrail.platform.access import is_plausible_id
from handrail.platform.display_text import one_line

_REPLAYED = {f"replay-{status}": f"Replayed: {label.word}." for status, label in STATUS_LABELS.items()}
section = settings_section(
    "Dead letters",
    purged="It is forgotten.",
    old="What was older than 30 days is forgotten.",
    **_REPLAYED,
)
_PURGE, _REPLAY = "dead_letters.purge", "dead_letters.replay"
_PAGE_SIZE = 50
_MONTH = 30 * 86_400.0
_MAX_ERROR = 90
"""Characters of an error in the list."""
_STATUS_LABELS: dict[DeadLetterStatus, tuple[str, str]] = {
    "open": ("to be looked at", "warn"),
    "replaying": ("being replayed", "quiet"),
    "replayed": ("replayed", "good"),
    "unknown": ("nobody knows whether it happened", "bad"),
}


@section.get()
async def show(ctx: PageContext) -> Response:
    rows = await ctx.hr.dead_letters.page(ctx.who, after=ctx.query.get("after"), limit=_PAGE_SIZE + 1)
    shown = rows[:_PAGE_SIZE]
    if shown:
        older = f"{section.path}?after={quote(shown[-1].cursor)}"
        people = await ctx.user_names(dead_letter.user for dead_letter in shown)
        content: h.Node = [
            _table(ctx, shown, people),
            h.p[c.link_button(older, "Older ones", "outline")] if len(rows) > _PAGE_SIZE else None,
        ]
    else:
        content = empty_state("Nothing failed for good", "Calls that fail after every retry will be here.")
    return section.page(
        ctx,
        "Dead letters",
        h.header(".head")[
            h.h1["Dead letters"],
            c.link_button(f"{section.path}/purge", "Purge old ones", "outline")
            if shown and ctx.may(_PURGE)
            else None,
        ],
        h.p(".quiet")["Calls that failed after every retry. Set right what was wrong, then replay them."],
        content,
    )


async def _ask_purge_old(ctx: PageContext) -> Question:
    text = (
        "Those older than 30 days are forgotten, with what they were given, and cannot be replayed any more."
    )
    return Question("Purge old dead letters?", text, "Purge")


@section.confirmed("/purge", _ask_purge_old, done="old", need=_PURGE)
async def purge_old(ctx: PageContext) -> None:
    await ctx.hr.dead_letters.purge(by=ctx.who, before=ctx.now - _MONTH)


@section.get("/{id}")
async def inspect(ctx: PageContext) -> Response:
    return await _dead_letter_page(ctx, await _find_dead_letter(ctx))


@section.post("/{id}/replay", need=_REPLAY)
async def replay(ctx: PageContext) -> Response:
    dead_letter = await _find_dead_letter(ctx)
    try:
        outcome = await ctx.hr.dead_letters.replay(dead_letter.id, by=ctx.who)
    except HandrailError as refused:
        return await _dead_letter_page(ctx, await _find_dead_letter(ctx), str(refused))
    return section.redirect(f"replay-{outcome.status}", f"/{dead_letter.id}")


async def _ask_purge(ctx: PageContext) -> Question:
    dead_letter = await _find_dead_letter(ctx)
    text = "It is forgotten, with what it was given, and cannot be replayed any more."
    return Question(f"Purge this call of {dead_letter.tool}?", text, "Purge", f"/{dead_letter.id}")


@section.confirmed("/{id}/purge", _ask_purge, done="purged", need=_PURGE)
async def purge(ctx: PageContext) -> None:
    await ctx.hr.dead_letters.purge((await _find_dead_letter(ctx)).id, by=ctx.who)


async def _find_dead_letter(ctx: PageContext) -> DeadLetter:
    id = ctx.part("id")
    return require(await ctx.hr.dead_letters.get(id, ctx.who) if is_plausible_id(id) else None)


def _table(ctx: PageContext, dead_letters: list[DeadLetter], people: dict[str, str]) -> h.Element:
    def row(dead_letter: DeadLetter) -> h.Element:
        error = one_line(dead_letter.error)
        return h.tr[
            h.th(scope="row")[h.a(href=f"{section.path}/{dead_letter.id}")[dead_letter.tool]],
            h.td(".set-why")[error if len(error) <= _MAX_ERROR else f"{error[: _MAX_ERROR - 1]}…"],
            h.td[_caller(dead_letter, people)],
            h.td[time_ago(dead_letter.at, ctx.now)],
            h.td[c.badge(*_STATUS_LABELS[dead_letter.status])],
        ]

    heads = ("Tool", "Why", "By", "When", "Now")
    return c.table("Dead letters", heads, map(row, dead_letters), class_="table set-letters")


async def _dead_letter_page(
    ctx: PageContext, dead_letter: DeadLetter, problem: str | None = None
) -> Response:
    people = await ctx.user_names([dead_letter.user])
    through = SOURCE_LABELS.get(dead_letter.call.source, dead_letter.call.source)
    return section.page(
        ctx,
        dead_letter.tool,
        h.header(".head")[h.h1[dead_letter.tool], c.badge(*_STATUS_LABELS[dead_letter.status])],
        h.p(".quiet")[
            f"Called by {_caller(dead_letter, people)} through {through}, ",
            time_ago(dead_letter.at, ctx.now),
            f", tried {pluralize(dead_letter.attempts, 'time')}. ",
            h.a(href=f"/sessions/{quote(dead_letter.session, safe='')}")["Its session"]
            if ctx.may("events.read")
            else None,
        ],
        c.alert(problem),
        h.section(".panel.stack")[
            h.h2["Why it failed"],
            text_block(dead_letter.error),
            [h.h3["Earlier tries"], h.ol[(h.li[text_block(error)] for error in dead_letter.earlier_errors)]]
            if dead_letter.earlier_errors
            else None,
        ],
        h.section(".panel.stack")[
            h.h2["What it was given"],
            render_value(dict(dead_letter.args), id="args"),
            json_details(dict(dead_letter.args), "As JSON"),
        ],
        _actions(ctx, dead_letter),
        status=409 if problem else 200,
    )


def _actions(ctx: PageContext, dead_letter: DeadLetter) -> h.Element:
    path = f"{section.path}/{dead_letter.id}"
    can_replay = ctx.may(_REPLAY) and dead_letter.status == "open"
    return h.div(".row")[
        c.post_button(f"{path}/replay", "Replay this call") if can_replay else None,
        c.link_button(f"{path}/purge", "Purge", "outline") if ctx.may(_PURGE) else None,
        h.details(".quiet")[h.summary["For support"], h.code[f"{dead_letter.id} {dead_letter.code or ''}"]],
    ]


def _caller(dead_letter: DeadLetter, people: dict[str, str]) -> str:
    if dead_letter.agent is not None:
        return f"agent “{dead_letter.agent}”"
    return "a program" if dead_letter.user is None else display_name(dead_letter.user, people)
