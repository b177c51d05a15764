"""Keys: what opens the door to programs and agents. Each is shown once, when it is made."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.core.errors import HandrailError
from handrail.doors.web.frame import empty
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.settings.key_form import Wanted, key_form, read_wanted
from handrail.doors.web.pages.settings.shell import confirm, done, settings
from handrail.doors.web.routing import NotThere, Pages, Reader, go
from handrail.doors.web.words import called, when
from handrail.identity.keys import KeyText
from handrail.store.api_keys import ApiKey

pages = Pages()
_HERE, _NEED = "/settings/keys", "keys.manage"
_DONE = {"revoked": "The key was revoked. It opens nothing any more."}
_DOORS = {"api": "REST only", "mcp": "MCP only", None: "REST and MCP"}


@pages.get(_HERE, need=_NEED)
async def show(reader: Reader) -> Response:
    found = await reader.offices.keys.list(reader.who)
    people = await reader.offices.people.names(reader.who.tenant, [one.user for one in found if one.user])
    live = [one for one in found if one.is_live(reader.now)]
    over = [one for one in found if not one.is_live(reader.now)]
    return settings(
        reader,
        "Keys",
        h.header(".head")[
            h.h1["Keys"],
            h.a(".btn", href=f"{_HERE}/new")[icon("plus"), "New key"],
        ],
        _table(reader, live, people)
        if live
        else empty("No keys yet", "A key lets an agent or a program call tools in your tenant."),
        h.details[
            h.summary[f"{len(over)} that are over"],
            _table(reader, over, people),
        ]
        if over
        else None,
        part=_HERE,
        done=done(reader, _DONE),
    )


@pages.get(f"{_HERE}/new", need=_NEED)
async def ask(reader: Reader) -> Response:
    return await _asking(reader, Wanted())


@pages.post(_HERE, need=_NEED)
async def make(reader: Reader) -> Response:
    """The new key, to be copied: nobody can read it again."""
    wanted = read_wanted(await reader.form())
    if wrong := wanted.wrong():
        return await _asking(reader, wanted, wrong)
    try:
        text, made = await reader.offices.keys.make(reader.who, wanted.name, wanted.kind, **wanted.bounds())
    except HandrailError as refused:
        return await _asking(reader, wanted, problem=str(refused))
    return _shown(reader, text, made)


@pages.get(f"{_HERE}/{{id}}/revoke", need=_NEED)
async def ask_revoke(reader: Reader) -> Response:
    key = await _live(reader)
    said = f"Whoever uses “{key.name}” is not let in any more, within a second. This cannot be undone."
    return confirm(
        reader,
        f"Revoke “{key.name}”?",
        said,
        part=_HERE,
        action=f"{_HERE}/{key.id}/revoke",
        label="Revoke the key",
        back=_HERE,
    )


@pages.post(f"{_HERE}/{{id}}/revoke", need=_NEED)
async def revoke(reader: Reader) -> Response:
    await reader.offices.keys.revoke(reader.who, (await _live(reader)).id)
    return go(f"{_HERE}?done=revoked")


async def _live(reader: Reader) -> ApiKey:
    for one in await reader.offices.keys.list(reader.who):
        if one.id == reader.part("id") and one.revoked_at is None:
            return one
    raise NotThere


async def _asking(
    reader: Reader, wanted: Wanted, wrong: dict[str, str] | None = None, problem: str | None = None
) -> Response:
    people = await reader.offices.people.members(reader.who) if reader.may("members.manage") else []
    return settings(
        reader,
        "New key",
        h.h1["New key"],
        key_form(reader.who, wanted, people, wrong or {}, problem),
        part=_HERE,
        status=400 if wrong or problem else 200,
    )


def _shown(reader: Reader, text: KeyText, made: ApiKey) -> Response:
    return settings(
        reader,
        "Your new key",
        h.section(".panel.stack.set-narrow")[
            h.h1[f"Key “{made.name}”"],
            h.p["Copy it now: it is shown only here, and nobody can read it again."],
            h.label(".label", for_="new-key")["The key"],
            h.div(".row.set-key")[
                h.input("#new-key.input.mono", type="text", readonly=True, value=text.reveal()),
                h.button(".btn", type="button", data_copy="new-key", data_variant="outline")[
                    icon("copy"), "Copy"
                ],
            ],
            h.p(".quiet")[
                "Send it as ",
                h.code["Authorization: Bearer …"],
                " to ",
                h.code["/api"],
                " or ",
                h.code["/mcp"],
                ".",
            ],
            h.p[h.a(".btn", href=_HERE)["Done, I have copied it"]],
        ],
        part=_HERE,
    )


def _table(reader: Reader, keys: list[ApiKey], people: dict[str, str]) -> h.Element:
    return h.div(".table-container", tabindex="0", role="region", aria_label="Keys")[
        h.table(".table")[
            h.thead[h.tr[(h.th(scope="col")[one] for one in _HEADS)]],
            h.tbody[(_row(reader, one, people) for one in keys)],
        ]
    ]


_HEADS = ("Name", "For", "Reaches", "Door", "Last used", "Ends", h.span(".sr-only")["Actions"])


def _row(reader: Reader, key: ApiKey, people: dict[str, str]) -> h.Element:
    now = reader.now
    return h.tr[
        h.th(scope="row")[key.name, h.br, h.code(".quiet")[f"hr_{reader.who.tenant}_{key.id}"]],
        h.td[_whose(key, people)],
        h.td[_reach(key)],
        h.td[_DOORS.get(key.audience, key.audience)],
        h.td[when(key.last_used_at, now) if key.last_used_at else h.span(".quiet")["never"]],
        h.td[_end(key, now)],
        h.td(".num")[
            h.a(".btn", href=f"{_HERE}/{key.id}/revoke", data_variant="outline", data_size="sm")[
                "Revoke", h.span(".sr-only")[f" {key.name}"]
            ]
            if key.is_live(now)
            else None
        ],
    ]


def _whose(key: ApiKey, people: dict[str, str]) -> str:
    person = None if key.user is None else called(key.user, people)
    if key.kind == "person":
        return f"{person}, in person"
    what = f"agent “{key.agent or key.name}”" if key.kind == "agent" else "a program"
    return what if person is None else f"{what} for {person}"


def _reach(key: ApiKey) -> str:
    tools = "all tools" if key.tools is None else ", ".join(key.tools) or "no tools"
    return tools if key.ceiling is None else f"{tools}, up to {key.ceiling}"


def _end(key: ApiKey, now: float) -> h.Node:
    if key.revoked_at is not None:
        return ["revoked ", when(key.revoked_at, now)]
    return when(key.expires_at, now) if key.expires_at else h.span(".quiet")["never"]
