"""Embeds: tools that are published for everybody, on pages of other places."""

from __future__ import annotations

from collections.abc import Callable

import htpy as h
from starlette.responses import Response

from handrail.core.errors import HandrailError, ToolError
from handrail.doors.http.whose import plausible
from handrail.doors.web import controls as c
from handrail.doors.web.frame import empty
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.settings.embed_form import (
    Wanted,
    as_wanted,
    embed_form,
    lines,
    read_wanted,
)
from handrail.doors.web.pages.settings.shell import confirm, done, settings
from handrail.doors.web.routing import NotThere, Pages, Reader, go
from handrail.doors.web.words import when
from handrail.store.embeds import Embed

pages = Pages()
_HERE, _NEED = "/settings/embeds", "embeds.manage"
_DONE = {
    "saved": "Saved. It holds from now on.",
    "off": "Switched off. Whoever looks now reads that it is no longer here.",
    "on": "Switched on again.",
    "revoked": "Ended for good.",
    "new": "Published.",
}


@pages.get(_HERE, need=_NEED)
async def show(reader: Reader) -> Response:
    found = await reader.offices.embeds.list(reader.who)
    live = [one for one in found if one.revoked_at is None]
    over = [one for one in found if one.revoked_at is not None]
    names = await _names(reader)
    return settings(
        reader,
        "Embeds",
        h.header(".head")[h.h1["Embeds"], h.a(".btn", href=f"{_HERE}/new")[icon("plus"), "Publish tools"]],
        _table(reader, live, names)
        if live
        else empty(
            "Nothing is published", "An embed shows tools on a site of yours, to visitors without an account."
        ),
        h.details[h.summary[f"{len(over)} that ended"], _table(reader, over, names)] if over else None,
        part=_HERE,
        done=done(reader, _DONE),
    )


@pages.get(f"{_HERE}/new", need=_NEED)
async def ask(reader: Reader) -> Response:
    return _asking(reader, Wanted(tools=reader.query.get("tool", "")[:200]))


@pages.post(_HERE, need=_NEED)
async def publish(reader: Reader) -> Response:
    wanted = read_wanted(await reader.form())
    wrong = wanted.wrong()
    tools = []
    for name in lines(wanted.tools):
        try:
            tools.append((await reader.hr.describe(name, reader.who, source="web")).tool)
        except ToolError:
            wrong["tools"] = f"There is no tool “{name[:100]}”, or none that you may use."
    if not tools and "tools" not in wrong:
        wrong["tools"] = "Name at least one tool."
    if wrong:
        return _asking(reader, wanted, wrong)
    changes = wanted.changes
    try:
        _, made = await reader.offices.embeds.publish(
            reader.who,
            changes.pop("title"),
            tools,
            changes.pop("origins"),
            lifetime=wanted.lifetime,
            **changes,
        )
    except HandrailError as refused:
        return _asking(reader, wanted, problem=str(refused))
    return go(f"{_HERE}/{made.id}?done=new")


@pages.get(f"{_HERE}/{{id}}", need=_NEED)
async def one(reader: Reader) -> Response:
    embed = await _there(reader)
    return await _one(reader, embed, as_wanted(embed))


@pages.post(f"{_HERE}/{{id}}", need=_NEED)
async def save(reader: Reader) -> Response:
    embed = await _alive(reader)
    wanted = read_wanted(await reader.form())
    wrong = wanted.wrong()
    if not wrong:
        try:
            await reader.offices.embeds.change(reader.who, embed.id, wanted.changes)
            return go(f"{_HERE}/{embed.id}?done=saved")
        except HandrailError as refused:
            return await _one(reader, embed, wanted, {}, str(refused))
    return await _one(reader, embed, wanted, wrong)


@pages.post(f"{_HERE}/{{id}}/switch", need=_NEED)
async def switch(reader: Reader) -> Response:
    """The kill switch, off or on again: as its button said, however often it is pressed."""
    embed = await _alive(reader)
    to = "on" if c.text(await reader.form(), "to") == "on" else "off"
    await reader.offices.embeds.change(reader.who, embed.id, {"enabled": to == "on"})
    return go(f"{_HERE}/{embed.id}?done={to}")


@pages.get(f"{_HERE}/{{id}}/revoke", need=_NEED)
async def ask_revoke(reader: Reader) -> Response:
    embed = await _alive(reader)
    return confirm(
        reader,
        f"End “{embed.title}”?",
        "Sites that show it say that it is no longer here. This cannot be undone.",
        part=_HERE,
        action=f"{_HERE}/{embed.id}/revoke",
        label="End it for good",
        back=f"{_HERE}/{embed.id}",
    )


@pages.post(f"{_HERE}/{{id}}/revoke", need=_NEED)
async def revoke(reader: Reader) -> Response:
    await reader.offices.embeds.revoke(reader.who, (await _alive(reader)).id)
    return go(f"{_HERE}?done=revoked")


async def _there(reader: Reader) -> Embed:
    name = reader.part("id")
    found = await reader.offices.embeds.get(reader.who, name) if plausible(name) else None
    if found is None:
        raise NotThere
    return found


async def _alive(reader: Reader) -> Embed:
    found = await _there(reader)
    if found.revoked_at is not None:
        raise NotThere
    return found


def _asking(
    reader: Reader, wanted: Wanted, wrong: dict[str, str] | None = None, problem: str | None = None
) -> Response:
    return settings(
        reader,
        "Publish tools",
        h.h1["Publish tools"],
        embed_form(wanted, wrong or {}, problem, action=_HERE, fresh=True),
        part=_HERE,
        status=422 if wrong or problem else 200,
    )


async def _one(
    reader: Reader,
    embed: Embed,
    wanted: Wanted,
    wrong: dict[str, str] | None = None,
    problem: str | None = None,
) -> Response:
    today = await reader.offices.embeds.runs_today(reader.who, embed.id)
    alive, names = embed.revoked_at is None, await _names(reader)
    return settings(
        reader,
        embed.title,
        h.header(".head")[
            h.h1[embed.title], h.div(".row")[_mark(embed, reader.now), _acts(embed) if alive else None]
        ],
        h.p(".quiet")[f"{today:,} of {embed.runs_per_day:,} runs today. Shows {names(embed)}."],
        _snippet(reader, embed) if alive else None,
        embed_form(wanted, wrong or {}, problem, action=f"{_HERE}/{embed.id}", fresh=False)
        if alive
        else None,
        part=_HERE,
        done=done(reader, _DONE),
        status=422 if wrong or problem else 200,
    )


def _acts(embed: Embed) -> h.Fragment:
    return h.fragment[
        h.form(method="post", action=f"{_HERE}/{embed.id}/switch")[
            c.hidden(to="off" if embed.enabled else "on"),
            h.button(".btn", type="submit", data_variant="outline", data_size="sm")[
                icon("power"), "Switch it off" if embed.enabled else "Switch it on"
            ],
        ],
        h.a(".btn", href=f"{_HERE}/{embed.id}/revoke", data_variant="ghost", data_size="sm")[
            "End it for good"
        ],
    ]


def _snippet(reader: Reader, embed: Embed) -> h.Element:
    url = reader.request.url
    address = f"{url.scheme}://{url.netloc}/embed/{reader.offices.embeds.token(reader.who, embed).reveal()}"
    # as plain text: what htpy makes counts as markup, and its title would be copied without its escapes
    code = "".join(h.iframe(src=address, title=embed.title, width="100%", height="640").iter_chunks())
    return h.section(".panel.stack.set-narrow", aria_labelledby="snippet-title")[
        h.h2("#snippet-title")["Put it on a page"],
        h.label(".label", for_="snippet")["HTML"],
        h.textarea("#snippet.textarea.mono", readonly=True, rows="4")[code],
        h.div(".row")[
            h.button(".btn", type="button", data_copy="snippet", data_variant="outline", data_size="sm")[
                icon("copy"), "Copy"
            ]
        ],
        h.p(".quiet")["Whoever sees the page can use it, as often as the quota says."],
    ]


def _mark(embed: Embed, now: float) -> h.Element:
    if embed.revoked_at is not None:
        return h.span(".mark.mark-quiet")[icon("circle-slash"), "ended"]
    if not embed.enabled:
        return h.span(".mark.mark-warn")[icon("power"), "switched off"]
    if not embed.is_open(now):
        return h.span(".mark.mark-quiet")[icon("timer-off"), "over"]
    return h.span(".mark.mark-good")[icon("check"), "published"]


async def _names(reader: Reader) -> Callable[[Embed], str]:
    """What the tools of an embed are called."""
    view = await reader.offices.tools.view(reader.who)

    def names(embed: Embed) -> str:
        found = ((name, view.candidate(name)) for name in embed.tools)
        return ", ".join(name if tool is None else tool.name for name, tool in found)

    return names


def _table(reader: Reader, found: list[Embed], names: Callable[[Embed], str]) -> h.Element:
    heads = ("Name", "Stands", "Tools", "Sites", "Ends")
    return h.div(".table-container", tabindex="0", role="region", aria_label="Embeds")[
        h.table(".table")[
            h.thead[h.tr[(h.th(scope="col")[word] for word in heads)]],
            h.tbody[
                (
                    h.tr[
                        h.th(scope="row")[h.a(href=f"{_HERE}/{one.id}")[one.title]],
                        h.td[_mark(one, reader.now)],
                        h.td[names(one)],
                        h.td[", ".join(one.origins) or h.span(".quiet")["none"]],
                        h.td[
                            when(one.expires_at, reader.now) if one.expires_at else h.span(".quiet")["never"]
                        ],
                    ]
                    for one in found
                )
            ],
        ]
    ]
