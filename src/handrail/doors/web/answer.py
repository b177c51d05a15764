"""answer: HTML on its way out, with the headers that keep a page to itself."""

from __future__ import annotations

import htpy as h
from starlette.responses import HTMLResponse

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


def html(
    content: h.Renderable,
    status: int = 200,
    *,
    ancestors: str = "'none'",
    headers: dict[str, str] | None = None,
) -> HTMLResponse:
    """A page, or a part of one. `ancestors` are the places that may frame it."""
    policy = {"content-security-policy": f"{POLICY}; frame-ancestors {ancestors}"}
    return HTMLResponse(str(content), status, {**_KEPT, **policy, **(headers or {})})
