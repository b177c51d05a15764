"""The cookies by which a browser is signed in and remembers its theme and sidebar."""

from __future__ import annotations

from starlette.responses import Response

from handrail.doors.web.router import PageContext, PageNotFound, redirect
from handrail.platform.middleware import SESSION_COOKIE

THEME_COOKIE, SIDEBAR_COOKIE = "handrail_theme", "handrail_nav"
"""Cookies that say how somebody likes to see the pages."""
_LONGEST = 2_000
_YEAR = 365 * 86_400


def session_token(ctx: PageContext) -> str:
    """The session of this browser. Whoever came with a key has none, and so no such page."""
    token = ctx.request.cookies.get(SESSION_COOKIE)
    if token is None or ctx.request.scope["state"].get("source") != "web":
        raise PageNotFound
    return token


def signed_in_redirect(ctx: PageContext, token: str, goal: str) -> Response:
    """On to a page, signed in."""
    return _redirect_with_session(ctx, goal, token, int(ctx.services.authenticator.lifetime))


def signed_out_redirect(ctx: PageContext, goal: str) -> Response:
    """On to a page, signed out."""
    return _redirect_with_session(ctx, goal, "", 0)


def _redirect_with_session(ctx: PageContext, goal: str, token: str, seconds: int) -> Response:
    response, secure = redirect(goal), is_secure(ctx)
    response.set_cookie(SESSION_COOKIE, token, max_age=seconds, httponly=True, samesite="lax", secure=secure)
    return response


def set_theme_cookie(ctx: PageContext, response: Response, theme: str) -> None:
    """Let this browser draw pages so from the first byte on; scripts may change it too."""
    response.set_cookie(THEME_COOKIE, theme, max_age=_YEAR, samesite="lax", secure=is_secure(ctx))


def is_secure(ctx: PageContext) -> bool:
    return ctx.request.url.scheme == "https"


def local_path(text: str) -> str:
    """A path of this site to go on to; anything else is the start page.

    Browsers take `//` and `/\\` for the beginning of another site, and leave out what cannot be printed.
    """
    plain = text.isascii() and text.isprintable() and " " not in text and "\\" not in text
    inside = text.startswith("/") and not text.startswith("//")
    return text if plain and inside and len(text) <= _LONGEST else "/"
