"""HTML responses, and the security headers without which nothing goes out."""

from __future__ import annotations

import htpy as h
from starlette.datastructures import MutableHeaders
from starlette.responses import HTMLResponse
from starlette.types import Message, Send

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; frame-src 'self'; base-uri 'none'"
)
_SECURITY_HEADERS = {
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
}
_DEFAULT_HEADERS = {
    **_SECURITY_HEADERS,
    "content-security-policy": f"{CONTENT_SECURITY_POLICY}; frame-ancestors 'none'",
}


def html(
    content: h.Renderable,
    status: int = 200,
    *,
    ancestors: str = "'none'",
    headers: dict[str, str] | None = None,
) -> HTMLResponse:
    """A page, or a part of one. `ancestors` are the places that may frame it."""
    policy = {"content-security-policy": f"{CONTENT_SECURITY_POLICY}; frame-ancestors {ancestors}"}
    body = str(content).encode("utf-8", "backslashreplace")  # half a character cannot be sent, but told of
    return HTMLResponse(body, status, {**_SECURITY_HEADERS, **policy, **(headers or {})})


def with_security_headers(send: Send) -> Send:
    """Also what is no page goes out with them: redirects, files, streams, whatever is thought of later."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message.get("headers", ())))
            for name, value in _DEFAULT_HEADERS.items():
                headers.setdefault(name, value)
            message = {**message, "headers": headers.raw}
        await send(message)

    return sent
