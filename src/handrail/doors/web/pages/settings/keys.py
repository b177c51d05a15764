"""API keys of programs and agents. Each is shown once, when it is made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import htpy as h
from starlette.datastructures import FormData
from starlette.responses import Response

from handrail.core.define.levels import LEVELS
from handrail.core.define.principal import KeyKind, Principal
from handrail.core.errors import HandrailError
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import display_name, time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import empty_state
from handrail.doors.web.pages.settings.layout import confirm_page, done_message, settings_page
from handrail.doors.web.pages.settings.roles import grantable_permissions, split_words
from handrail.doors.web.routing import PageContext, PageNotFound, PageRouter, redirect
from handrail.identity.api_keys import KeyText
from handrail.store.api_keys import ApiKey
from handrail.store.users import User

_KINDS: dict[KeyKind, str] = {
    "agent": "An agent: what it asks for goes by the rules for agents",
    "service": "A program of yours, such as a nightly job",
    "person": "Yourself, at a terminal or in a script",
}
_LIFETIMES = {"30": "In 30 days", "90": "In 90 days", "365": "In a year", "": "Never"}

_LEVELS = {
    "": "As far as you do",
    "read": "Read only",
    "draft": "Read and draft",
    "write": "Write, but destroy nothing",
    "destructive": "Everything, also what destroys",
}
_AUDIENCES = {"": "REST and MCP", "mcp": "MCP only", "api": "REST only"}
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class KeyForm:
    """A key as somebody typed it."""

    name: str = ""
    kind: KeyKind = "agent"
    user: str | None = None
    """Empty for nobody; None before anything was chosen."""
    agent: str = ""
    audience: str = ""
    ceiling: str = ""
    tools: str = ""
    days: str = "90"
    permissions: tuple[str, ...] = ()

    def wrong(self) -> dict[str, str]:
        """What is wrong with it, by field."""
        found = {}
        if not 1 <= len(self.name) <= _MAX_NAME:
            found["name"] = f"Say in 1 to {_MAX_NAME} characters what the key is for."
        if self.days not in _LIFETIMES:
            found["days"] = "Choose one of these."
        if len(self.agent) > _MAX_NAME:
            found["agent"] = f"An agent's name has at most {_MAX_NAME} characters."
        return found

    def bounds(self) -> dict[str, Any]:
        """How far it reaches, as the office of keys takes it."""
        return {
            "user": self.user or None,
            "agent": (self.agent or None) if self.kind == "agent" else None,
            "permissions": self.permissions or None,
            "tools": split_words(self.tools) or None,
            "ceiling": self.ceiling or None,
            "audience": self.audience or None,
            "lifetime": float(self.days) * 86_400 if self.days else None,
        }


def read_key_form(form: FormData) -> KeyForm:
    """What was posted."""
    kinds: list[KeyKind] = [one for one in _KINDS if one == c.posted_text(form, "kind")]
    return KeyForm(
        name=c.posted_text(form, "name").strip(),
        kind=kinds[0] if kinds else "agent",
        user=c.posted_text(form, "user"),
        agent=c.posted_text(form, "agent").strip(),
        audience=c.posted_text(form, "audience"),
        ceiling=c.posted_text(form, "ceiling"),
        tools=c.posted_text(form, "tools"),
        days=c.posted_text(form, "days"),
        permissions=tuple(c.posted_texts(form, "permissions")),
    )


def render_key_form(
    by: Principal,
    wanted: KeyForm,
    people: Iterable[tuple[User, frozenset[str]]],
    wrong: dict[str, str],
    problem: str | None,
) -> h.Element:
    """The form. It offers no more than whoever fills it in may give."""
    levels = LEVELS if by.ceiling is None else LEVELS[: LEVELS.index(by.ceiling) + 1]
    others = [(one.id, one.name) for one, _ in people if one.id != by.user and not one.disabled]
    owners = [(by.user or "", "You"), *others, *([("", "Nobody")] if by.user else [])]
    return h.form(".panel.stack.set-narrow", method="post", action="/settings/keys")[
        c.alert(problem) if problem else None,
        c.field(
            "name", "What is it for", value=wanted.name, error=wrong.get("name"), maxlength=str(_MAX_NAME)
        ),
        c.select("kind", "Who uses it", _KINDS.items(), value=wanted.kind),
        c.field(
            "agent",
            "Name of the agent",
            value=wanted.agent,
            error=wrong.get("agent"),
            hint="Reviewers see it beside what it asks for. Empty: the name above.",
        ),
        c.select(
            "user",
            "Acts for",
            owners,
            value=(by.user or "") if wanted.user is None else wanted.user,
            hint="It never reaches further than this person does when it is used.",
        ),
        c.select("audience", "Opens", _AUDIENCES.items(), value=wanted.audience),
        c.select("ceiling", "Reaches", [(one, _LEVELS[one]) for one in ("", *levels)], value=wanted.ceiling),
        c.text_area(
            "tools",
            "Tools",
            value=wanted.tools,
            hint="Names or patterns such as data.*, one a line. Empty: every tool.",
        ),
        c.select("days", "Ends", _LIFETIMES.items(), value=wanted.days, error=wrong.get("days")),
        h.details[
            h.summary["Only some permissions"],
            c.checkboxes(
                "permissions",
                "It holds only these",
                grantable_permissions(by),
                chosen=wanted.permissions,
                hint="None chosen: as many as you hold, for a key of a person; none for a key of nobody.",
            ),
        ],
        h.div(".row")[
            c.submit("Make the key"), h.a(".btn", href="/settings/keys", data_variant="outline")["Cancel"]
        ],
    ]


router = PageRouter()
_PATH, _PERMISSION = "/settings/keys", "keys.manage"
_DONE = {"revoked": "The key was revoked. It opens nothing any more."}
_AUDIENCE_LABELS = {"api": "REST only", "mcp": "MCP only", None: "REST and MCP"}


@router.get(_PATH, need=_PERMISSION)
async def show(ctx: PageContext) -> Response:
    found = await ctx.services.keys.list(ctx.who)
    people = await ctx.services.people.names(ctx.who.tenant, [one.user for one in found if one.user])
    live = [one for one in found if one.is_live(ctx.now)]
    over = [one for one in found if not one.is_live(ctx.now)]
    return settings_page(
        ctx,
        "Keys",
        h.header(".head")[
            h.h1["Keys"],
            h.a(".btn", href=f"{_PATH}/new")[icon("plus"), "New key"],
        ],
        _table(ctx, live, people)
        if live
        else empty_state("No keys yet", "A key lets an agent or a program call tools in your tenant."),
        h.details[
            h.summary[f"{len(over)} that are over"],
            _table(ctx, over, people),
        ]
        if over
        else None,
        part=_PATH,
        done=done_message(ctx, _DONE),
    )


@router.get(f"{_PATH}/new", need=_PERMISSION)
async def new_key(ctx: PageContext) -> Response:
    return await _new_page(ctx, KeyForm())


@router.post(_PATH, need=_PERMISSION)
async def create_key(ctx: PageContext) -> Response:
    """The new key, to be copied: nobody can read it again."""
    wanted = read_key_form(await ctx.form())
    if wrong := wanted.wrong():
        return await _new_page(ctx, wanted, wrong)
    try:
        text, made = await ctx.services.keys.make(ctx.who, wanted.name, wanted.kind, **wanted.bounds())
    except HandrailError as refused:
        return await _new_page(ctx, wanted, problem=str(refused))
    return _created_page(ctx, text, made)


@router.get(f"{_PATH}/{{id}}/revoke", need=_PERMISSION)
async def ask_revoke(ctx: PageContext) -> Response:
    key = await _find_live_key(ctx)
    said = f"Whoever uses “{key.name}” is not let in any more, within a second. This cannot be undone."
    return confirm_page(
        ctx,
        f"Revoke “{key.name}”?",
        said,
        part=_PATH,
        action=f"{_PATH}/{key.id}/revoke",
        label="Revoke the key",
        back=_PATH,
    )


@router.post(f"{_PATH}/{{id}}/revoke", need=_PERMISSION)
async def revoke(ctx: PageContext) -> Response:
    await ctx.services.keys.revoke(ctx.who, (await _find_live_key(ctx)).id)
    return redirect(f"{_PATH}?done=revoked")


async def _find_live_key(ctx: PageContext) -> ApiKey:
    for one in await ctx.services.keys.list(ctx.who):
        if one.id == ctx.part("id") and one.revoked_at is None:
            return one
    raise PageNotFound


async def _new_page(
    ctx: PageContext, wanted: KeyForm, wrong: dict[str, str] | None = None, problem: str | None = None
) -> Response:
    people = await ctx.services.people.members(ctx.who) if ctx.may("members.manage") else []
    return settings_page(
        ctx,
        "New key",
        h.h1["New key"],
        render_key_form(ctx.who, wanted, people, wrong or {}, problem),
        part=_PATH,
        status=400 if wrong or problem else 200,
    )


def _created_page(ctx: PageContext, text: KeyText, made: ApiKey) -> Response:
    return settings_page(
        ctx,
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
            h.p[h.a(".btn", href=_PATH)["Done, I have copied it"]],
        ],
        part=_PATH,
    )


def _table(ctx: PageContext, keys: list[ApiKey], people: dict[str, str]) -> h.Element:
    return h.div(".table-container", tabindex="0", role="region", aria_label="Keys")[
        h.table(".table")[
            h.thead[h.tr[(h.th(scope="col")[one] for one in _HEADS)]],
            h.tbody[(_row(ctx, one, people) for one in keys)],
        ]
    ]


_HEADS = ("Name", "For", "Reaches", "Door", "Last used", "Ends", h.span(".sr-only")["Actions"])


def _row(ctx: PageContext, key: ApiKey, people: dict[str, str]) -> h.Element:
    now = ctx.now
    return h.tr[
        h.th(scope="row")[key.name, h.br, h.code(".quiet")[f"hr_{ctx.who.tenant}_{key.id}"]],
        h.td[_owner(key, people)],
        h.td[_reach(key)],
        h.td[_AUDIENCE_LABELS.get(key.audience, key.audience)],
        h.td[time_ago(key.last_used_at, now) if key.last_used_at else h.span(".quiet")["never"]],
        h.td[_end(key, now)],
        h.td(".num")[
            h.a(".btn", href=f"{_PATH}/{key.id}/revoke", data_variant="outline", data_size="sm")[
                "Revoke", h.span(".sr-only")[f" {key.name}"]
            ]
            if key.is_live(now)
            else None
        ],
    ]


def _owner(key: ApiKey, people: dict[str, str]) -> str:
    person = None if key.user is None else display_name(key.user, people)
    if key.kind == "person":
        return f"{person}, in person"
    what = f"agent “{key.agent or key.name}”" if key.kind == "agent" else "a program"
    return what if person is None else f"{what} for {person}"


def _reach(key: ApiKey) -> str:
    tools = "all tools" if key.tools is None else ", ".join(key.tools) or "no tools"
    return tools if key.ceiling is None else f"{tools}, up to {key.ceiling}"


def _end(key: ApiKey, now: float) -> h.Node:
    if key.revoked_at is not None:
        return ["revoked ", time_ago(key.revoked_at, now)]
    return time_ago(key.expires_at, now) if key.expires_at else h.span(".quiet")["never"]
