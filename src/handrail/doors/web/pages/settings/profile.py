"""Profile: one's name, password and theme, and the way out of every browser."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.core.errors import UsageError
from handrail.doors.web import controls as c
from handrail.doors.web.accounts import Account
from handrail.doors.web.cookies import session_token, set_theme_cookie, signed_in_redirect
from handrail.doors.web.pages.settings.layout import done_message, settings_page
from handrail.doors.web.routing import PageContext, PageRouter, redirect
from handrail.identity.errors import TooManyAttempts, WrongPassword
from handrail.identity.passwords import MIN_PASSWORD, WeakPassword
from handrail.identity.preferences import THEMES

router = PageRouter()
_PATH = "/settings/profile"
_DONE = {
    "name": "Your name was changed.",
    "password": "Your password was changed. Every other browser was signed out.",
    "theme": "Pages look so from now on.",
}
_THEMES = {"light": "Light", "dark": "Dark", "system": "As this device does"}


@router.get("/settings")
async def start(ctx: PageContext) -> Response:
    return redirect(_PATH)


@router.get(_PATH)
async def show(ctx: PageContext) -> Response:
    return await _page(ctx)


@router.post(f"{_PATH}/name")
async def rename(ctx: PageContext) -> Response:
    session_token(ctx)
    name = c.posted_text(await ctx.form(), "name")
    try:
        await ctx.services.people.rename(ctx.who, name)
    except UsageError as refused:
        return await _page(ctx, {"name": str(refused)}, name=name)
    ctx.web.accounts.forget()
    return redirect(f"{_PATH}?done=name")


@router.post(f"{_PATH}/password")
async def change_password(ctx: PageContext) -> Response:
    form, token = await ctx.form(), session_token(ctx)
    new, again = c.posted_text(form, "new"), c.posted_text(form, "again")
    if new != again:
        return await _page(ctx, {"again": "These two are not the same. Type the new password twice."})
    try:
        fresh = await ctx.services.passwords.choose(token, new, c.posted_text(form, "present"))
    except WeakPassword as refused:
        return await _page(ctx, {"new": str(refused)})
    except (WrongPassword, TooManyAttempts) as refused:
        return await _page(ctx, {"present": str(refused)})
    return signed_in_redirect(ctx, fresh, f"{_PATH}?done=password")


@router.post(f"{_PATH}/theme")
async def choose_theme(ctx: PageContext) -> Response:
    session_token(ctx)
    theme = c.posted_text(await ctx.form(), "theme")
    await ctx.services.preferences.set_theme(ctx.who, theme)
    answer = redirect(f"{_PATH}?done=theme")
    set_theme_cookie(ctx, answer, theme)
    return answer


async def _page(ctx: PageContext, wrong: dict[str, str] | None = None, name: str | None = None) -> Response:
    token, errors = session_token(ctx), wrong or {}
    me = await ctx.services.people.profile(ctx.who)
    account: Account = ctx.request.scope["state"]["account"]
    return settings_page(
        ctx,
        "Profile",
        h.header[
            h.h1["Profile"],
            h.p(".quiet")[f"{me.email}, {_roles(ctx)} at {account.tenant}."],
        ],
        h.div(".set-parts")[
            _name(me.name if name is None else name, errors),
            _password(me.email, await ctx.services.passwords.needs_present(token), errors),
            _theme(await ctx.services.preferences.theme(ctx.who)),
            _sign_out_everywhere(),
        ],
        part=_PATH,
        done=None if errors else done_message(ctx, _DONE),
        status=400 if errors else 200,
    )


def _roles(ctx: PageContext) -> str:
    return " and ".join(sorted(ctx.who.roles)) or "without a role"


def _name(name: str, errors: dict[str, str]) -> h.Element:
    return h.form(".panel.stack", method="post", action=f"{_PATH}/name")[
        h.h2["Name"],
        c.field(
            "name",
            "What others see beside what you did",
            value=name,
            error=errors.get("name"),
            autocomplete="name",
        ),
        h.div[c.submit("Save name")],
    ]


def _password(email: str, needs_present: bool, errors: dict[str, str]) -> h.Element:
    return h.form(".panel.stack", method="post", action=f"{_PATH}/password")[
        h.h2["Password"],
        h.input(type="hidden", name="username", value=email, autocomplete="username"),
        c.field(
            "present",
            "Present password",
            kind="password",
            error=errors.get("present"),
            autocomplete="current-password",
        )
        if needs_present
        else None,
        c.field(
            "new",
            "New password",
            kind="password",
            error=errors.get("new"),
            hint=f"At least {MIN_PASSWORD} characters. Three or four words are easy to remember.",
            autocomplete="new-password",
        ),
        c.field(
            "again",
            "The same once more",
            kind="password",
            error=errors.get("again"),
            autocomplete="new-password",
        ),
        h.div[c.submit("Change password" if needs_present else "Set password")],
    ]


def _theme(theme: str) -> h.Element:
    return h.form(".panel.stack", method="post", action=f"{_PATH}/theme")[
        h.h2["Theme"],
        c.select("theme", "Pages look", [(one, _THEMES[one]) for one in THEMES], value=theme),
        h.div[c.submit("Save theme")],
    ]


def _sign_out_everywhere() -> h.Element:
    return h.form(".panel.stack", method="post", action="/sign-out")[
        h.h2["Sign out everywhere"],
        h.p["Ends every session of yours, in every browser and on every device, this one too."],
        c.hidden(everywhere="yes"),
        h.div[c.submit("Sign out everywhere", "outline")],
    ]
