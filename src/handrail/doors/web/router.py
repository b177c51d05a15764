"""How a page is added. A module under `pages/` has a router and decorates its functions:

    router = PageRouter()

    @router.get("/runs/{id}", need="runs.read")
    async def show_run(ctx: PageContext) -> Response:
        ...
        return page(ctx, "Run", ..., active="runs")

    @router.post("/runs/{id}/cancel")
    async def cancel(ctx: PageContext) -> Response: ...

and is named in `app.py`. Whoever is not signed in is sent to sign in; without the permission there is no such
page (404). `open=True` makes a page that needs nobody: then `ctx.somebody` may be None.
A function raises `PageNotFound` where there is nothing, or nothing that this reader may see.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar
from urllib.parse import quote

from starlette.datastructures import FormData, QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.doors.web.accounts import Account, AccountCache
from handrail.doors.web.forms.options import OptionSource
from handrail.doors.web.guest_limits import GuestRateLimits
from handrail.doors.web.live import LiveUpdates, ToolSessionWatcher
from handrail.engine.handrail import Handrail
from handrail.identity.services import Services
from handrail.platform import Platform
from handrail.platform.access import source_of

T = TypeVar("T")
Handler = Callable[["PageContext"], Awaitable[Response]]
OptionSources = Callable[[Principal], OptionSource]
MAX_FORM_FIELDS = 20_000
"""The most fields that one form may post."""


class PageNotFound(Exception):
    """There is no such page, or not for this reader."""


class SignInRequired(Exception):
    """The page is for somebody who is signed in."""


def require(value: T | None) -> T:
    """The value; where there is none, there is no such page."""
    if value is None:
        raise PageNotFound
    return value


@dataclass(frozen=True, slots=True)
class WebState:
    """What all pages of one process share."""

    platform: Platform
    live: LiveUpdates
    watcher: ToolSessionWatcher
    accounts: AccountCache
    rate_limits: GuestRateLimits
    options: OptionSources
    """What pickers in forms can look through, for whoever fills one in; they take other text as well."""


@dataclass(frozen=True)
class PageContext:
    """Whoever looks at a page or posts a form, and what the page works with."""

    request: Request
    web: WebState

    @property
    def platform(self) -> Platform:
        return self.web.platform

    @property
    def hr(self) -> Handrail:
        return self.web.platform.hr

    @property
    def services(self) -> Services:
        """People, keys and their preferences. Without a database there is no such page."""
        return require(self.web.platform.services)

    @property
    def somebody(self) -> Principal | None:
        """Who is signed in, if anybody."""
        principal: Principal | None = self.request.scope["state"].get("principal")
        return principal

    @cached_property
    def who(self) -> Principal:
        """Who is signed in."""
        if self.somebody is None:
            raise SignInRequired
        return self.somebody

    @property
    def account(self) -> Account:
        """How whoever is signed in is called, and where."""
        account: Account = self.request.scope["state"]["account"]
        return account

    @property
    def source(self) -> Source:
        """How the request came: by the web, unless a key asks for a page."""
        return source_of(self.request)

    @property
    def query(self) -> QueryParams:
        return self.request.query_params

    def part(self, name: str) -> str:
        """A part of the path."""
        text: str = self.request.path_params[name]
        return text

    async def form(self) -> FormData:
        """What was posted."""
        return await self.request.form(max_fields=MAX_FORM_FIELDS, max_files=200, max_part_size=10 * 2**20)

    @property
    def by_htmx(self) -> bool:
        """Whether a part of a page is asked for rather than all of it."""
        return self.request.headers.get("hx-request") == "true"

    @property
    def now(self) -> float:
        return self.platform.now()

    @property
    def address(self) -> str:
        """Where the request comes from."""
        client = self.request.client
        return "" if client is None else client.host

    @property
    def origin(self) -> str:
        """Scheme and host of this server, as the browser knows them."""
        return f"{self.request.url.scheme}://{self.request.url.netloc}"

    def may(self, permission: str) -> bool:
        return self.who.holds(permission)

    async def user_names(self, users: Iterable[str | None]) -> dict[str, str]:
        """What people of the reader's tenant are called, by user id."""
        ids = [user for user in users if user is not None]
        return await self.platform.user_names(self.who.tenant, ids)


class PageRouter:
    """The routes of one module."""

    def __init__(self) -> None:
        self.routes: list[tuple[str, str, Handler]] = []

    def get(self, path: str, *, need: str | None = None, open: bool = False) -> Callable[[Handler], Handler]:
        return self._add("GET", path, need, open)

    def post(self, path: str, *, need: str | None = None, open: bool = False) -> Callable[[Handler], Handler]:
        return self._add("POST", path, need, open)

    def _add(self, method: str, path: str, need: str | None, open: bool) -> Callable[[Handler], Handler]:
        def register(handler: Handler) -> Handler:
            async def guarded(ctx: PageContext) -> Response:
                if not open:
                    who = ctx.who
                    if need is not None and not who.holds(need):
                        raise PageNotFound
                return await handler(ctx)

            self.routes.append((method, path, guarded))
            return handler

        return register

    def mounted(self, web: WebState) -> list[Route]:
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
