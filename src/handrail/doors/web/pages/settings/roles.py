"""Roles and the permissions they give. Nobody is offered what they do not hold."""

from __future__ import annotations

from collections.abc import Iterable

import htpy as h
from starlette.responses import Response

from handrail.core.define.principal import EVERYTHING, Principal
from handrail.core.errors import HandrailError
from handrail.doors.web import controls as c
from handrail.doors.web.controls import Option
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.settings.layout import confirm_page, done_message, settings_page
from handrail.doors.web.routing import PageContext, PageNotFound, PageRouter, redirect
from handrail.identity.permissions import BUILT_IN_ROLES

PERMISSION_LABELS = {
    "approvals.decide": "Decide on approvals",
    "approvals.read": "See approvals",
    "dead_letters.purge": "Purge dead letters",
    "dead_letters.read": "See dead letters",
    "dead_letters.replay": "Replay dead letters",
    "entities.team.create": "Create records",
    "entities.team.delete": "Delete records",
    "entities.team.read": "See records",
    "entities.team.update": "Change records",
    "entity_types.team.read": "See kinds of records",
    "events.read": "Read everybody's events, with what was given and what came of it",
    "jobs.cancel": "Cancel jobs",
    "jobs.schedule": "Schedule jobs",
    "keys.manage": "Make and revoke keys",
    "members.manage": "Add and remove members",
    "plans.run": "Run what you have planned",
    "roles.manage": "Make and change roles",
    "runs.read": "See everybody's runs",
    "secrets.manage": "Keep secrets",
    "tenant.manage": "Rename the tenant",
    "tools.tenant.create": "Create tools",
    "tools.tenant.delete": "Delete tools",
    "tools.tenant.read": "See how tools are made",
    "tools.tenant.update": "Change tools",
    "usage.read": "See usage",
}


def grantable_permissions(by: Principal, also: Iterable[str] = ()) -> list[Option]:
    """The permissions that somebody may give, and those that something has already."""
    known = (
        {one for gives in BUILT_IN_ROLES.values() for one in gives} | set(PERMISSION_LABELS) | by.permissions
    )
    given = {one for one in known if one != EVERYTHING and by.holds(one)} | (set(also) - {EVERYTHING})
    return [(one, permission_label(one)) for one in sorted(given)]


def permission_label(permission: str) -> str:
    """A permission in words; one that only a tool knows stands for itself."""
    return "Everything" if permission == EVERYTHING else PERMISSION_LABELS.get(permission, permission)


def split_words(text: str) -> list[str]:
    """Names that were typed, one a line or parted by commas."""
    return [word for line in text.splitlines() for word in line.replace(",", " ").split()]


router = PageRouter()
_PATH, _PERMISSION = "/settings/roles", "roles.manage"
_DONE = {"saved": "The role was saved.", "deleted": "The role is gone."}


@router.get(_PATH, need=_PERMISSION)
async def show(ctx: PageContext) -> Response:
    own = await _own_roles(ctx)
    return settings_page(
        ctx,
        "Roles",
        h.header(".head")[h.h1["Roles"], h.a(".btn", href=f"{_PATH}/new")[icon("plus"), "New role"]],
        h.div(".set-list")[
            (_role_panel(name, gives, mine=True) for name, gives in sorted(own.items())),
            (_role_panel(name, gives, mine=False) for name, gives in BUILT_IN_ROLES.items()),
        ],
        part=_PATH,
        done=done_message(ctx, _DONE),
    )


@router.get(f"{_PATH}/new", need=_PERMISSION)
async def new_role(ctx: PageContext) -> Response:
    return _form(ctx, "", frozenset())


@router.get(f"{_PATH}/edit/{{name}}", need=_PERMISSION)
async def edit(ctx: PageContext) -> Response:
    name, gives = await _find_role(ctx)
    return _form(ctx, name, gives)


@router.post(_PATH, need=_PERMISSION)
async def save(ctx: PageContext) -> Response:
    """A role, new or changed."""
    form = await ctx.form()
    was, name = c.posted_text(form, "was"), c.posted_text(form, "name").strip()
    gives = frozenset([*c.posted_texts(form, "permissions"), *split_words(c.posted_text(form, "others"))])
    own = await _own_roles(ctx)
    if was and was not in own:
        raise PageNotFound
    if not was and name in own:
        return _form(ctx, "", gives, name, f"There is a role {name} already. Edit that one.")
    if not gives:
        return _form(ctx, was, gives, name, wrong={"permissions": "Choose at least one permission."})
    try:
        await ctx.services.people.save_role(ctx.who, was or name, gives)
    except HandrailError as refused:
        return _form(ctx, was, gives, name, str(refused))
    return redirect(f"{_PATH}?done=saved")


@router.get(f"{_PATH}/delete/{{name}}", need=_PERMISSION)
async def ask_delete(ctx: PageContext) -> Response:
    name, _ = await _find_role(ctx)
    return confirm_page(
        ctx,
        f"Delete the role {name}?",
        "Whoever has it loses what it gives. This cannot be undone.",
        part=_PATH,
        action=f"{_PATH}/delete/{name}",
        label="Delete the role",
        back=_PATH,
    )


@router.post(f"{_PATH}/delete/{{name}}", need=_PERMISSION)
async def delete(ctx: PageContext) -> Response:
    name, _ = await _find_role(ctx)
    await ctx.services.people.delete_role(ctx.who, name)
    return redirect(f"{_PATH}?done=deleted")


async def _own_roles(ctx: PageContext) -> dict[str, frozenset[str]]:
    return await ctx.services.people.own_roles(ctx.who)


async def _find_role(ctx: PageContext) -> tuple[str, frozenset[str]]:
    name = ctx.part("name")
    own = await _own_roles(ctx)
    if name not in own:
        raise PageNotFound
    return name, own[name]


def _form(
    ctx: PageContext,
    was: str,
    gives: frozenset[str],
    name: str | None = None,
    problem: str | None = None,
    wrong: dict[str, str] | None = None,
) -> Response:
    errors = wrong or {}
    if problem and not was:
        errors["name"] = problem
    options = grantable_permissions(ctx.who)
    others = sorted(gives - {one for one, _ in options})
    title = f"Role {was}" if was else "New role"
    return settings_page(
        ctx,
        title,
        h.h1[title],
        h.form(".panel.stack.set-narrow", method="post", action=_PATH)[
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
            c.checkboxes("permissions", "Gives", options, chosen=gives, error=errors.get("permissions")),
            c.text_area(
                "others",
                "Other permissions",
                value="\n".join(others),
                hint="Those that only some tool asks for, one a line.",
            ),
            h.div(".row")[c.submit("Save role"), h.a(".btn", href=_PATH, data_variant="outline")["Cancel"]],
        ],
        part=_PATH,
        status=400 if errors or problem else 200,
    )


def _role_panel(name: str, gives: frozenset[str], *, mine: bool) -> h.Element:
    return h.section(".panel.stack", aria_label=f"Role {name}")[
        h.div(".head")[
            h.h2[name],
            h.span(".row")[
                h.a(".btn", href=f"{_PATH}/edit/{name}", data_variant="outline", data_size="sm")[
                    "Edit", h.span(".sr-only")[f" {name}"]
                ],
                h.a(".btn", href=f"{_PATH}/delete/{name}", data_variant="outline", data_size="sm")[
                    "Delete", h.span(".sr-only")[f" {name}"]
                ],
            ]
            if mine
            else h.span(".mark")["built in"],
        ],
        h.p(".quiet")["; ".join(permission_label(one) for one in sorted(gives, key=_order)) or "nothing"],
    ]


def _order(permission: str) -> tuple[bool, str]:
    return permission not in PERMISSION_LABELS, permission_label(permission)
