"""Routing: how a page is added. A file under `pages/` has `pages = Pages()` and decorates its functions:

    pages = Pages()

    @pages.get("/runs/{id}", need="runs.read")
    async def show_run(reader: Reader) -> Response:
        ...
        return page(reader, "Run", ..., active="runs")

    @pages.post("/runs/{id}/cancel")
    async def cancel(reader: Reader) -> Response: ...

and is named in `app.py`. Whoever is not signed in is sent to sign in; without the permission there is no such
page (404). `open=True` makes a page that needs nobody: then `reader.somebody` may be None.
A function raises `NotThere` where there is nothing, or nothing that this reader may see.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.datastructures import FormData, QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.engine.handrail import Handrail
from handrail.identity.services import Services
from handrail.platform import Platform
from handrail.platform.access import source_of

if TYPE_CHECKING:
    from handrail.doors.web.app import WebApp

Handler = Callable[["PageContext"], Awaitable[Response]]
MAX_FORM_FIELDS = 20_000
"""The most fields that one form may post."""


class PageNotFound(Exception):
    """There is no such page, or not for this reader."""


class SignInRequired(Exception):
    """The page is for somebody who is signed in."""


@dataclass(frozen=True)
class PageContext:
    """Whoever looks at a page or posts a form, and what the page works with."""

    request: Request
    web: WebApp

    @property
    def platform(self) -> Platform:
        return self.web.platform

    @property
    def hr(self) -> Handrail:
        return self.web.platform.hr

    @property
    def services(self) -> Services:
        """People, keys and what they keep. Without a database there is no such page."""
        found = self.web.platform.services
        if found is None:
            raise PageNotFound
        return found

    @property
    def somebody(self) -> Principal | None:
        """Who is signed in, if anybody."""
        found: Principal | None = self.request.scope["state"].get("principal")
        return found

    @cached_property
    def who(self) -> Principal:
        """Who is signed in."""
        found = self.somebody
        if found is None:
            raise SignInRequired
        return found

    @property
    def source(self) -> Source:
        """How the request came: by the web, unless a key asks for a page."""
        return source_of(self.request)

    @property
    def query(self) -> QueryParams:
        return self.request.query_params

    def part(self, name: str) -> str:
        """A part of the path."""
        found: str = self.request.path_params[name]
        return found

    async def form(self) -> FormData:
        """What was posted."""
        return await self.request.form(max_fields=MAX_FORM_FIELDS, max_files=200, max_part_size=10 * 2**20)

    @property
    def by_htmx(self) -> bool:
        """Whether a part of a page is wanted rather than a whole one."""
        return self.request.headers.get("hx-request") == "true"

    @property
    def now(self) -> float:
        return self.platform.now()

    @property
    def address(self) -> str:
        """Where the request comes from."""
        client = self.request.client
        return "" if client is None else client.host

    def may(self, permission: str) -> bool:
        return self.who.holds(permission)


class PageRouter:
    """The routes of one file."""

    def __init__(self) -> None:
        self.routes: list[tuple[str, str, Handler]] = []

    def get(self, path: str, *, need: str | None = None, open: bool = False) -> Callable[[Handler], Handler]:
        return self._add("GET", path, need, open)

    def post(self, path: str, *, need: str | None = None, open: bool = False) -> Callable[[Handler], Handler]:
        return self._add("POST", path, need, open)

    def _add(self, method: str, path: str, need: str | None, open: bool) -> Callable[[Handler], Handler]:
        def keep(handler: Handler) -> Handler:
            async def guarded(ctx: PageContext) -> Response:
                if not open:
                    who = ctx.who
                    if need is not None and not who.holds(need):
                        raise PageNotFound
                return await handler(ctx)

            self.routes.append((method, path, guarded))
            return handler

        return keep

    def mounted(self, web: WebApp) -> list[Route]:
        """Routes as Starlette takes them."""

        def endpoint(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
            async def answer(request: Request) -> Response:
                return await handler(PageContext(request, web))

            return answer

        return [Route(path, endpoint(handler), methods=[method]) for method, path, handler in self.routes]


def redirect(path: str, status: int = 303) -> Response:
    """On to another page of ours, after something was done."""
    return RedirectResponse(path, status)


def redirect_to_sign_in(request: Request) -> Response:
    """Sign in first, and come back."""
    url = request.url
    back = url.path + (f"?{url.query}" if url.query else "")
    goal = "/sign-in" if request.method != "GET" or back == "/" else f"/sign-in?next={quote(back, safe='')}"
    if request.headers.get("hx-request") == "true":
        return Response(status_code=200, headers={"hx-redirect": goal})
    return redirect(goal)
