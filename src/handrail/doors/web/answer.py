"""answer: HTML on its way out, with the headers that keep a page to itself. Nothing goes out without them."""

from __future__ import annotations

import htpy as h
from starlette.datastructures import MutableHeaders
from starlette.responses import HTMLResponse

from handrail.doors.visit import Message, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; frame-src 'self'; base-uri 'none'"
)
_KEPT = {
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
}
_ELSE = {**_KEPT, "content-security-policy": f"{POLICY}; frame-ancestors 'none'"}


def html(
    content: h.Renderable,
    status: int = 200,
    *,
    ancestors: str = "'none'",
    headers: dict[str, str] | None = None,
) -> HTMLResponse:
    """A page, or a part of one. `ancestors` are the places that may frame it."""
    policy = {"content-security-policy": f"{POLICY}; frame-ancestors {ancestors}"}
    body = str(content).encode("utf-8", "backslashreplace")  # half a character cannot be sent, but told of
    return HTMLResponse(body, status, {**_KEPT, **policy, **(headers or {})})


def kept(send: Send) -> Send:
    """Also what is no page goes out with them: redirects, files, streams, whatever is thought of later."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message.get("headers", ())))
            for name, value in _ELSE.items():
                headers.setdefault(name, value)
            message = {**message, "headers": headers.raw}
        await send(message)

    return sent
