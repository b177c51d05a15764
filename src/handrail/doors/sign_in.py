"""Signing in by a link that works once, and out again. The pages are plain HTML without scripts."""

from __future__ import annotations

from html import escape
from urllib.parse import parse_qs

from handrail.core.define.principal import Principal
from handrail.doors.entrance import COOKIE
from handrail.doors.visit import Receive, Scope, Send
from handrail.identity.errors import NotSignedIn
from handrail.platform import Platform

_LARGEST = 4_096
_HEADERS = [
    (b"content-type", b"text/html; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; form-action 'self'; frame-ancestors 'none'"),
]


class SignIn:
    """`/`, `/sign-in?link=…` and `/sign-out`."""

    def __init__(self, platform: Platform) -> None:
        self._offices = platform.offices

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        place = (scope["method"], scope["path"])
        principal: Principal | None = scope["state"]["principal"]
        if place in (("GET", "/"), ("HEAD", "/")):
            await _show(send, 200, _front(principal))
        elif place in (("GET", "/sign-in"), ("HEAD", "/sign-in")):
            link = _given(scope["query_string"])
            await _show(send, 200 if link else 400, _ask(link) if link else _page("Sign in", _NO_LINK))
        elif place == ("POST", "/sign-in"):
            await self._let_in(scope, _given(await _body(receive)), send)
        elif place == ("POST", "/sign-out"):
            # A key is no session: an agent does not send away the person for whom it acts.
            if self._offices is not None and principal is not None and scope["state"]["source"] == "web":
                await self._offices.doorkeeper.sign_out(principal)
            await _go(send, _cookie("", 0, scope))
        else:
            await _show(send, 404, _page("Not found", "<p>There is nothing here.</p>"))

    async def _let_in(self, scope: Scope, link: str, send: Send) -> None:
        if self._offices is None:
            await _show(send, 400, _page("Sign in", "<p>There is no database here, and nobody to be.</p>"))
            return
        door = self._offices.doorkeeper
        try:
            token = await door.use_link(link)
        except NotSignedIn:
            await _show(send, 400, _page("Sign in", _NO_LINK))
            return
        await _go(send, _cookie(token, int(door.lifetime), scope))


_NO_LINK = (
    "<p>This link was used already, or is over.</p>"
    "<p>Ask for a new one, or make it where the server runs: <code>handrail sign-in</code></p>"
)


def _front(principal: Principal | None) -> str:
    if principal is None:
        who = (
            "<p>You are not signed in. Use the link that the server printed, or make one: "
            "<code>handrail sign-in</code></p>"
        )
    else:
        name = escape(principal.user or principal.agent or "somebody")
        who = f"<p>You are signed in to {escape(principal.tenant)} as {name}.</p>"
        who += '<form method="post" action="/sign-out"><button>Sign out everywhere</button></form>'
    doors = (
        "<ul><li>REST: <code>/api</code>, described by <a href='/api/openapi.json'>/api/openapi.json</a></li>"
        "<li>MCP: <code>/mcp</code></li></ul>"
    )
    return _page("Handrail", who + doors)


def _ask(link: str) -> str:
    """A page with a button: a program that only looks at a link must not use it up."""
    field = f'<input type="hidden" name="link" value="{escape(link)}">'
    return _page("Sign in", f'<form method="post" action="/sign-in">{field}<button>Sign in</button></form>')


def _page(title: str, body: str) -> str:
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    head += '<meta name="color-scheme" content="light dark">'
    inner = f"<main><h1>{title}</h1>{body}</main>"
    return (
        f'<!doctype html><html lang="en"><head>{head}<title>{title}</title></head><body>{inner}</body></html>'
    )


def _given(query: bytes) -> str:
    return parse_qs(query.decode("latin-1")).get("link", [""])[0]


async def _body(receive: Receive) -> bytes:
    found: bytes = b""
    while len(found) <= _LARGEST:
        message = await receive()
        found += message.get("body", b"")
        if not message.get("more_body"):
            return found
    return b""


def _cookie(token: str, seconds: int, scope: Scope) -> bytes:
    secure = "; Secure" if scope.get("scheme") == "https" else ""
    return f"{COOKIE}={token}; HttpOnly; SameSite=Lax; Path=/; Max-Age={seconds}{secure}".encode()


async def _show(send: Send, status: int, page: str) -> None:
    await send({"type": "http.response.start", "status": status, "headers": _HEADERS})
    await send({"type": "http.response.body", "body": page.encode()})


async def _go(send: Send, cookie: bytes) -> None:
    headers = [*_HEADERS, (b"location", b"/"), (b"set-cookie", cookie)]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
