"""The cookies by which a browser is signed in and keeps its theme."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from handrail.doors.web.layout import THEME_COOKIE
from handrail.doors.web.routing import PageContext, PageNotFound, redirect
from handrail.platform.middleware import SESSION_COOKIE

_LONGEST = 2_000
_YEAR = 365 * 86_400


def session_token(ctx: PageContext) -> str:
    """The session of this browser. Whoever came with a key has none, and so no such page."""
    found = ctx.request.cookies.get(SESSION_COOKIE)
    if found is None or ctx.request.scope["state"].get("source") != "web":
        raise PageNotFound
    return found


def signed_in_redirect(ctx: PageContext, token: str, goal: str) -> Response:
    """On to a page, signed in."""
    answer = redirect(goal)
    _set_session_cookie(ctx.request, answer, token, int(ctx.services.authenticator.lifetime))
    return answer


def set_theme_cookie(ctx: PageContext, answer: Response, theme: str) -> None:
    """Let this browser draw pages so from the first byte on; scripts may change it too."""
    secure = _is_secure(ctx.request)
    answer.set_cookie(THEME_COOKIE, theme, max_age=_YEAR, samesite="lax", secure=secure)


def signed_out_redirect(ctx: PageContext, goal: str) -> Response:
    """On to a page, signed out."""
    answer = redirect(goal)
    _set_session_cookie(ctx.request, answer, "", 0)
    return answer


def local_path(given: str) -> str:
    """A path of this site to go on to; anything else is the start page.

    Browsers take `//` and `/\\` for the beginning of another site, and leave out what cannot be printed.
    """
    plain = given.isascii() and given.isprintable() and " " not in given and "\\" not in given
    inside = given.startswith("/") and not given.startswith("//")
    return given if plain and inside and len(given) <= _LONGEST else "/"


def _set_session_cookie(request: Request, answer: Response, token: str, seconds: int) -> None:
    secure = _is_secure(request)
    answer.set_cookie(SESSION_COOKIE, token, max_age=seconds, httponly=True, samesite="lax", secure=secure)


def _is_secure(request: Request) -> bool:
    return request.url.scheme == "https"
