"""Looking: what one Handrail has and what it remembers, for whoever may see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from handrail.core.define.context import Context, TenantScope, current
from handrail.core.define.found import Found
from handrail.core.define.permission import Source
from handrail.core.define.principal import Principal
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.core.errors import UsageError
from handrail.core.find.registry import Registry
from handrail.core.run.catalogue import Catalogue
from handrail.core.run.house import House
from handrail.core.run.pages import read_page
from handrail.core.run.search import Search
from handrail.core.tell.events import Event
from handrail.core.tell.log import EventLog
from handrail.core.tell.project import last_result, to_registry_event


class Looking:
    """The half of a Handrail that runs nothing."""

    registry: Registry
    _house: House
    _catalogue: Catalogue
    _search: Search

    @property
    def log(self) -> EventLog:
        return self._house.teller.log

    def _principal(self) -> Principal:
        """Who calls when nobody is named: whoever the running call or tenant scope stands for."""
        here = current()
        if isinstance(here, Context):
            return here.principal
        if isinstance(here, TenantScope):
            return Principal(tenant=here.tenant_id)
        if self._house.nobody is None:
            raise UsageError(
                "With a database every call is made for somebody. Give `principal=Principal(tenant, user)`, "
                "or call inside `with_tool_context`."
            )
        return self._house.nobody

    async def tools(
        self,
        principal: Principal | None = None,
        *,
        source: Source = "agent",
        after: str | None = None,
        limit: int | None = None,
    ) -> list[Tool]:
        """What this principal may see, sorted by id: all of it, or the next `limit` tools `after` an id."""
        return await self._catalogue.tools(principal or self._principal(), source, after, limit)

    async def search(
        self, words: str, principal: Principal | None = None, *, limit: int = 10, source: Source = "agent"
    ) -> list[Found]:
        """The tools that fit the words best, of those this principal may see.

        Words without a letter or a digit find nothing; `tools` lists what there is.
        """
        return await self._search.find(words, principal or self._principal(), source, limit)

    async def menu(
        self,
        principal: Principal | None = None,
        *,
        loaded: Iterable[str | Tool] = (),
        max_tokens: int = 500,
        source: Source = "agent",
    ) -> str:
        """The visible tools that are not loaded, by category, for a prompt; as many as there is room for."""
        return await self._catalogue.menu(principal or self._principal(), source, loaded, max_tokens)

    async def read_result(
        self, handle: str, principal: Principal | None = None, offset: int = 0, limit: int | None = None
    ) -> str:
        """A page of an earlier result, for the principal whose call it was, while it may see the tool."""
        return await read_page(self._house, handle, principal or self._principal(), offset, limit)

    def last_result(self, tool: str, principal: Principal | None = None) -> Result | None:
        """The newest result that this principal got from a tool, as long as the log keeps it."""
        known = self.registry.get(tool)
        who = principal or self._principal()
        if known is not None and self._house.guard.see(known, who).verdict == "deny":
            return None
        events = self.log.read(who.tenant, tool=known.id if known else tool)
        return last_result(event for event in events if event.call.principal == who)

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Hear of every event, durable or not. Call what comes back to stop."""
        return self._house.teller.listen(listener)

    def subscribe_registry(self, listener: Callable[[Any], None]) -> Callable[[], None]:
        """Hear `register`, `unregister`, `execute` and `error`. Call what comes back to stop."""

        def hear(event: Event) -> None:
            if (told := to_registry_event(event)) is not None:
                listener(told)

        stops = (self.registry.listeners.add(listener), self.subscribe(hear))

        def stop() -> None:
            for one in stops:
                one()

        return stop
