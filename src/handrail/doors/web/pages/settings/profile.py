"""Profile: one's name, password and theme, and the way out of every browser."""

from __future__ import annotations

from collections.abc import Mapping

import htpy as h
from starlette.responses import Response

from handrail.core.errors import UsageError
from handrail.doors.web import controls as c
from handrail.doors.web.cookies import session_token, set_theme_cookie, signed_in_redirect
from handrail.doors.web.pages.settings.section import settings_section
from handrail.doors.web.router import PageContext, redirect
from handrail.identity.errors import TooManyAttempts, WrongPassword
from handrail.identity.passwords import MIN_PASSWORD, WeakPassword
from handrail.identity.preferences import THEMES

section = settings_section(
    "Profile",
    name="Your name was changed.",
    password="Your password was changed. Every other browser was signed out.",
    theme="Pages look so from now on.",
)
_THEMES = {"light": "Light", "dark": "Dark", "system": "As this device does"}


@section.router.get("/settings")
async def start(ctx: PageContext) -> Response:
    return redirect(section.path)


@section.get()
async def show(ctx: PageContext) -> Response:
    return await _profile_page(ctx)


@section.post("/name")
async def rename(ctx: PageContext) -> Response:
    session_token(ctx)
    name = c.posted_text(await ctx.form(), "name")
    try:
        await ctx.services.people.rename(ctx.who, name)
    except UsageError as refused:
        return await _profile_page(ctx, {"name": str(refused)}, name=name)
    ctx.web.accounts.forget()
    return section.redirect("name")


@section.post("/password")
async def change_password(ctx: PageContext) -> Response:
    form, token = await ctx.form(), session_token(ctx)
    new, again = c.posted_text(form, "new"), c.posted_text(form, "again")
    if new != again:
        return await _profile_page(ctx, {"again": "These two are not the same. Type the new password twice."})
    try:
        fresh = await ctx.services.passwords.choose(token, new, c.posted_text(form, "present"))
    except WeakPassword as refused:
        return await _profile_page(ctx, {"new": str(refused)})
    except (WrongPassword, TooManyAttempts) as refused:
        return await _profile_page(ctx, {"present": str(refused)})
    return signed_in_redirect(ctx, fresh, f"{section.path}?done=password")


@section.post("/theme")
async def choose_theme(ctx: PageContext) -> Response:
    session_token(ctx)
    theme = c.posted_text(await ctx.form(), "theme")
    await ctx.services.preferences.set_theme(ctx.who, theme)
    response = section.redirect("theme")
    set_theme_cookie(ctx, response, theme)
    return response


async def _profile_page(
    ctx: PageContext, errors: Mapping[str, str] | None = None, name: str | None = None
) -> Response:
    token = session_token(ctx)
    user = await ctx.services.people.profile(ctx.who)
    needs_present = await ctx.services.passwords.needs_present(token)
    theme = await ctx.services.preferences.theme(ctx.who)
    form = c.Controls({"name": user.name if name is None else name, "theme": theme}, errors or {})
    roles = " and ".join(sorted(ctx.who.roles)) or "without a role"
    return section.page(
        ctx,
        "Profile",
        h.header[
            h.h1["Profile"],
            h.p(".quiet")[f"{user.email}, {roles} at {ctx.account.tenant}."],
        ],
        h.div(".set-parts")[
            _panel(
                "name",
                "Name",
                form.field("name", "What others see beside what you did", autocomplete="name"),
                h.div[c.submit("Save name")],
            ),
            _password(form, user.email, needs_present),
            _panel(
                "theme",
                "Theme",
                form.select("theme", "Pages look", [(value, _THEMES[value]) for value in THEMES]),
                h.div[c.submit("Save theme")],
            ),
            _sign_out_everywhere(),
        ],
        status=400 if errors else 200,
    )


def _panel(below: str, title: str, *content: h.Node) -> h.Element:
    return h.form(".panel.stack", method="post", action=f"{section.path}/{below}")[h.h2[title], content]


def _password(form: c.Controls, email: str, needs_present: bool) -> h.Element:
    def password(name: str, label: str, autocomplete: str, hint: str | None = None) -> h.Element:
        return form.field(name, label, kind="password", hint=hint, autocomplete=autocomplete)

    hint = f"At least {MIN_PASSWORD} characters. Three or four words are easy to remember."
    return _panel(
        "password",
        "Password",
        h.input(type="hidden", name="username", value=email, autocomplete="username"),
        password("present", "Present password", "current-password") if needs_present else None,
        password("new", "New password", "new-password", hint),
        password("again", "The same once more", "new-password"),
        h.div[c.submit("Change password" if needs_present else "Set password")],
    )


def _sign_out_everywhere() -> h.Element:
    return h.form(".panel.stack", method="post", action="/sign-out")[
        h.h2["Sign out everywhere"],
        h.p["Ends every session of yours, in every browser and on every device, this one too."],
        c.hidden(everywhere="yes"),
        h.div[c.submit("Sign out everywhere", "outline")],
    ]
