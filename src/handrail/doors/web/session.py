"""session: the cookie by which a browser is signed in, and where it goes from there."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from handrail.doors.entrance import COOKIE
from handrail.doors.web.frame import THEME
from handrail.doors.web.routing import NotThere, Reader, go

_LONGEST = 2_000
_YEAR = 365 * 86_400


def token_of(reader: Reader) -> str:
    """The session of this browser. Whoever came with a key has none, and so no such page."""
    found = reader.request.cookies.get(COOKIE)
    if found is None or reader.request.scope["state"].get("source") != "web":
        raise NotThere
    return found


def let_in(reader: Reader, token: str, goal: str) -> Response:
    """On to a page, signed in."""
    answer = go(goal)
    _set(reader.request, answer, token, int(reader.offices.doorkeeper.lifetime))
    return answer


def keep_theme(reader: Reader, answer: Response, theme: str) -> None:
    """Let this browser draw pages so from the first byte on; scripts may change it too."""
    secure = _is_secure(reader.request)
    answer.set_cookie(THEME, theme, max_age=_YEAR, samesite="lax", secure=secure)


def send_out(reader: Reader, goal: str) -> Response:
    """On to a page, signed out."""
    answer = go(goal)
    _set(reader.request, answer, "", 0)
    return answer


def place_here(given: str) -> str:
    """A path of this site to go on to; anything else is the start page.

    Browsers take `//` and `/\\` for the beginning of another site, and leave out what cannot be printed.
    """
    plain = given.isascii() and given.isprintable() and " " not in given and "\\" not in given
    inside = given.startswith("/") and not given.startswith("//")
    return given if plain and inside and len(given) <= _LONGEST else "/"


def _set(request: Request, answer: Response, token: str, seconds: int) -> None:
    secure = _is_secure(request)
    answer.set_cookie(COOKIE, token, max_age=seconds, httponly=True, samesite="lax", secure=secure)


def _is_secure(request: Request) -> bool:
    return request.url.scheme == "https"
