"""build_web: every page, put together over one platform."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import ceil

import htpy as h
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from handrail.core.errors import HandrailError, StorageError
from handrail.doors.web import layout
from handrail.doors.web.accounts import AccountCache
from handrail.doors.web.assets import assets, serve_asset
from handrail.doors.web.forms.options import RegisteredOptions
from handrail.doors.web.guest_limits import GuestRateLimits
from handrail.doors.web.layout import bare_page, message, page
from handrail.doors.web.live import LiveUpdates, ToolSessionWatcher
from handrail.doors.web.pages import approvals, embed, home, runs, settings, sign_in, tool_sessions, tools
from handrail.doors.web.responses import html, with_security_headers
from handrail.doors.web.router import (
    OptionSources,
    PageContext,
    PageNotFound,
    PageRouter,
    SignInRequired,
    WebState,
    redirect_to_sign_in,
)
from handrail.identity.errors import RateLimited
from handrail.platform import Platform
from handrail.platform.middleware import EMBED_PREFIX

_log = logging.getLogger("handrail.web")
_UNREADABLE = (
    "The form did not arrive whole, or it has more fields or larger ones than a form may have. Nothing was "
    "changed. Go back: what you typed is still there."
)
_NOT_FOUND = "There is nothing at this address, or nothing that you may see."
_NO_DATABASE = "The database cannot be reached or written now. Nothing was lost; try again in a moment."
_PAGES: tuple[PageRouter, ...] = (
    layout.router,
    sign_in.router,
    home.router,
    *approvals.PAGES,
    *tools.PAGES,
    *runs.PAGES,
    *settings.PAGES,
    *tool_sessions.PAGES,
    embed.router,
)


class WebApp:
    """The web app over one platform. It holds nothing but who listens."""

    def __init__(self, platform: Platform, options: OptionSources) -> None:
        assets()  # says what is missing before anybody asks for it
        self.live = LiveUpdates(platform)
        self.accounts = AccountCache(platform)
        self.state = WebState(
            platform,
            self.live,
            ToolSessionWatcher(platform, self.live),
            self.accounts,
            GuestRateLimits(),
            options,
        )
        self.routes = [route for router in _PAGES for route in router.mounted(self.state)]
        self._app: ASGIApp = Starlette(
            routes=self.routes,
            exception_handlers={
                PageNotFound: self._not_found,
                SignInRequired: self._sign_in_first,
                HTTPException: self._not_found,
                HandrailError: self._refused,
                Exception: self._broken,
            },
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].startswith("/static/"):
            await serve_asset(scope, receive, send)
            return
        who = scope["state"].get("principal")
        if who is not None:
            scope["state"]["account"] = await self.accounts.of(who)
        await self._app(scope, receive, with_security_headers(send))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While the server runs, open pages are told what changes."""
        try:
            yield
        finally:
            self.live.close()

    async def _not_found(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        if status == 400:
            return await self._message(request, "That could not be read", _UNREADABLE, status)
        return await self._message(request, "Not found", _NOT_FOUND, status)

    async def _sign_in_first(self, request: Request, error: Exception) -> Response:
        return redirect_to_sign_in(request)

    async def _refused(self, request: Request, error: Exception) -> Response:
        """What the layers below refuse, each in its own words."""
        if isinstance(error, StorageError):
            _log.error("the database failed: %s", error)
            return await self._message(request, "Not now", _NO_DATABASE, 503)
        if isinstance(error, RateLimited):
            response = await self._message(request, "Not so fast", str(error), 429)
            response.headers["retry-after"] = str(ceil(error.wait))
            return response
        return await self._message(request, "That did not work", str(error), 409)

    async def _broken(self, request: Request, error: Exception) -> Response:
        """A fault of ours; it goes on to the middleware, which logs it."""
        number = request.scope["state"].get("request_id")
        text = f"Something went wrong on our side. It was logged as {number}."
        return await self._message(request, "Something broke", text, 500)

    async def _message(self, request: Request, title: str, text: str, status: int) -> Response:
        """A page with nothing but a message; where a part of a page was asked for, a note beside it."""
        ctx = PageContext(request, self.state)
        if ctx.by_htmx:
            note = h.p(".toast-note", role="alert")[text]
            return html(note, status, headers={"hx-retarget": "#toasts", "hx-reswap": "beforeend"})
        if request.url.path.startswith(EMBED_PREFIX):
            ancestors = await embed.frame_ancestors(ctx)
            content = message(title, text)
            return bare_page(ctx, title, content, status=status, theme="system", ancestors=ancestors)
        start = h.p[h.a(href="/")["Go to the start page"]]
        return page(ctx, title, message(title, text, start), status=status)


def build_web(platform: Platform, options: OptionSources = RegisteredOptions) -> WebApp:
    """The pages over a platform; they run behind the middleware that says who looks."""
    return WebApp(platform, options)
