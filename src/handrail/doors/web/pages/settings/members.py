"""Members: who belongs to the tenant, and as what. Nobody gives a role that gives more than they hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import htpy as h
from starlette.responses import Response

from handrail.core.define.principal import Principal
from handrail.core.errors import HandrailError
from handrail.doors.web import controls as c
from handrail.doors.web.pages.settings.section import Question, settings_section
from handrail.doors.web.router import PageContext, PageNotFound
from handrail.store.users import User

section = settings_section(
    "Members",
    added="They belong here now. Make them a one-time link with: handrail sign-in, and their address.",
    changed="Their roles were changed.",
    removed="They belong here no more.",
)
Roles = dict[str, frozenset[str]]
_ROLE_LABELS = {
    "owner": "owner: everything",
    "admin": "admin: everything but the tenant itself",
    "builder": "builder: makes and changes tools",
    "operator": "operator: runs things and sets right what failed",
    "approver": "approver: decides on approvals",
    "viewer": "viewer: looks, and changes nothing",
}


@section.get()
async def show(ctx: PageContext) -> Response:
    return await _list_page(ctx)


@section.post()
async def add(ctx: PageContext) -> Response:
    form = await ctx.form()
    email, name = c.posted_text(form, "email"), c.posted_text(form, "name")
    roles = c.posted_texts(form, "roles")
    errors: dict[str, str] = {}
    if not email.strip():
        errors["email"] = "Type the address of the person, such as ana@example.com."
    if not roles:
        errors["roles"] = "Choose at least one role."
    if not errors:
        try:
            await ctx.services.people.add_member(ctx.who, email, roles, name)
        except HandrailError as refused:
            errors["email"] = str(refused)
    if errors:
        return await _list_page(ctx, errors, {"email": email, "name": name, "roles": roles})
    return section.redirect("added")


@section.get("/{id}")
async def edit(ctx: PageContext) -> Response:
    return await _member_page(ctx)


@section.post("/{id}")
async def change(ctx: PageContext) -> Response:
    """Give and take roles, so that they have those that were chosen and those that are not ours to take."""
    people = ctx.services.people
    user, held = await _find_member(ctx)
    grantable = {name for name, _ in _grantable_roles(ctx.who, await people.roles(ctx.who))}
    chosen = set(c.posted_texts(await ctx.form(), "roles"))
    if not chosen | (held - grantable):
        error = "Choose at least one role, or remove the person below."
        return await _member_page(ctx, error, chosen)
    try:
        if added := chosen - held:
            await people.add_member(ctx.who, user.email, added)
        if removed := (held & grantable) - chosen:
            await people.remove_member(ctx.who, user.id, removed)
    except HandrailError as refused:
        return await _member_page(ctx, str(refused), chosen)
    return section.redirect("changed")


async def _ask_remove(ctx: PageContext) -> Question:
    user, _ = await _find_member(ctx)
    text = (
        "They lose every role here, and their keys open nothing any more. What they did stays in the record."
    )
    return Question(f"Remove {user.name}?", text, "Remove the person")


@section.confirmed("/{id}/remove", _ask_remove, done="removed")
async def remove(ctx: PageContext) -> None:
    user, _ = await _find_member(ctx)
    await ctx.services.people.remove_member(ctx.who, user.id)


async def _find_member(ctx: PageContext) -> tuple[User, frozenset[str]]:
    for user, roles in await ctx.services.people.members(ctx.who):
        if user.id == ctx.part("id"):
            return user, roles
    raise PageNotFound


async def _list_page(
    ctx: PageContext, errors: Mapping[str, str] | None = None, typed: Mapping[str, Any] | None = None
) -> Response:
    people = ctx.services.people
    members, roles = await people.members(ctx.who), await people.roles(ctx.who)
    form = c.Controls(typed or {}, errors or {})
    heads = ("Name", "Address", "Roles", h.span(".sr-only")["Actions"])
    return section.page(
        ctx,
        "Members",
        h.h1["Members"],
        c.table("Members", heads, (_row(ctx, user, held) for user, held in members)),
        h.form(".panel.stack.set-narrow", method="post", action=section.path)[
            h.h2["Add somebody"],
            form.field("email", "Address", kind="email"),
            form.field("name", "Name", hint="They can change it themselves."),
            form.checkboxes("roles", "Roles", _grantable_roles(ctx.who, roles)),
            h.div[c.submit("Add")],
        ],
        status=400 if errors else 200,
    )


async def _member_page(
    ctx: PageContext, error: str | None = None, chosen: Collection[str] | None = None
) -> Response:
    user, held = await _find_member(ctx)
    grantable = _grantable_roles(ctx.who, await ctx.services.people.roles(ctx.who))
    fixed = sorted(held - {name for name, _ in grantable})
    form = c.Controls({"roles": held if chosen is None else chosen}, {"roles": error} if error else {})
    action = f"{section.path}/{user.id}"
    return section.page(
        ctx,
        user.name,
        h.h1[user.name],
        h.form(".panel.stack.set-narrow", method="post", action=action)[
            h.p(".quiet")[user.email],
            h.p[f"Also {', '.join(fixed)}, which is not yours to give or take."] if fixed else None,
            form.checkboxes("roles", "Roles", grantable),
            h.div(".row")[
                c.submit("Save roles"), c.link_button(f"{action}/remove", "Remove the person", "outline")
            ],
        ],
        status=400 if error else 200,
    )


def _grantable_roles(by: Principal, roles: Roles) -> list[c.Option]:
    """The roles that somebody may give."""
    own = sorted(set(roles) - set(_ROLE_LABELS))
    names = [*(name for name in _ROLE_LABELS if name in roles), *own]
    return [(name, _ROLE_LABELS.get(name, name)) for name in names if all(map(by.holds, roles[name]))]


def _row(ctx: PageContext, user: User, held: frozenset[str]) -> h.Element:
    edit_label = ["Edit", h.span(".sr-only")[f" {user.name}"]]
    return h.tr[
        h.th(scope="row")[user.name, h.span(".quiet")[" (you)"] if user.id == ctx.who.user else None],
        h.td[user.email],
        h.td[h.span(".row")[map(c.badge, sorted(held))]],
        h.td(".num")[c.small_link(f"{section.path}/{user.id}", edit_label)],
    ]
