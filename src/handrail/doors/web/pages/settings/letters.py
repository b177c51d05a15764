"""Dead letters: calls that failed for good. To look at, to make once more, or to forget."""

from __future__ import annotations

from urllib.parse import quote

import htpy as h
from starlette.responses import Response

from handrail.core.errors import HandrailError
from handrail.core.tell.letters import DeadLetter, LetterStatus
from handrail.doors.http.whose import plausible
from handrail.doors.visible import one_line
from handrail.doors.web.frame import empty
from handrail.doors.web.pages.settings.shell import confirm, done, settings
from handrail.doors.web.routing import NotThere, Pages, Reader, go
from handrail.doors.web.story.voice import THROUGH
from handrail.doors.web.views.text import block_of_text
from handrail.doors.web.views.values import as_json, draw_value
from handrail.doors.web.words import STATES, called, count, when

pages = Pages()
_HERE, _NEED = "/settings/dead-letters", "dead_letters.read"
_PAGE = 50
_MONTH = 30 * 86_400.0
_DONE = {
    "purged": "It is forgotten.",
    "old": "What was older than 30 days is forgotten.",
    **{f"replay-{status}": f"Replayed: {one.word}." for status, one in STATES.items()},
}
_STATES: dict[LetterStatus, tuple[str, str]] = {
    "open": ("to be looked at", "warn"),
    "replaying": ("being replayed", "quiet"),
    "replayed": ("replayed", "good"),
    "unknown": ("nobody knows whether it happened", "bad"),
}


@pages.get(_HERE, need=_NEED)
async def show(reader: Reader) -> Response:
    found = await reader.hr.dead_letters.page(reader.who, after=reader.query.get("after"), limit=_PAGE + 1)
    shown, more = found[:_PAGE], len(found) > _PAGE
    people = await _people(reader, shown)
    return settings(
        reader,
        "Dead letters",
        h.header(".head")[
            h.h1["Dead letters"],
            h.a(".btn", href=f"{_HERE}/purge", data_variant="outline")["Purge old ones"]
            if shown and reader.may("dead_letters.purge")
            else None,
        ],
        h.p(".quiet")["Calls that failed after every retry. Set right what was wrong, then replay them."],
        _table(reader, shown, people)
        if shown
        else empty("Nothing failed for good", "Calls that fail after every retry will be here."),
        _older(shown[-1]) if more else None,
        part=_HERE,
        done=done(reader, _DONE),
    )


@pages.get(f"{_HERE}/purge", need="dead_letters.purge")
async def ask_purge_old(reader: Reader) -> Response:
    return confirm(
        reader,
        "Purge old dead letters?",
        "Those older than 30 days are forgotten, with what they were given, and cannot be replayed any more.",
        part=_HERE,
        action=f"{_HERE}/purge",
        label="Purge",
        back=_HERE,
    )


@pages.post(f"{_HERE}/purge", need="dead_letters.purge")
async def purge_old(reader: Reader) -> Response:
    await reader.hr.dead_letters.purge(by=reader.who, before=reader.now - _MONTH)
    return go(f"{_HERE}?done=old")


@pages.get(f"{_HERE}/{{id}}", need=_NEED)
async def inspect(reader: Reader) -> Response:
    return await _inspect(reader, await _letter(reader))


@pages.post(f"{_HERE}/{{id}}/replay", need="dead_letters.replay")
async def replay(reader: Reader) -> Response:
    letter = await _letter(reader)
    try:
        outcome = await reader.hr.dead_letters.replay(letter.id, by=reader.who)
    except HandrailError as refused:
        return await _inspect(reader, await _letter(reader), str(refused))
    return go(f"{_HERE}/{letter.id}?done=replay-{outcome.status}")


@pages.get(f"{_HERE}/{{id}}/purge", need="dead_letters.purge")
async def ask_purge(reader: Reader) -> Response:
    letter = await _letter(reader)
    return confirm(
        reader,
        f"Purge this call of {letter.tool}?",
        "It is forgotten, with what it was given, and cannot be replayed any more.",
        part=_HERE,
        action=f"{_HERE}/{letter.id}/purge",
        label="Purge",
        back=f"{_HERE}/{letter.id}",
    )


@pages.post(f"{_HERE}/{{id}}/purge", need="dead_letters.purge")
async def purge(reader: Reader) -> Response:
    await reader.hr.dead_letters.purge((await _letter(reader)).id, by=reader.who)
    return go(f"{_HERE}?done=purged")


async def _letter(reader: Reader) -> DeadLetter:
    id = reader.part("id")
    found = await reader.hr.dead_letters.get(id, reader.who) if plausible(id) else None
    if found is None:
        raise NotThere
    return found


async def _people(reader: Reader, letters: list[DeadLetter]) -> dict[str, str]:
    offices = reader.platform.offices
    ids = [one.user for one in letters if one.user is not None]
    return {} if offices is None else await offices.people.names(reader.who.tenant, ids)


def _table(reader: Reader, letters: list[DeadLetter], people: dict[str, str]) -> h.Element:
    heads = ("Tool", "Why", "By", "When", "Now")
    return h.div(".table-container", tabindex="0", role="region", aria_label="Dead letters")[
        h.table(".table.set-letters")[
            h.thead[h.tr[(h.th(scope="col")[one] for one in heads)]],
            h.tbody[
                (
                    h.tr[
                        h.th(scope="row")[h.a(href=f"{_HERE}/{one.id}")[one.tool]],
                        h.td(".set-why")[_first_words(one.error)],
                        h.td[_by(one, people)],
                        h.td[when(one.at, reader.now)],
                        h.td[_state(one)],
                    ]
                    for one in letters
                )
            ],
        ]
    ]


def _older(last: DeadLetter) -> h.Element:
    there = f"{_HERE}?after={quote(last.cursor)}"
    return h.p[h.a(".btn", href=there, data_variant="outline")["Older ones"]]


async def _inspect(reader: Reader, letter: DeadLetter, problem: str | None = None) -> Response:
    people = await _people(reader, [letter])
    through = THROUGH.get(letter.call.source, letter.call.source)
    return settings(
        reader,
        letter.tool,
        h.header(".head")[h.h1[letter.tool], _state(letter)],
        h.p(".quiet")[
            f"Called by {_by(letter, people)} through {through}, ",
            when(letter.at, reader.now),
            f", tried {count(letter.attempts, 'time')}. ",
            h.a(href=f"/sessions/{quote(letter.session, safe='')}")["Its session"]
            if reader.may("events.read")
            else None,
        ],
        h.div(".alert", role="alert", data_variant="destructive")[h.p[problem]] if problem else None,
        h.section(".panel.stack")[
            h.h2["Why it failed"],
            block_of_text(letter.error),
            [h.h3["Earlier tries"], h.ol[(h.li[block_of_text(one)] for one in letter.earlier_errors)]]
            if letter.earlier_errors
            else None,
        ],
        h.section(".panel.stack")[
            h.h2["What it was given"],
            draw_value(dict(letter.args), id="args"),
            as_json(dict(letter.args), "As JSON"),
        ],
        _actions(reader, letter),
        part=_HERE,
        done=None if problem else done(reader, _DONE),
        status=409 if problem else 200,
    )


def _actions(reader: Reader, letter: DeadLetter) -> h.Element:
    replays = reader.may("dead_letters.replay") and letter.status == "open"
    return h.div(".row")[
        h.form(method="post", action=f"{_HERE}/{letter.id}/replay")[
            h.button(".btn", type="submit")["Replay this call"]
        ]
        if replays
        else None,
        h.a(".btn", href=f"{_HERE}/{letter.id}/purge", data_variant="outline")["Purge"]
        if reader.may("dead_letters.purge")
        else None,
        h.details(".quiet")[h.summary["For support"], h.code[f"{letter.id} {letter.code or ''}"]],
    ]


def _state(letter: DeadLetter) -> h.Element:
    word, tone = _STATES[letter.status]
    return h.span(class_=f"mark mark-{tone}")[word]


def _by(letter: DeadLetter, people: dict[str, str]) -> str:
    if letter.agent is not None:
        return f"agent “{letter.agent}”"
    return "a program" if letter.user is None else called(letter.user, people)


def _first_words(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= 90 else f"{line[:89]}…"
