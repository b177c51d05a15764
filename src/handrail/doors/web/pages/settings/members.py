"""Members: who belongs to the tenant, and as what. Nobody gives a role that gives more than they hold."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.core.define.principal import Principal
from handrail.core.errors import HandrailError
from handrail.doors.web import controls as c
from handrail.doors.web.pages.settings.shell import confirm, done, settings
from handrail.doors.web.routing import NotThere, Pages, Reader, go
from handrail.store.users import User

pages = Pages()
_HERE, _NEED = "/settings/members", "members.manage"
_DONE = {
    "added": "They belong here now. Make them a one-time link with: handrail sign-in, and their address.",
    "changed": "Their roles were changed.",
    "removed": "They belong here no more.",
}
Roles = dict[str, frozenset[str]]


@pages.get(_HERE, need=_NEED)
async def show(reader: Reader) -> Response:
    return await _page(reader)


@pages.post(_HERE, need=_NEED)
async def add(reader: Reader) -> Response:
    form = await reader.form()
    email, name, roles = c.text(form, "email"), c.text(form, "name"), c.texts(form, "roles")
    wrong: dict[str, str] = {}
    if not email.strip():
        wrong["email"] = "Type the address of the person, such as ana@example.com."
    if not roles:
        wrong["roles"] = "Choose at least one role."
    if not wrong:
        try:
            await reader.offices.people.add_member(reader.who, email, roles, name)
        except HandrailError as refused:
            wrong["email"] = str(refused)
    if wrong:
        return await _page(reader, wrong, email, name, roles)
    return go(f"{_HERE}?done=added")


@pages.get(f"{_HERE}/{{id}}", need=_NEED)
async def edit(reader: Reader) -> Response:
    return await _edit(reader)


@pages.post(f"{_HERE}/{{id}}", need=_NEED)
async def change(reader: Reader) -> Response:
    """Give and take roles, so that they have those that were chosen and those that are not ours to take."""
    people = reader.offices.people
    user, has = await _member(reader)
    mine = {name for name, _ in _offered(reader.who, await people.roles(reader.who))}
    wanted = set(c.texts(await reader.form(), "roles"))
    if not wanted | (has - mine):
        return await _edit(reader, {"roles": "Choose at least one role, or remove the person below."}, wanted)
    try:
        if new := wanted - has:
            await people.add_member(reader.who, user.email, new)
        if over := (has & mine) - wanted:
            await people.remove_member(reader.who, user.id, over)
    except HandrailError as refused:
        return await _edit(reader, {"roles": str(refused)}, wanted)
    return go(f"{_HERE}?done=changed")


@pages.get(f"{_HERE}/{{id}}/remove", need=_NEED)
async def ask_remove(reader: Reader) -> Response:
    user, _ = await _member(reader)
    return confirm(
        reader,
        f"Remove {user.name}?",
        "They lose every role here, and their keys open nothing any more. What they did stays in the record.",
        part=_HERE,
        action=f"{_HERE}/{user.id}/remove",
        label="Remove the person",
        back=_HERE,
    )


@pages.post(f"{_HERE}/{{id}}/remove", need=_NEED)
async def remove(reader: Reader) -> Response:
    user, _ = await _member(reader)
    await reader.offices.people.remove_member(reader.who, user.id)
    return go(f"{_HERE}?done=removed")


async def _member(reader: Reader) -> tuple[User, frozenset[str]]:
    for user, roles in await reader.offices.people.members(reader.who):
        if user.id == reader.part("id"):
            return user, roles
    raise NotThere


async def _page(
    reader: Reader,
    wrong: dict[str, str] | None = None,
    email: str = "",
    name: str = "",
    chosen: list[str] | None = None,
) -> Response:
    errors, people = wrong or {}, reader.offices.people
    found, roles = await people.members(reader.who), await people.roles(reader.who)
    return settings(
        reader,
        "Members",
        h.h1["Members"],
        h.div(".table-container", tabindex="0", role="region", aria_label="Members")[
            h.table(".table")[
                h.thead[h.tr[(h.th(scope="col")[one] for one in ("Name", "Address", "Roles", _ACTIONS))]],
                h.tbody[(_row(reader, user, has) for user, has in found)],
            ]
        ],
        h.form(".panel.stack.set-narrow", method="post", action=_HERE)[
            h.h2["Add somebody"],
            c.field("email", "Address", value=email, kind="email", error=errors.get("email")),
            c.field("name", "Name", value=name, hint="They can change it themselves."),
            _roles(reader.who, roles, chosen or [], errors.get("roles")),
            h.div[c.submit("Add")],
        ],
        part=_HERE,
        done=None if errors else done(reader, _DONE),
        status=400 if errors else 200,
    )


_ACTIONS = h.span(".sr-only")["Actions"]


async def _edit(
    reader: Reader, wrong: dict[str, str] | None = None, chosen: set[str] | None = None
) -> Response:
    user, has = await _member(reader)
    errors = wrong or {}
    roles = await reader.offices.people.roles(reader.who)
    fixed = sorted(has - {name for name, _ in _offered(reader.who, roles)})
    return settings(
        reader,
        user.name,
        h.h1[user.name],
        h.form(".panel.stack.set-narrow", method="post", action=f"{_HERE}/{user.id}")[
            h.p(".quiet")[user.email],
            h.p[f"Also {', '.join(fixed)}, which is not yours to give or take."] if fixed else None,
            _roles(reader.who, roles, sorted(has if chosen is None else chosen), errors.get("roles")),
            h.div(".row")[
                c.submit("Save roles"),
                h.a(".btn", href=f"{_HERE}/{user.id}/remove", data_variant="outline")["Remove the person"],
            ],
        ],
        part=_HERE,
        status=400 if errors else 200,
    )


def _roles(by: Principal, roles: Roles, chosen: list[str], error: str | None) -> h.Element:
    return c.checks("roles", "Roles", _offered(by, roles), chosen=chosen, error=error)


_WORDS = {
    "owner": "owner: everything",
    "admin": "admin: everything but the tenant itself",
    "builder": "builder: makes and changes tools",
    "operator": "operator: runs things and sets right what failed",
    "approver": "approver: decides on approvals",
    "viewer": "viewer: looks, and changes nothing",
}


def _offered(by: Principal, roles: Roles) -> list[tuple[str, str]]:
    """The roles that somebody may give."""
    own = sorted(set(roles) - set(_WORDS))
    names = [*(one for one in _WORDS if one in roles), *own]
    return [(one, _WORDS.get(one, one)) for one in names if all(by.holds(gives) for gives in roles[one])]


def _row(reader: Reader, user: User, has: frozenset[str]) -> h.Element:
    you = h.span(".quiet")[" (you)"] if user.id == reader.who.user else None
    return h.tr[
        h.th(scope="row")[user.name, you],
        h.td[user.email],
        h.td[h.span(".row")[(h.span(".mark")[one] for one in sorted(has))]],
        h.td(".num")[
            h.a(".btn", href=f"{_HERE}/{user.id}", data_variant="outline", data_size="sm")[
                "Edit", h.span(".sr-only")[f" {user.name}"]
            ]
        ],
    ]
