"""Roles: names for permissions. Six are built in; a tenant may have others of its own."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.core.errors import HandrailError
from handrail.doors.web import controls as c
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.settings.permissions import WORDS, listed, offered, said
from handrail.doors.web.pages.settings.shell import confirm, done, settings
from handrail.doors.web.routing import NotThere, Pages, Reader, go
from handrail.identity.roles import BUILT_IN

pages = Pages()
_HERE, _NEED = "/settings/roles", "roles.manage"
_DONE = {"saved": "The role was saved.", "deleted": "The role is gone."}


@pages.get(_HERE, need=_NEED)
async def show(reader: Reader) -> Response:
    own = await _own(reader)
    return settings(
        reader,
        "Roles",
        h.header(".head")[h.h1["Roles"], h.a(".btn", href=f"{_HERE}/new")[icon("plus"), "New role"]],
        h.div(".set-list")[
            (_line(name, gives, mine=True) for name, gives in sorted(own.items())),
            (_line(name, gives, mine=False) for name, gives in BUILT_IN.items()),
        ],
        part=_HERE,
        done=done(reader, _DONE),
    )


@pages.get(f"{_HERE}/new", need=_NEED)
async def ask(reader: Reader) -> Response:
    return _form(reader, "", frozenset())


@pages.get(f"{_HERE}/edit/{{name}}", need=_NEED)
async def edit(reader: Reader) -> Response:
    name, gives = await _one(reader)
    return _form(reader, name, gives)


@pages.post(_HERE, need=_NEED)
async def save(reader: Reader) -> Response:
    """A role, new or changed."""
    form = await reader.form()
    was, name = c.text(form, "was"), c.text(form, "name").strip()
    gives = frozenset([*c.texts(form, "permissions"), *listed(c.text(form, "others"))])
    own = await _own(reader)
    if was and was not in own:
        raise NotThere
    if not was and name in own:
        return _form(reader, "", gives, name, f"There is a role {name} already. Edit that one.")
    if not gives:
        return _form(reader, was, gives, name, wrong={"permissions": "Choose at least one permission."})
    try:
        await reader.offices.people.save_role(reader.who, was or name, gives)
    except HandrailError as refused:
        return _form(reader, was, gives, name, str(refused))
    return go(f"{_HERE}?done=saved")


@pages.get(f"{_HERE}/delete/{{name}}", need=_NEED)
async def ask_delete(reader: Reader) -> Response:
    name, _ = await _one(reader)
    return confirm(
        reader,
        f"Delete the role {name}?",
        "Whoever has it loses what it gives. This cannot be undone.",
        part=_HERE,
        action=f"{_HERE}/delete/{name}",
        label="Delete the role",
        back=_HERE,
    )


@pages.post(f"{_HERE}/delete/{{name}}", need=_NEED)
async def delete(reader: Reader) -> Response:
    name, _ = await _one(reader)
    await reader.offices.people.delete_role(reader.who, name)
    return go(f"{_HERE}?done=deleted")


async def _own(reader: Reader) -> dict[str, frozenset[str]]:
    return await reader.offices.people.own_roles(reader.who)


async def _one(reader: Reader) -> tuple[str, frozenset[str]]:
    name = reader.part("name")
    own = await _own(reader)
    if name not in own:
        raise NotThere
    return name, own[name]


def _form(
    reader: Reader,
    was: str,
    gives: frozenset[str],
    name: str | None = None,
    problem: str | None = None,
    wrong: dict[str, str] | None = None,
) -> Response:
    errors = wrong or {}
    if problem and not was:
        errors["name"] = problem
    options = offered(reader.who)
    others = sorted(gives - {one for one, _ in options})
    title = f"Role {was}" if was else "New role"
    return settings(
        reader,
        title,
        h.h1[title],
        h.form(".panel.stack.set-narrow", method="post", action=_HERE)[
            c.alert(problem) if problem and was else None,
            c.hidden(was=was)
            if was
            else c.field(
                "name",
                "Name",
                value=name or "",
                error=errors.get("name"),
                hint="Lower-case words, such as night-shift.",
            ),
            c.checks("permissions", "Gives", options, chosen=gives, error=errors.get("permissions")),
            c.area(
                "others",
                "Other permissions",
                value="\n".join(others),
                hint="Those that only some tool asks for, one a line.",
            ),
            h.div(".row")[c.submit("Save role"), h.a(".btn", href=_HERE, data_variant="outline")["Cancel"]],
        ],
        part=_HERE,
        status=400 if errors or problem else 200,
    )


def _line(name: str, gives: frozenset[str], *, mine: bool) -> h.Element:
    return h.section(".panel.stack", aria_label=f"Role {name}")[
        h.div(".head")[
            h.h2[name],
            h.span(".row")[
                h.a(".btn", href=f"{_HERE}/edit/{name}", data_variant="outline", data_size="sm")[
                    "Edit", h.span(".sr-only")[f" {name}"]
                ],
                h.a(".btn", href=f"{_HERE}/delete/{name}", data_variant="outline", data_size="sm")[
                    "Delete", h.span(".sr-only")[f" {name}"]
                ],
            ]
            if mine
            else h.span(".mark")["built in"],
        ],
        h.p(".quiet")["; ".join(said(one) for one in sorted(gives, key=_order)) or "nothing"],
    ]


def _order(permission: str) -> tuple[bool, str]:
    return permission not in WORDS, said(permission)
