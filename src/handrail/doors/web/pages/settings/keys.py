"""API keys of programs and agents. Each is shown once, when it is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import htpy as h
from starlette.datastructures import FormData
from starlette.responses import Response

from handrail.core.define.levels import LEVELS
from handrail.core.define.principal import KeyKind, Principal
from handrail.core.errors import HandrailError
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import display_name, time_ago
from handrail.doors.web.layout import empty_state
from handrail.doors.web.pages.settings.roles import grantable_permissions, split_words
from handrail.doors.web.pages.settings.section import Question, current_and_past, settings_section
from handrail.doors.web.router import PageContext, PageNotFound
from handrail.identity.api_keys import KeyText
from handrail.store.api_keys import ApiKey
from handrail.store.users import User

section = settings_section("Keys", revoked="The key was revoked. It opens nothing any more.")
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

    def errors(self) -> dict[str, str]:
        """What is wrong with it, by field."""
        errors = {}
        if not 1 <= len(self.name) <= _MAX_NAME:
            errors["name"] = f"Say in 1 to {_MAX_NAME} characters what the key is for."
        if self.days not in _LIFETIMES:
            errors["days"] = "Choose one of these."
        if len(self.agent) > _MAX_NAME:
            errors["agent"] = f"An agent's name has at most {_MAX_NAME} characters."
        return errors

    def bounds(self) -> dict[str, Any]:
        """How far it reaches, as `services.keys` takes it."""
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
    texts = {name: c.posted_text(form, name) for name in ("user", "audience", "ceiling", "tools", "days")}
    return KeyForm(
        name=c.posted_text(form, "name").strip(),
        kind=next((kind for kind in _KINDS if kind == c.posted_text(form, "kind")), "agent"),
        agent=c.posted_text(form, "agent").strip(),
        permissions=tuple(c.posted_texts(form, "permissions")),
        **texts,
    )


def render_key_form(
    by: Principal,
    draft: KeyForm,
    people: Iterable[tuple[User, frozenset[str]]],
    errors: Mapping[str, str],
    problem: str | None,
) -> h.Element:
    """The form. It offers no more than whoever fills it in may give."""
    levels = LEVELS if by.ceiling is None else LEVELS[: LEVELS.index(by.ceiling) + 1]
    me = by.user or ""
    others = [(user.id, user.name) for user, _ in people if user.id != by.user and not user.disabled]
    owners = [(me, "You"), *others, *([("", "Nobody")] if me else [])]
    values = asdict(draft) | {"user": me if draft.user is None else draft.user}
    form = c.Controls(values, errors)
    return h.form(".panel.stack.set-narrow", method="post", action=section.path)[
        c.alert(problem),
        form.field("name", "What is it for", maxlength=str(_MAX_NAME)),
        form.select("kind", "Who uses it", _KINDS.items()),
        form.field(
            "agent",
            "Name of the agent",
            hint="Reviewers see it beside what it asks for. Empty: the name above.",
        ),
        form.select(
            "user", "Acts for", owners, hint="It never reaches further than this person does when it is used."
        ),
        form.select("audience", "Opens", _AUDIENCES.items()),
        form.select("ceiling", "Reaches", [(level, _LEVELS[level]) for level in ("", *levels)]),
        form.text_area(
            "tools", "Tools", hint="Names or patterns such as data.*, one a line. Empty: every tool."
        ),
        form.select("days", "Ends", _LIFETIMES.items()),
        h.details[
            h.summary["Only some permissions"],
            form.checkboxes(
                "permissions",
                "It holds only these",
                grantable_permissions(by),
                hint="None chosen: as many as you hold, for a key of a person; none for a key of nobody.",
            ),
        ],
        h.div(".row")[c.submit("Make the key"), c.link_button(section.path, "Cancel", "outline")],
    ]


@section.get()
async def show(ctx: PageContext) -> Response:
    keys = await ctx.services.keys.list(ctx.who)
    people = await ctx.user_names(key.user for key in keys)
    empty = empty_state("No keys yet", "A key lets an agent or a program call tools in your tenant.")
    tables = current_and_past(
        keys, lambda key: key.is_live(ctx.now), lambda part: _table(ctx, part, people), empty, "that are over"
    )
    return section.page(ctx, "Keys", section.head("New key"), tables)


@section.get("/new")
async def new_key(ctx: PageContext) -> Response:
    return await _new_page(ctx, KeyForm())


@section.post()
async def create_key(ctx: PageContext) -> Response:
    """The new key, to be copied: nobody can read it again."""
    draft = read_key_form(await ctx.form())
    if errors := draft.errors():
        return await _new_page(ctx, draft, errors)
    try:
        text, key = await ctx.services.keys.make(ctx.who, draft.name, draft.kind, **draft.bounds())
    except HandrailError as refused:
        return await _new_page(ctx, draft, problem=str(refused))
    return _created_page(ctx, text, key)


async def _ask_revoke(ctx: PageContext) -> Question:
    name = (await _find_live_key(ctx)).name
    text = f"Whoever uses “{name}” is not let in any more, within a second. This cannot be undone."
    return Question(f"Revoke “{name}”?", text, "Revoke the key")


@section.confirmed("/{id}/revoke", _ask_revoke, done="revoked")
async def revoke(ctx: PageContext) -> None:
    await ctx.services.keys.revoke(ctx.who, (await _find_live_key(ctx)).id)


async def _find_live_key(ctx: PageContext) -> ApiKey:
    for key in await ctx.services.keys.list(ctx.who):
        if key.id == ctx.part("id") and key.revoked_at is None:
            return key
    raise PageNotFound


async def _new_page(
    ctx: PageContext, draft: KeyForm, errors: Mapping[str, str] | None = None, problem: str | None = None
) -> Response:
    people = await ctx.services.people.members(ctx.who) if ctx.may("members.manage") else []
    form = render_key_form(ctx.who, draft, people, errors or {}, problem)
    status = 400 if errors or problem else 200
    return section.page(ctx, "New key", h.h1["New key"], form, status=status)


def _created_page(ctx: PageContext, text: KeyText, key: ApiKey) -> Response:
    header, api, mcp = h.code["Authorization: Bearer …"], h.code["/api"], h.code["/mcp"]
    return section.page(
        ctx,
        "Your new key",
        h.section(".panel.stack.set-narrow")[
            h.h1[f"Key “{key.name}”"],
            h.p["Copy it now: it is shown only here, and nobody can read it again."],
            c.shown_once("new-key", "The key", text.reveal(), "set-key"),
            h.p(".quiet")["Send it as ", header, " to ", api, " or ", mcp, "."],
            h.p[c.link_button(section.path, "Done, I have copied it")],
        ],
    )


_HEADS = ("Name", "For", "Reaches", "Door", "Last used", "Ends", h.span(".sr-only")["Actions"])


def _table(ctx: PageContext, keys: list[ApiKey], people: dict[str, str]) -> h.Element:
    return c.table("Keys", _HEADS, (_row(ctx, key, people) for key in keys))


def _row(ctx: PageContext, key: ApiKey, people: dict[str, str]) -> h.Element:
    revoke_label = ["Revoke", h.span(".sr-only")[f" {key.name}"]]
    return h.tr[
        h.th(scope="row")[key.name, h.br, h.code(".quiet")[f"hr_{ctx.who.tenant}_{key.id}"]],
        h.td[_owner(key, people)],
        h.td[_reach(key)],
        h.td[_AUDIENCES.get(key.audience or "", key.audience)],
        h.td[time_ago(key.last_used_at, ctx.now) if key.last_used_at else h.span(".quiet")["never"]],
        h.td[_end(key, ctx.now)],
        h.td(".num")[
            c.small_link(f"{section.path}/{key.id}/revoke", revoke_label) if key.is_live(ctx.now) else None
        ],
    ]


def _owner(key: ApiKey, people: dict[str, str]) -> str:
    person = None if key.user is None else display_name(key.user, people)
    if key.kind == "person":
        return f"{person}, in person"
    program = f"agent “{key.agent or key.name}”" if key.kind == "agent" else "a program"
    return program if person is None else f"{program} for {person}"


def _reach(key: ApiKey) -> str:
    tools = "all tools" if key.tools is None else ", ".join(key.tools) or "no tools"
    return tools if key.ceiling is None else f"{tools}, up to {key.ceiling}"


def _end(key: ApiKey, now: float) -> h.Node:
    if key.revoked_at is not None:
        return ["revoked ", time_ago(key.revoked_at, now)]
    return time_ago(key.expires_at, now) if key.expires_at else h.span(".quiet")["never"]
