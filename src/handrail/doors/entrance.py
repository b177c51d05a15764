"""Entrance: what every request passes before a door opens. Where it comes from, who sends it, how much of it.

A plain ASGI layer. It answers what must not reach a door, and leaves to it `scope["state"]["principal"]`: who
calls, or None for nobody; `scope["state"]["source"]`: `api` with a key, `web` with a session; and
`scope["state"]["still"]`: asks whether they would be let in as the same now, for a door that keeps them long.
Every request gets an id, and one line in the log.
"""

from __future__ import annotations

import logging
import time
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial

from handrail.core.define.principal import Principal
from handrail.doors.rate import Rate
from handrail.doors.visit import App, Receive, Refused, Scope, Send, Visit
from handrail.identity.errors import NotSignedIn
from handrail.platform import Platform

COOKIE = "handrail_session"
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
request_id: ContextVar[str | None] = ContextVar("handrail_request", default=None)
"""The id of the request that is being answered."""

_log = logging.getLogger("handrail.access")
EMBEDS = "/embed/"
"""Below it no cookie is read: what a page of another place frames acts for nobody who looks at it."""
_OPEN_TO_ALL = frozenset({"/healthz", "/readyz"})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_NO_KEY = "This key is not valid. Send one that is, as `Authorization: Bearer …`."
_WRONG_HOST = (
    "This server is not known under that name. Check the address, or let whoever runs it add the name to "
    "the setting `hosts`."
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the entrance lets through."""

    hosts: frozenset[str] = frozenset(LOOPBACK)
    """Names under which this server may be called, without the port. `*` is any."""
    body: int = 10 * 2**20
    """The largest body of a request, in bytes."""
    rate: float | None = 100.0
    """Requests a second for each key; None is no bound."""


class Entrance:
    """The layer before all doors."""

    def __init__(self, app: App, platform: Platform, bounds: Bounds | None = None) -> None:
        self._app = app
        self._who = platform.who
        self._bounds = bounds or Bounds()
        self._rate = None if self._bounds.rate is None else Rate(self._bounds.rate, time.monotonic)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        visit = Visit(scope, receive, send, self._bounds.body)
        token = request_id.set(visit.id)
        state = scope.setdefault("state", {})
        state["principal"], state["request_id"] = None, visit.id
        try:
            if scope["path"] not in _OPEN_TO_ALL:
                self._check_place(scope["method"], visit.headers)
                state["principal"] = who = await self._who_calls(scope["path"], visit.headers)
                state["still"] = partial(self._is_still, who, scope["path"], visit.headers)
                state["source"] = "api" if b"authorization" in visit.headers else "web"
            visit.check_length()
            await self._app(scope, visit.receive, visit.send)
            await visit.settle()
        except Refused as refused:
            await visit.refuse(refused)
        except Exception:
            _log.exception("request %s failed", visit.id)
            said = f"Something went wrong on our side. It was logged as {visit.id}."
            await visit.refuse(Refused(500, "INTERNAL_ERROR", said))
        finally:
            visit.log(state["principal"])
            request_id.reset(token)

    def _check_place(self, method: str, headers: dict[bytes, bytes]) -> None:
        """A page of somewhere else must not speak in the name of whoever looks at it."""
        host, hosts = headers.get(b"host", b"").decode("latin-1").lower(), self._bounds.hosts
        if "*" not in hosts and _name_of(host) not in hosts:
            raise Refused(421, "WRONG_HOST", _WRONG_HOST)
        origin = headers.get(b"origin")
        ours = (f"http://{host}", f"https://{host}")
        elsewhere = origin is not None and origin.decode("latin-1").lower() not in ours
        crossing = headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site") and method not in _SAFE
        if elsewhere or crossing:
            raise Refused(403, "WRONG_ORIGIN", "Pages of other places may not call this server.")

    async def _who_calls(self, path: str, headers: dict[bytes, bytes]) -> Principal | None:
        try:
            shown = await self._shown(path, headers)
        except NotSignedIn:
            if b"authorization" not in headers:
                return None  # a session that is over is as good as none
            how = (b"www-authenticate", b'Bearer error="invalid_token"')
            raise Refused(401, "NOT_SIGNED_IN", _NO_KEY, how) from None
        if shown is None:
            return None
        self._count(shown[1])
        return shown[0]

    async def _is_still(self, who: Principal | None, path: str, headers: dict[bytes, bytes]) -> bool:
        try:
            shown = await self._shown(path, headers)
        except NotSignedIn:
            return False
        return who == (None if shown is None else shown[0])

    async def _shown(self, path: str, headers: dict[bytes, bytes]) -> tuple[Principal, str] | None:
        """Whose key or session is shown, and which; None where nothing is."""
        given = headers.get(b"authorization")
        audience = "mcp" if path == "/mcp" or path.startswith("/mcp/") else "api"
        if given is not None:
            kind, _, key = given.decode("latin-1").partition(" ")
            if kind.lower() != "bearer":
                raise NotSignedIn
            key = key.strip()
            return await self._who.principal_of(key, audience), key
        token = None if audience == "mcp" or path.startswith(EMBEDS) else _cookie(headers.get(b"cookie"))
        return None if token is None else (await self._who.principal_from_session(token), token)

    def _count(self, name: str) -> None:
        wait = 0.0 if self._rate is None else self._rate.wait(name)
        if wait:
            seconds = max(1, round(wait + 0.5))
            said = f"Too many requests with this key. Try again in {seconds} s."
            raise Refused(429, "TOO_MANY", said, (b"retry-after", str(seconds).encode()))


def _name_of(authority: str) -> str:
    """The name in front of the port."""
    if authority.startswith("["):
        return authority.partition("]")[0].lower() + "]"
    return authority.partition(":")[0].lower()


def _cookie(header: bytes | None) -> str | None:
    for part in (header or b"").decode("latin-1").split(";"):
        name, found, value = part.strip().partition("=")
        if found and name == COOKIE:
            return value
    return None
