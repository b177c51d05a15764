"""The ASGI middleware before every door: host and origin, who calls, body size, rate limit, access log."""

from __future__ import annotations

import logging
import re
import time
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handrail.core.define.principal import Principal
from handrail.core.ids import new_id
from handrail.identity.errors import NotSignedIn
from handrail.platform import Platform
from handrail.platform.rate_limit import RateLimiter
from handrail.platform.responses import error_body, error_page

_log = logging.getLogger("handrail.access")
_JSON_TYPE = b"application/json"

_TOKEN_IN_PATH = re.compile(r"\b(h[a-z]_[a-z0-9-]+_[0-9a-f]{16})_[0-9a-f]+")
"""Links that let people in stand in addresses; no log may let anybody in."""

_REFUSAL_HEADERS = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
)
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")


class RequestRefused(Exception):
    """A request that no door sees."""

    def __init__(self, status: int, code: str, message: str, *more: tuple[bytes, bytes]) -> None:
        self.status, self.body, self.headers = status, error_body(code, message), more
        self.page = error_page(message)


class IncomingRequest:
    """One request on its way through."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        # White space around a value is no part of it, but httptools leaves what stands behind.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        header = self.headers.get(b"x-request-id", b"").decode("latin-1")
        self.id = header if _REQUEST_ID.match(header) else new_id("req")
        self._scope, self._receive, self._send = scope, receive, send
        self._limit, self._left = limit, limit
        self._status: int | None = None
        self._over: RequestRefused | None = None
        self._begun = time.perf_counter()

    def check_length(self) -> None:
        length = self.headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 18 or int(length) > self._limit:
            raise self._too_large()

    def _too_large(self) -> RequestRefused:
        return RequestRefused(413, "TOO_LARGE", f"A request may have {self._limit:,} bytes at most.")

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                self._over = self._too_large()
                raise self._over
        return message

    async def send(self, message: Message) -> None:
        if self._over is not None and self._status is None:
            return  # whoever read the body makes of the refusal what they like: it is told by us
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = [*message.get("headers", ()), (b"x-request-id", self.id.encode())]
            message = {**message, "headers": headers}
        await self._send(message)

    async def refuse(self, refused: RequestRefused) -> None:
        if self._status is not None:
            return  # too late: an answer has begun
        self._over = None
        kind, body = (
            (b"text/html; charset=utf-8", refused.page)
            if self._for_a_person()
            else (_JSON_TYPE, refused.body)
        )
        length = (b"content-length", str(len(body)).encode())
        headers = [(b"content-type", kind), length, *_REFUSAL_HEADERS, *refused.headers]
        await self.send({"type": "http.response.start", "status": refused.status, "headers": headers})
        body = b"" if self._scope["method"] == "HEAD" else body
        await self.send({"type": "http.response.body", "body": body})

    def _for_a_person(self) -> bool:
        """Whether a browser shows the answer to somebody."""
        door = self._scope["path"].split("/", 2)[1:2]
        return door not in (["api"], ["mcp"]) and b"text/html" in self.headers.get(b"accept", b"")

    async def settle(self) -> None:
        """Refuse a body that was too large, where the door made something else of it."""
        if self._over is not None:
            await self.refuse(self._over)

    def log(self, principal: Principal | None) -> None:
        if _log.isEnabledFor(logging.INFO):
            fields = {
                "request": self.id,
                "method": self._scope["method"],
                "path": _TOKEN_IN_PATH.sub(r"\1_•••", self._scope["path"]),
                "status": self._status,
                "ms": round((time.perf_counter() - self._begun) * 1000, 1),
                "tenant": principal and principal.tenant,
                "user": principal and principal.user,
                "agent": principal and principal.agent,
            }
            _log.handle(_log_record(fields))


def _log_record(fields: dict[str, Any]) -> logging.LogRecord:
    """The record of a request; made by hand, since nobody asks which line of the code wrote it."""
    path = fields["path"]  # as it was sent, decoded: what moves a terminal's cursor must not reach one
    line = (fields["method"], path if path.isprintable() else ascii(path), fields["status"])
    record = logging.LogRecord(_log.name, logging.INFO, __file__, 0, "%s %s %s", line, None)
    record.__dict__["fields"] = fields
    return record


SESSION_COOKIE = "handrail_session"
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")

request_id: ContextVar[str | None] = ContextVar("handrail_request", default=None)
"""The id of the request that is being answered."""

EMBED_PREFIX = "/embed/"
"""Below it no cookie is read: what a page of another place frames acts for nobody who looks at it."""
_HEALTH_PATHS = frozenset({"/healthz", "/readyz"})
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_INVALID_KEY = "This key is not valid. Send one that is, as `Authorization: Bearer …`."

_WRONG_HOST = (
    "This server is not known under that name. Check the address, or let whoever runs it add the name to "
    "the setting `hosts`."
)


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What the entrance lets through."""

    hosts: frozenset[str] = frozenset(LOOPBACK_HOSTS)
    """Names under which this server may be called, without the port. `*` is any."""
    body: int = 10 * 2**20
    """The largest body of a request, in bytes."""
    rate: float | None = 100.0
    """Requests a second for each key; None is no bound."""


class SecurityMiddleware:
    """The layer before all doors."""

    def __init__(self, app: ASGIApp, platform: Platform, limits: RequestLimits | None = None) -> None:
        self._app = app
        self._auth = platform.auth
        self._limits = limits or RequestLimits()
        self._rate = None if self._limits.rate is None else RateLimiter(self._limits.rate, time.monotonic)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        request = IncomingRequest(scope, receive, send, self._limits.body)
        token = request_id.set(request.id)
        state = scope.setdefault("state", {})
        state["principal"], state["request_id"] = None, request.id
        try:
            if scope["path"] not in _HEALTH_PATHS:
                self._check_host_and_origin(scope["method"], request.headers)
                state["principal"] = who = await self._who_calls(scope["path"], request.headers)
                state["still"] = partial(self._is_still, who, scope["path"], request.headers)
                state["source"] = "api" if b"authorization" in request.headers else "web"
            request.check_length()
            await self._app(scope, request.receive, request.send)
            await request.settle()
        except RequestRefused as refused:
            await request.refuse(refused)
        except Exception:
            _log.exception("request %s failed", request.id)
            text = f"Something went wrong on our side. It was logged as {request.id}."
            await request.refuse(RequestRefused(500, "INTERNAL_ERROR", text))
        finally:
            request.log(state["principal"])
            request_id.reset(token)

    def _check_host_and_origin(self, method: str, headers: dict[bytes, bytes]) -> None:
        """A page of somewhere else must not speak in the name of whoever looks at it."""
        host, hosts = headers.get(b"host", b"").decode("latin-1").lower(), self._limits.hosts
        if "*" not in hosts and _host_name(host) not in hosts:
            raise RequestRefused(421, "WRONG_HOST", _WRONG_HOST)
        origin = headers.get(b"origin")
        ours = (f"http://{host}", f"https://{host}")
        elsewhere = origin is not None and origin.decode("latin-1").lower() not in ours
        crossing = (
            headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site") and method not in _SAFE_METHODS
        )
        if elsewhere or crossing:
            raise RequestRefused(403, "WRONG_ORIGIN", "Pages of other places may not call this server.")

    async def _who_calls(self, path: str, headers: dict[bytes, bytes]) -> Principal | None:
        try:
            credentials = await self._credentials(path, headers)
        except NotSignedIn:
            if b"authorization" not in headers:
                return None  # a session that is over is as good as none
            how = (b"www-authenticate", b'Bearer error="invalid_token"')
            raise RequestRefused(401, "NOT_SIGNED_IN", _INVALID_KEY, how) from None
        if credentials is None:
            return None
        self._check_rate(credentials[1])
        return credentials[0]

    async def _is_still(self, who: Principal | None, path: str, headers: dict[bytes, bytes]) -> bool:
        try:
            credentials = await self._credentials(path, headers)
        except NotSignedIn:
            return False
        return who == (None if credentials is None else credentials[0])

    async def _credentials(self, path: str, headers: dict[bytes, bytes]) -> tuple[Principal, str] | None:
        """Whose key or session is shown, and which; None where nothing is."""
        authorization = headers.get(b"authorization")
        audience = "mcp" if path == "/mcp" or path.startswith("/mcp/") else "api"
        if authorization is not None:
            kind, _, key = authorization.decode("latin-1").partition(" ")
            if kind.lower() != "bearer":
                raise NotSignedIn
            key = key.strip()
            return await self._auth.principal_of(key, audience), key
        token = (
            None if audience == "mcp" or path.startswith(EMBED_PREFIX) else _cookie(headers.get(b"cookie"))
        )
        return None if token is None else (await self._auth.principal_from_session(token), token)

    def _check_rate(self, name: str) -> None:
        wait = 0.0 if self._rate is None else self._rate.wait(name)
        if wait:
            seconds = max(1, round(wait + 0.5))
            text = f"Too many requests with this key. Try again in {seconds} s."
            raise RequestRefused(429, "TOO_MANY", text, (b"retry-after", str(seconds).encode()))


def _host_name(authority: str) -> str:
    """The name in front of the port."""
    if authority.startswith("["):
        return authority.partition("]")[0].lower() + "]"
    return authority.partition(":")[0].lower()


def _cookie(header: bytes | None) -> str | None:
    for part in (header or b"").decode("latin-1").split(";"):
        name, equals, value = part.strip().partition("=")
        if equals and name == SESSION_COOKIE:
            return value
    return None
