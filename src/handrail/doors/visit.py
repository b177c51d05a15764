"""Visit: one request on its way through the entrance. Its id, how much of it was read, what came of it."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from handrail.core.define.principal import Principal
from handrail.core.ids import new_id
from handrail.doors.errors import error_body, error_page

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_log = logging.getLogger("handrail.access")
_JSON = b"application/json"
_SECRET = re.compile(r"\b(h[a-z]_[a-z0-9-]+_[0-9a-f]{16})_[0-9a-f]+")
"""Links that let people in stand in addresses; no log may let anybody in."""
_ALONE = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
)
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")


class Refused(Exception):
    """A request that no door sees."""

    def __init__(self, status: int, code: str, message: str, *more: tuple[bytes, bytes]) -> None:
        self.status, self.body, self.headers = status, error_body(code, message), more
        self.page = error_page(message)


class Visit:
    """One request on its way through."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        # White space around a value is no part of it, but httptools leaves what stands behind.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        given = self.headers.get(b"x-request-id", b"").decode("latin-1")
        self.id = given if _ID.match(given) else new_id("req")
        self._scope, self._receive, self._send = scope, receive, send
        self._limit, self._left = limit, limit
        self._status: int | None = None
        self._over: Refused | None = None
        self._begun = time.perf_counter()

    def check_length(self) -> None:
        length = self.headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 18 or int(length) > self._limit:
            raise self._too_large()

    def _too_large(self) -> Refused:
        return Refused(413, "TOO_LARGE", f"A request may have {self._limit:,} bytes at most.")

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

    async def refuse(self, refused: Refused) -> None:
        if self._status is not None:
            return  # too late: an answer has begun
        self._over = None
        kind, body = (
            (b"text/html; charset=utf-8", refused.page) if self._for_a_person() else (_JSON, refused.body)
        )
        length = (b"content-length", str(len(body)).encode())
        headers = [(b"content-type", kind), length, *_ALONE, *refused.headers]
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
            told = {
                "request": self.id,
                "method": self._scope["method"],
                "path": _SECRET.sub(r"\1_•••", self._scope["path"]),
                "status": self._status,
                "ms": round((time.perf_counter() - self._begun) * 1000, 1),
                "tenant": principal and principal.tenant,
                "user": principal and principal.user,
                "agent": principal and principal.agent,
            }
            _log.handle(_line(told))


def _line(told: dict[str, Any]) -> logging.LogRecord:
    """The record of a request; made by hand, since nobody asks which line of the code wrote it."""
    path = told["path"]  # as it was sent, decoded: what moves a terminal's cursor must not reach one
    said = (told["method"], path if path.isprintable() else ascii(path), told["status"])
    record = logging.LogRecord(_log.name, logging.INFO, __file__, 0, "%s %s %s", said, None)
    record.__dict__["told"] = told
    return record
