"""Profile: one's name, password and theme, and the way out of every browser."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.core.errors import UsageError
from handrail.doors.web import controls as c
from handrail.doors.web.account import Account
from handrail.doors.web.pages.settings.shell import done, settings
from handrail.doors.web.routing import Pages, Reader, go
from handrail.doors.web.session import keep_theme, let_in, token_of
from handrail.identity.errors import TooManyTries, WrongPassword
from handrail.identity.keepsakes import THEMES
from handrail.identity.passwords import SHORTEST, WeakPassword

pages = Pages()
_HERE = "/settings/profile"
_DONE = {
    "name": "Your name was changed.",
    "password": "Your password was changed. Every other browser was signed out.",
    "theme": "Pages look so from now on.",
}
_THEMES = {"light": "Light", "dark": "Dark", "system": "As this device does"}


@pages.get("/settings")
async def start(reader: Reader) -> Response:
    return go(_HERE)


@pages.get(_HERE)
async def show(reader: Reader) -> Response:
    return await _page(reader)


@pages.post(f"{_HERE}/name")
async def rename(reader: Reader) -> Response:
    token_of(reader)
    name = c.text(await reader.form(), "name")
    try:
        await reader.offices.people.rename(reader.who, name)
    except UsageError as refused:
        return await _page(reader, {"name": str(refused)}, name=name)
    reader.web.accounts.forget()
    return go(f"{_HERE}?done=name")


@pages.post(f"{_HERE}/password")
async def change_password(reader: Reader) -> Response:
    form, token = await reader.form(), token_of(reader)
    new, again = c.text(form, "new"), c.text(form, "again")
    if new != again:
        return await _page(reader, {"again": "These two are not the same. Type the new password twice."})
    try:
        fresh = await reader.offices.passwords.choose(token, new, c.text(form, "present"))
    except WeakPassword as refused:
        return await _page(reader, {"new": str(refused)})
    except (WrongPassword, TooManyTries) as refused:
        return await _page(reader, {"present": str(refused)})
    return let_in(reader, fresh, f"{_HERE}?done=password")


@pages.post(f"{_HERE}/theme")
async def choose_theme(reader: Reader) -> Response:
    token_of(reader)
    theme = c.text(await reader.form(), "theme")
    await reader.offices.keepsakes.prefer(reader.who, theme)
    answer = go(f"{_HERE}?done=theme")
    keep_theme(reader, answer, theme)
    return answer


async def _page(reader: Reader, wrong: dict[str, str] | None = None, name: str | None = None) -> Response:
    token, errors = token_of(reader), wrong or {}
    me = await reader.offices.people.profile(reader.who)
    account: Account = reader.request.scope["state"]["account"]
    return settings(
        reader,
        "Profile",
        h.header[
            h.h1["Profile"],
            h.p(".quiet")[f"{me.email}, {_roles(reader)} at {account.tenant}."],
        ],
        h.div(".set-parts")[
            _name(me.name if name is None else name, errors),
            _password(me.email, await reader.offices.passwords.needs_present(token), errors),
            _theme(await reader.offices.keepsakes.theme(reader.who)),
            _leave(),
        ],
        part=_HERE,
        done=None if errors else done(reader, _DONE),
        status=400 if errors else 200,
    )


def _roles(reader: Reader) -> str:
    return " and ".join(sorted(reader.who.roles)) or "without a role"


def _name(name: str, errors: dict[str, str]) -> h.Element:
    return h.form(".panel.stack", method="post", action=f"{_HERE}/name")[
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
    return h.form(".panel.stack", method="post", action=f"{_HERE}/password")[
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
            hint=f"At least {SHORTEST} characters. Three or four words are easy to remember.",
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
    return h.form(".panel.stack", method="post", action=f"{_HERE}/theme")[
        h.h2["Theme"],
        c.choice("theme", "Pages look", [(one, _THEMES[one]) for one in THEMES], value=theme),
        h.div[c.submit("Save theme")],
    ]


def _leave() -> h.Element:
    return h.form(".panel.stack", method="post", action="/sign-out")[
        h.h2["Sign out everywhere"],
        h.p["Ends every session of yours, in every browser and on every device, this one too."],
        c.hidden(everywhere="yes"),
        h.div[c.submit("Sign out everywhere", "outline")],
    ]
