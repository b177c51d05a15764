"""Signing in, by a link that works once or by a password, and out again."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.doors.web import controls as c
from handrail.doors.web.frame import bare
from handrail.doors.web.icons import icon
from handrail.doors.web.routing import Pages, Reader, go
from handrail.doors.web.session import keep_theme, let_in, place_here, send_out, token_of
from handrail.identity.errors import NotSignedIn, TooManyTries

pages = Pages()
_OVER = "This link was used already, or is over. Ask for a new one, or sign in with your password."


@pages.get("/sign-in", open=True)
async def show(reader: Reader) -> Response:
    """A form; for a link a page with a button, since a program that only looks must not use it up."""
    goal = place_here(reader.query.get("next", "/"))
    if reader.platform.offices is None:
        return _nobody(reader)
    if link := reader.query.get("link", ""):
        hours = round(reader.offices.doorkeeper.lifetime / 3600)
        return bare(reader, "Sign in", _heading("Sign in to Handrail"), _by_link(link, goal, hours))
    if reader.somebody is not None:
        return go(goal)
    return _asking(reader, goal)


@pages.post("/sign-in", open=True)
async def enter(reader: Reader) -> Response:
    """Let somebody in, or say why not; what they typed stays, but for the password."""
    form = await reader.form()
    goal = place_here(c.text(form, "next") or "/")
    if reader.platform.offices is None:
        return _nobody(reader)
    if link := c.text(form, "link"):
        try:
            token = await reader.offices.doorkeeper.use_link(link)
        except NotSignedIn:
            return _asking(reader, goal, problem=_OVER)
        return await _entered(reader, token, goal)
    email, password = c.text(form, "email").strip(), c.text(form, "password")
    if not email or not password:
        return _asking(reader, goal, email, _missing(email))
    client = reader.request.client
    try:
        token = await reader.offices.passwords.sign_in(
            email, password, source=None if client is None else client.host
        )
    except TooManyTries as refused:
        return _asking(reader, goal, email, problem=str(refused), status=429)
    except NotSignedIn as refused:
        return _asking(reader, goal, email, {"password": str(refused)})
    return await _entered(reader, token, goal)


@pages.post("/sign-out", open=True)
async def leave(reader: Reader) -> Response:
    """Out of this browser, or of every one. A key is no session: an agent sends away nobody."""
    form = await reader.form()
    who = reader.somebody
    if who is not None and reader.request.scope["state"]["source"] == "web":
        door = reader.offices.doorkeeper
        await (door.sign_out(who) if c.text(form, "everywhere") else door.end(token_of(reader)))
    return send_out(reader, "/sign-in")


async def _entered(reader: Reader, token: str, goal: str) -> Response:
    answer = let_in(reader, token, goal)
    who = await reader.offices.doorkeeper.principal_from_session(token)
    keep_theme(reader, answer, await reader.offices.keepsakes.theme(who))
    return answer


def _asking(
    reader: Reader,
    goal: str,
    email: str = "",
    wrong: dict[str, str] | None = None,
    *,
    problem: str | None = None,
    status: int = 400,
) -> Response:
    errors = wrong or {}
    return bare(
        reader,
        "Sign in",
        _heading("Sign in to Handrail"),
        c.alert(problem) if problem else None,
        h.form(".panel.stack", method="post", action="/sign-in")[
            c.hidden(next=goal),
            c.field(
                "email",
                "Address",
                value=email,
                kind="email",
                error=errors.get("email"),
                autocomplete="username",
                autofocus=not email,
            ),
            c.field(
                "password",
                "Password",
                kind="password",
                error=errors.get("password"),
                autocomplete="current-password",
                autofocus=bool(email),
            ),
            c.submit("Sign in"),
        ],
        h.p(".quiet")[
            "No password yet, or forgotten? Ask whoever runs this server for a one-time link: ",
            h.code["handrail sign-in"],
            " and your address make one.",
        ],
        status=status if errors or problem else 200,
    )


def _missing(email: str) -> dict[str, str]:
    if not email:
        return {"email": "Type the address that you are known by here."}
    return {"password": "Type your password."}


def _by_link(link: str, goal: str, hours: int) -> h.Element:
    return h.form(".panel.stack", method="post", action="/sign-in")[
        h.p[f"This link lets you in once. From then on, this browser is signed in for {hours} hours."],
        c.hidden(link=link, next=goal),
        c.submit("Sign in"),
    ]


def _nobody(reader: Reader) -> Response:
    said = "This server keeps nothing in a database, so there is nobody to be. Programs and agents use keys."
    return bare(reader, "Sign in", _heading("Nobody signs in here"), h.p[said], status=404)


def _heading(title: str) -> h.Element:
    return h.h1(".row.sign-title")[icon("shield-check"), title]
