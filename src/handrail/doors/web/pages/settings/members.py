"""Members: who belongs to the tenant, and as what. Nobody gives a role that gives more than they hold."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.core.define.principal import Principal
from handrail.core.errors import HandrailError
from handrail.doors.web import controls as c
from handrail.doors.web.pages.settings.layout import confirm_page, done_message, settings_page
from handrail.doors.web.routing import PageContext, PageNotFound, PageRouter, redirect
from handrail.store.users import User

router = PageRouter()
_PATH, _PERMISSION = "/settings/members", "members.manage"
_DONE = {
    "added": "They belong here now. Make them a one-time link with: handrail sign-in, and their address.",
    "changed": "Their roles were changed.",
    "removed": "They belong here no more.",
}
Roles = dict[str, frozenset[str]]


@router.get(_PATH, need=_PERMISSION)
async def show(ctx: PageContext) -> Response:
    return await _page(ctx)


@router.post(_PATH, need=_PERMISSION)
async def add(ctx: PageContext) -> Response:
    form = await ctx.form()
    email, name, roles = (
        c.posted_text(form, "email"),
        c.posted_text(form, "name"),
        c.posted_texts(form, "roles"),
    )
    wrong: dict[str, str] = {}
    if not email.strip():
        wrong["email"] = "Type the address of the person, such as ana@example.com."
    if not roles:
        wrong["roles"] = "Choose at least one role."
    if not wrong:
        try:
            await ctx.services.people.add_member(ctx.who, email, roles, name)
        except HandrailError as refused:
            wrong["email"] = str(refused)
    if wrong:
        return await _page(ctx, wrong, email, name, roles)
    return redirect(f"{_PATH}?done=added")


@router.get(f"{_PATH}/{{id}}", need=_PERMISSION)
async def edit(ctx: PageContext) -> Response:
    return await _edit(ctx)


@router.post(f"{_PATH}/{{id}}", need=_PERMISSION)
async def change(ctx: PageContext) -> Response:
    """Give and take roles, so that they have those that were chosen and those that are not ours to take."""
    people = ctx.services.people
    user, has = await _member(ctx)
    mine = {name for name, _ in _grantable_roles(ctx.who, await people.roles(ctx.who))}
    wanted = set(c.posted_texts(await ctx.form(), "roles"))
    if not wanted | (has - mine):
        return await _edit(ctx, {"roles": "Choose at least one role, or remove the person below."}, wanted)
    try:
        if new := wanted - has:
            await people.add_member(ctx.who, user.email, new)
        if over := (has & mine) - wanted:
            await people.remove_member(ctx.who, user.id, over)
    except HandrailError as refused:
        return await _edit(ctx, {"roles": str(refused)}, wanted)
    return redirect(f"{_PATH}?done=changed")


@router.get(f"{_PATH}/{{id}}/remove", need=_PERMISSION)
async def ask_remove(ctx: PageContext) -> Response:
    user, _ = await _member(ctx)
    return confirm_page(
        ctx,
        f"Remove {user.name}?",
        "They lose every role here, and their keys open nothing any more. What they did stays in the record.",
        part=_PATH,
        action=f"{_PATH}/{user.id}/remove",
        label="Remove the person",
        back=_PATH,
    )


@router.post(f"{_PATH}/{{id}}/remove", need=_PERMISSION)
async def remove(ctx: PageContext) -> Response:
    user, _ = await _member(ctx)
    await ctx.services.people.remove_member(ctx.who, user.id)
    return redirect(f"{_PATH}?done=removed")


async def _member(ctx: PageContext) -> tuple[User, frozenset[str]]:
    for user, roles in await ctx.services.people.members(ctx.who):
        if user.id == ctx.part("id"):
            return user, roles
    raise PageNotFound


async def _page(
    ctx: PageContext,
    wrong: dict[str, str] | None = None,
    email: str = "",
    name: str = "",
    chosen: list[str] | None = None,
) -> Response:
    errors, people = wrong or {}, ctx.services.people
    found, roles = await people.members(ctx.who), await people.roles(ctx.who)
    return settings_page(
        ctx,
        "Members",
        h.h1["Members"],
        h.div(".table-container", tabindex="0", role="region", aria_label="Members")[
            h.table(".table")[
                h.thead[h.tr[(h.th(scope="col")[one] for one in ("Name", "Address", "Roles", _ACTIONS))]],
                h.tbody[(_row(ctx, user, has) for user, has in found)],
            ]
        ],
        h.form(".panel.stack.set-narrow", method="post", action=_PATH)[
            h.h2["Add somebody"],
            c.field("email", "Address", value=email, kind="email", error=errors.get("email")),
            c.field("name", "Name", value=name, hint="They can change it themselves."),
            _roles(ctx.who, roles, chosen or [], errors.get("roles")),
            h.div[c.submit("Add")],
        ],
        part=_PATH,
        done=None if errors else done_message(ctx, _DONE),
        status=400 if errors else 200,
    )


_ACTIONS = h.span(".sr-only")["Actions"]


async def _edit(
    ctx: PageContext, wrong: dict[str, str] | None = None, chosen: set[str] | None = None
) -> Response:
    user, has = await _member(ctx)
    errors = wrong or {}
    roles = await ctx.services.people.roles(ctx.who)
    fixed = sorted(has - {name for name, _ in _grantable_roles(ctx.who, roles)})
    return settings_page(
        ctx,
        user.name,
        h.h1[user.name],
        h.form(".panel.stack.set-narrow", method="post", action=f"{_PATH}/{user.id}")[
            h.p(".quiet")[user.email],
            h.p[f"Also {', '.join(fixed)}, which is not yours to give or take."] if fixed else None,
            _roles(ctx.who, roles, sorted(has if chosen is None else chosen), errors.get("roles")),
            h.div(".row")[
                c.submit("Save roles"),
                h.a(".btn", href=f"{_PATH}/{user.id}/remove", data_variant="outline")["Remove the person"],
            ],
        ],
        part=_PATH,
        status=400 if errors else 200,
    )


def _roles(by: Principal, roles: Roles, chosen: list[str], error: str | None) -> h.Element:
    return c.checkboxes("roles", "Roles", _grantable_roles(by, roles), chosen=chosen, error=error)


_ROLE_LABELS = {
    "owner": "owner: everything",
    "admin": "admin: everything but the tenant itself",
    "builder": "builder: makes and changes tools",
    "operator": "operator: runs things and sets right what failed",
    "approver": "approver: decides on approvals",
    "viewer": "viewer: looks, and changes nothing",
}


def _grantable_roles(by: Principal, roles: Roles) -> list[tuple[str, str]]:
    """The roles that somebody may give."""
    own = sorted(set(roles) - set(_ROLE_LABELS))
    names = [*(one for one in _ROLE_LABELS if one in roles), *own]
    return [
        (one, _ROLE_LABELS.get(one, one)) for one in names if all(by.holds(gives) for gives in roles[one])
    ]


def _row(ctx: PageContext, user: User, has: frozenset[str]) -> h.Element:
    you = h.span(".quiet")[" (you)"] if user.id == ctx.who.user else None
    return h.tr[
        h.th(scope="row")[user.name, you],
        h.td[user.email],
        h.td[h.span(".row")[(h.span(".mark")[one] for one in sorted(has))]],
        h.td(".num")[
            h.a(".btn", href=f"{_PATH}/{user.id}", data_variant="outline", data_size="sm")[
                "Edit", h.span(".sr-only")[f" {user.name}"]
            ]
        ],
    ]
