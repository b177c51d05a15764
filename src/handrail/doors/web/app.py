"""build_web: every page, put together over one platform."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from math import ceil

import htpy as h
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from handrail.core.define.principal import Principal
from handrail.core.errors import HandrailError, StorageError
from handrail.doors.entrance import EMBEDS
from handrail.doors.http.streams import Running
from handrail.doors.visit import App, Receive, Scope, Send
from handrail.doors.web.account import Accounts
from handrail.doors.web.answer import html, kept
from handrail.doors.web.assets import assets, static
from handrail.doors.web.forms.options import OptionSource, Registered
from handrail.doors.web.frame import bare, page
from handrail.doors.web.live import Live
from handrail.doors.web.pacing import Pacing
from handrail.doors.web.pages import (
    approvals,
    embed,
    home,
    moving,
    runs,
    settings,
    shared,
    sign_in,
    switch,
    tools,
)
from handrail.doors.web.routing import NotSignedIn, NotThere, Pages, Reader, to_sign_in
from handrail.doors.web.watching import Watching
from handrail.identity.errors import TooOften
from handrail.platform import Platform

_log = logging.getLogger("handrail.web")
_UNREAD = (
    "The form did not arrive whole, or it has more fields or larger ones than a form may have. Nothing was "
    "changed. Go back: what you typed is still there."
)
_PAGES: tuple[Pages, ...] = (
    moving.pages,
    sign_in.pages,
    switch.pages,
    home.pages,
    approvals.pages,
    *tools.PAGES,
    *runs.PAGES,
    *settings.PAGES,
    *shared.PAGES,
    embed.pages,
)


class Web:
    """The web app over one platform. It keeps nothing but who listens and which calls it began."""

    def __init__(self, platform: Platform) -> None:
        assets()  # says what is missing before anybody asks for it
        self.platform = platform
        self.live = Live(platform)
        self.accounts = Accounts(platform)
        self.watching = Watching(platform, self.live)
        self.pacing = Pacing()
        self.running = Running()
        """Calls that were begun from a page and go on whether or not it stays open."""
        self.options: Callable[[Principal], OptionSource] = Registered
        """What pickers in forms can look through, for whoever fills one in; they take other text as well."""
        self.now = time.time
        self.routes = [route for one in _PAGES for route in one.mounted(self)]
        self._app: App = Starlette(
            routes=self.routes,
            exception_handlers={
                NotThere: self._nothing,
                NotSignedIn: self._stranger,
                HTTPException: self._nothing,
                HandrailError: self._refused,
                Exception: self._broken,
            },
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].startswith("/static/"):
            await static(scope, receive, send)
            return
        who = scope["state"].get("principal")
        if who is not None:
            scope["state"]["account"] = await self.accounts.of(who)
        await self._app(scope, receive, kept(send))

    async def _nothing(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        if status == 400:
            return await self._says(request, "That could not be read", _UNREAD, status)
        said = "There is nothing at this address, or nothing that you may see."
        return await self._says(request, "Not found", said, status)

    async def _stranger(self, request: Request, error: Exception) -> Response:
        return to_sign_in(request)

    async def _refused(self, request: Request, error: Exception) -> Response:
        """What the rooms below refuse, each in its own words."""
        if isinstance(error, StorageError):
            _log.error("the database failed: %s", error)
            said = "The database cannot be reached or written now. Nothing was lost; try again in a moment."
            return await self._says(request, "Not now", said, 503)
        if isinstance(error, TooOften):
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
        reader = Reader(request, self)
        if reader.by_htmx:
            note = h.p(".toast-note", role="alert")[said]
            return html(note, status, headers={"hx-retarget": "#toasts", "hx-reswap": "beforeend"})
        if request.url.path.startswith(EMBEDS):
            around = await embed.around(reader)
            content = h.section(".message")[h.h1[title], h.p[said]]
            return bare(reader, title, content, status=status, theme="system", ancestors=around)
        return page(reader, title, message(title, said), status=status)


def message(title: str, said: str, step: h.Node = None) -> h.Element:
    """A page that only says something."""
    return h.section(".message")[h.h1[title], h.p[said], step or h.p[h.a(href="/")["Go to the start page"]]]


def build_web(platform: Platform) -> Web:
    """The pages over a platform; they stand behind the entrance, which says who looks."""
    return Web(platform)
