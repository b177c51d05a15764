"""Roles and the permissions they give. Nobody is offered what they do not hold."""

from __future__ import annotations

from collections.abc import Mapping

import htpy as h
from starlette.responses import Response

from handrail.core.define.principal import EVERYTHING, Principal
from handrail.core.errors import HandrailError
from handrail.doors.web import controls as c
from handrail.doors.web.pages.settings.section import Question, settings_section
from handrail.doors.web.router import PageContext, PageNotFound
from handrail.identity.permissions import BUILT_IN_ROLES

section = settings_section("Roles", saved="The role was saved.", deleted="The role is gone.")
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


def grantable_permissions(by: Principal) -> list[c.Option]:
    """The permissions that somebody may give."""
    built_in = {permission for permissions in BUILT_IN_ROLES.values() for permission in permissions}
    permissions = built_in | set(PERMISSION_LABELS) | by.permissions
    grantable = sorted(name for name in permissions if name != EVERYTHING and by.holds(name))
    return [(permission, permission_label(permission)) for permission in grantable]


def permission_label(permission: str) -> str:
    """A permission in words; one that only a tool knows stands for itself."""
    return "Everything" if permission == EVERYTHING else PERMISSION_LABELS.get(permission, permission)


def split_words(text: str) -> list[str]:
    """Names that were typed, one a line or parted by commas."""
    return [word for line in text.splitlines() for word in line.replace(",", " ").split()]


@section.get()
async def show(ctx: PageContext) -> Response:
    own = await _own_roles(ctx)
    return section.page(
        ctx,
        "Roles",
        section.head("New role"),
        h.div(".set-list")[
            (_role_panel(name, permissions, is_own=True) for name, permissions in sorted(own.items())),
            (_role_panel(name, permissions, is_own=False) for name, permissions in BUILT_IN_ROLES.items()),
        ],
    )


@section.get("/new")
async def new_role(ctx: PageContext) -> Response:
    return _role_page(ctx, "", frozenset())


@section.get("/edit/{name}")
async def edit(ctx: PageContext) -> Response:
    return _role_page(ctx, *await _find_role(ctx))


@section.post()
async def save(ctx: PageContext) -> Response:
    """A role, new or changed."""
    form = await ctx.form()
    existing, name = c.posted_text(form, "was"), c.posted_text(form, "name").strip()
    typed = split_words(c.posted_text(form, "others"))
    permissions = frozenset([*c.posted_texts(form, "permissions"), *typed])
    own = await _own_roles(ctx)
    if existing and existing not in own:
        raise PageNotFound
    if not existing and name in own:
        problem = f"There is a role {name} already. Edit that one."
        return _role_page(ctx, "", permissions, name, {"name": problem})
    if not permissions:
        errors = {"permissions": "Choose at least one permission."}
        return _role_page(ctx, existing, permissions, name, errors)
    try:
        await ctx.services.people.save_role(ctx.who, existing or name, permissions)
    except HandrailError as refused:
        return _role_page(ctx, existing, permissions, name, {"name": str(refused)})
    return section.redirect("saved")


async def _ask_delete(ctx: PageContext) -> Question:
    name, _ = await _find_role(ctx)
    text = "Whoever has it loses what it gives. This cannot be undone."
    return Question(f"Delete the role {name}?", text, "Delete the role")


@section.confirmed("/delete/{name}", _ask_delete, done="deleted")
async def delete(ctx: PageContext) -> None:
    name, _ = await _find_role(ctx)
    await ctx.services.people.delete_role(ctx.who, name)


async def _own_roles(ctx: PageContext) -> dict[str, frozenset[str]]:
    return await ctx.services.people.own_roles(ctx.who)


async def _find_role(ctx: PageContext) -> tuple[str, frozenset[str]]:
    name, own = ctx.part("name"), await _own_roles(ctx)
    if name not in own:
        raise PageNotFound
    return name, own[name]


def _role_page(
    ctx: PageContext,
    existing: str,
    permissions: frozenset[str],
    name: str = "",
    errors: Mapping[str, str] | None = None,
) -> Response:
    """The form; an existing role keeps its name, so that what is wrong with it stands above the form."""
    options = grantable_permissions(ctx.who)
    others = sorted(permissions - {value for value, _ in options})
    title = f"Role {existing}" if existing else "New role"
    values = {"name": name, "permissions": permissions, "others": "\n".join(others)}
    form = c.Controls(values, errors or {})
    return section.page(
        ctx,
        title,
        h.h1[title],
        h.form(".panel.stack.set-narrow", method="post", action=section.path)[
            c.alert(form.errors.get("name")) if existing else None,
            c.hidden(was=existing)
            if existing
            else form.field("name", "Name", hint="Lower-case words, such as night-shift."),
            form.checkboxes("permissions", "Gives", options),
            form.text_area(
                "others", "Other permissions", hint="Those that only some tool asks for, one a line."
            ),
            h.div(".row")[c.submit("Save role"), c.link_button(section.path, "Cancel", "outline")],
        ],
        status=400 if errors else 200,
    )


def _role_panel(name: str, permissions: frozenset[str], *, is_own: bool) -> h.Element:
    def action(verb: str) -> h.Element:
        return c.small_link(f"{section.path}/{verb.lower()}/{name}", [verb, h.span(".sr-only")[f" {name}"]])

    in_words = "; ".join(permission_label(permission) for permission in sorted(permissions, key=_order))
    return h.section(".panel.stack", aria_label=f"Role {name}")[
        h.div(".head")[
            h.h2[name],
            h.span(".row")[action("Edit"), action("Delete")] if is_own else c.badge("built in"),
        ],
        h.p(".quiet")[in_words or "nothing"],
    ]


def _order(permission: str) -> tuple[bool, str]:
    return permission not in PERMISSION_LABELS, permission_label(permission)
