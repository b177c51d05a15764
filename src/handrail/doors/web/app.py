"""build_web: every page, put together over one platform."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from math import ceil

import htpy as h
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from handrail.core.define.principal import Principal
from handrail.core.errors import HandrailError, StorageError
from handrail.doors.web import layout
from handrail.doors.web.accounts import AccountCache
from handrail.doors.web.assets import assets, serve_asset
from handrail.doors.web.forms.options import OptionSource, RegisteredOptions
from handrail.doors.web.layout import bare_page, page
from handrail.doors.web.live import LiveUpdates, ToolSessionWatcher
from handrail.doors.web.pages import approvals, embed, home, runs, settings, sign_in, tool_sessions, tools
from handrail.doors.web.rate_limits import GuestRateLimits
from handrail.doors.web.responses import html, with_security_headers
from handrail.doors.web.routing import (
    PageContext,
    PageNotFound,
    PageRouter,
    SignInRequired,
    redirect_to_sign_in,
)
from handrail.identity.errors import RateLimited
from handrail.platform import Platform
from handrail.platform.middleware import EMBED_PREFIX

_log = logging.getLogger("handrail.web")
_UNREAD = (
    "The form did not arrive whole, or it has more fields or larger ones than a form may have. Nothing was "
    "changed. Go back: what you typed is still there."
)
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
    """The web app over one platform. It keeps nothing but who listens."""

    def __init__(self, platform: Platform) -> None:
        assets()  # says what is missing before anybody asks for it
        self.platform = platform
        self.live = LiveUpdates(platform)
        self.accounts = AccountCache(platform)
        self.watching = ToolSessionWatcher(platform, self.live)
        self.pacing = GuestRateLimits()
        self.options: Callable[[Principal], OptionSource] = RegisteredOptions
        """What pickers in forms can look through, for whoever fills one in; they take other text as well."""
        self.routes = [route for one in _PAGES for route in one.mounted(self)]
        self._app: ASGIApp = Starlette(
            routes=self.routes,
            exception_handlers={
                PageNotFound: self._nothing,
                SignInRequired: self._stranger,
                HTTPException: self._nothing,
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

    async def _nothing(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        if status == 400:
            return await self._says(request, "That could not be read", _UNREAD, status)
        said = "There is nothing at this address, or nothing that you may see."
        return await self._says(request, "Not found", said, status)

    async def _stranger(self, request: Request, error: Exception) -> Response:
        return redirect_to_sign_in(request)

    async def _refused(self, request: Request, error: Exception) -> Response:
        """What the rooms below refuse, each in its own words."""
        if isinstance(error, StorageError):
            _log.error("the database failed: %s", error)
            said = "The database cannot be reached or written now. Nothing was lost; try again in a moment."
            return await self._says(request, "Not now", said, 503)
        if isinstance(error, RateLimited):
            told = await self._says(request, "Not so fast", str(error), 429)
            told.headers["retry-after"] = str(ceil(error.wait))
            return told
        return await self._says(request, "That did not work", str(error), 409)

    async def _broken(self, request: Request, error: Exception) -> Response:
        """A fault of ours; it goes on to the entrance, which logs it."""
        number = request.scope["state"].get("request_id")
        said = f"Something went wrong on our side. It was logged as {number}."
        return await self._says(request, "Something broke", said, 500)

    async def _says(self, request: Request, title: str, said: str, status: int) -> Response:
        """A page that only says something; where a part of a page was wanted, a note beside it."""
        ctx = PageContext(request, self)
        if ctx.by_htmx:
            note = h.p(".toast-note", role="alert")[said]
            return html(note, status, headers={"hx-retarget": "#toasts", "hx-reswap": "beforeend"})
        if request.url.path.startswith(EMBED_PREFIX):
            around = await embed.frame_ancestors(ctx)
            content = h.section(".message")[h.h1[title], h.p[said]]
            return bare_page(ctx, title, content, status=status, theme="system", ancestors=around)
        return page(ctx, title, message_section(title, said), status=status)


def message_section(title: str, said: str, step: h.Node = None) -> h.Element:
    """A page that only says something."""
    return h.section(".message")[h.h1[title], h.p[said], step or h.p[h.a(href="/")["Go to the start page"]]]


def build_web(platform: Platform) -> WebApp:
    """The pages over a platform; they stand behind the entrance, which says who looks."""
    return WebApp(platform)
