"""Queries: what a Handrail has and what it remembers, for who may see it.

As in `calls` and `background`, modules that only some programs need are imported by the methods that use
them, so that `from handrail import Handrail` stays cheap.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from handrail.core.define.context import Context, TenantScope, current
from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.core.errors import UsageError

if TYPE_CHECKING:
    from handrail.core.define.lookup import ToolDetails, ToolMatch
    from handrail.core.find.registry import Registry
    from handrail.core.find.toolsets import Toolset
    from handrail.core.run.catalogue.search import Search
    from handrail.core.run.catalogue.visible_tools import Catalogue
    from handrail.core.run.jobs.job import Jobs
    from handrail.core.run.jobs.schedules import Scheduler
    from handrail.core.run.runtime import Runtime
    from handrail.core.tell.events import Event
    from handrail.core.tell.log import EventLog, FollowableLog
    from handrail.core.tell.runs import Run, RunStatus
    from handrail.core.tell.usage import CountsByKey, UsageDimension, UsageMeter


class Queries:
    """The half of a Handrail that runs nothing."""

    registry: Registry
    _runtime: Runtime
    _catalogue: Catalogue
    _search: Search
    _jobs: Jobs
    _usage_meter: UsageMeter | None

    @property
    def log(self) -> EventLog:
        return self._runtime.teller.log

    def _principal(self) -> Principal:
        """Who calls when nobody is named: whoever the running call or tenant scope stands for."""
        scope = current()
        if isinstance(scope, Context):
            return scope.principal
        if isinstance(scope, TenantScope):
            return Principal(tenant=scope.tenant_id)
        if self._runtime.nobody is None:
            raise UsageError(
                "With a database every call is made for somebody. Give `principal=Principal(tenant, user)`, "
                "or call inside `with_tool_context`."
            )
        return self._runtime.nobody

    @property
    def schedules(self) -> Scheduler:
        """Calls that are made again and again; they take a database."""
        from handrail.core.run.jobs.schedules import scheduler_of

        return scheduler_of(self._jobs)

    async def tools(
        self,
        principal: Principal | None = None,
        *,
        source: Source = "agent",
        after: str | None = None,
        limit: int | None = None,
        on_demand: bool = False,
    ) -> list[Tool]:
        """What this principal may see, sorted by id: all of it, or the next `limit` tools `after` an id.

        With `on_demand` also what is not loaded: name, description and level, to be shown and not called.
        """
        who = principal or self._principal()
        return await self._catalogue.tools(who, source, after, limit, on_demand)

    @property
    def toolsets(self) -> tuple[Toolset, ...]:
        """The sources of tools that are asked rather than registered."""
        return self._runtime.toolsets

    async def search(
        self, words: str, principal: Principal | None = None, *, limit: int = 10, source: Source = "agent"
    ) -> list[ToolMatch]:
        """The tools that fit the words best, of those this principal may see.

        Words without a letter or a digit find nothing; `tools` lists what there is.
        """
        return await self._search.find(words, principal or self._principal(), source, limit)

    async def describe(
        self, name: str, principal: Principal | None = None, *, source: Source = "agent"
    ) -> ToolDetails:
        """A tool in full, and what a call of it would meet. One that may not be seen raises `ToolError`."""
        return await self._search.describe(name, principal or self._principal(), source)

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
        from handrail.core.run.results import read_page

        return await read_page(self._runtime, handle, principal or self._principal(), offset, limit)

    def last_result(self, tool: str, principal: Principal | None = None) -> Result | None:
        """The newest result that this principal got from a tool, as long as the log keeps it.

        With a database it blocks for a moment.
        """
        from handrail.core.tell.log import FollowableLog
        from handrail.core.tell.projections import last_result

        definition = self.registry.get(tool)
        who = principal or self._principal()
        if definition is not None and self._runtime.guard.see(definition, who).verdict == "deny":
            return None
        name, log = definition.id if definition else tool, self.log
        if isinstance(log, FollowableLog):
            events: Iterable[Event] = log.ends(who, name)
        else:
            events = reversed(tuple(log.read(who.tenant, tool=name)))
        return last_result(event for event in events if who.is_same_caller(event.call.principal))

    async def events(
        self, principal: Principal | None = None, *, session: str | None = None, after: int = 0
    ) -> AsyncGenerator[Event, None]:
        """The events of a session as they come, from the first one after a `seq`; it never ends by itself.

        Without a session, all events of the tenant, after a `position`. Without a principal, a session that
        has begun says whose it is; where two tenants have one of that name, say for whom.
        """
        from handrail.core.tell.log import FollowableLog

        log = self.log
        if not isinstance(log, FollowableLog):
            raise UsageError("This event log cannot be followed.")
        tenant = await self._tenant_of(log, session) if principal is None else principal.tenant
        async with aclosing(log.follow(tenant, session=session, after=after)) as events:
            async for event in events:
                yield event

    async def _tenant_of(self, log: FollowableLog, session: str | None) -> str:
        tenants = [] if session is None or current() is not None else await log.tenants_of(session)
        if len(tenants) > 1:
            raise UsageError(f"Several tenants have a session {session!r}. Say for whom: `principal=`.")
        return tenants[0] if tenants else self._principal().tenant

    async def runs(
        self,
        principal: Principal | None = None,
        *,
        session: str | None = None,
        tool: str | None = None,
        source: Source | None = None,
        status: RunStatus | None = None,
        user: str | None = None,
        agent: str | None = None,
        since: float | None = None,
        until: float | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> list[Run]:
        """The tenant's runs that fit every given filter, the newest first, a page at a time.

        `after` is the `cursor` of the last run of the page before.
        """
        from handrail.core.tell.log import FollowableLog
        from handrail.core.tell.runs import RunFilter

        log = self.log
        if not isinstance(log, FollowableLog):
            raise UsageError("This event log has no list of runs.")
        definition = None if tool is None else self.registry.get(tool)
        which = RunFilter(
            session, definition.id if definition else tool, source, status, user, agent, since, until
        )
        return await log.runs((principal or self._principal()).tenant, which, after=after, limit=limit)

    async def usage(
        self,
        principal: Principal | None = None,
        *,
        since: float | None = None,
        until: float | None = None,
        by: Sequence[UsageDimension] = (),
    ) -> CountsByKey:
        """What the tenant used: counts, latency, cost and tokens, by tool, user, agent, source or day."""
        from handrail.core.tell.usage import Usage

        tenant = (principal or self._principal()).tenant
        if self._usage_meter is not None:
            return await self._usage_meter.read(tenant, since=since, until=until, by=by)
        counted = Usage()
        for event in self.log.read(tenant):
            counted.add(event)
        return counted.of(tenant, since, until).by(*by)

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Hear of every event, durable or not. Call what comes back to stop."""
        return self._runtime.teller.listen(listener)

    def subscribe_registry(self, listener: Callable[[Any], None]) -> Callable[[], None]:
        """Hear `register`, `unregister`, `execute` and `error`. Call what comes back to stop."""
        from handrail.core.tell.projections import to_registry_event

        def hear(event: Event) -> None:
            if (registry_event := to_registry_event(event)) is not None:
                listener(registry_event)

        stops = (self.registry.listeners.add(listener), self.subscribe(hear))

        def stop() -> None:
            for stop_listening in stops:
                stop_listening()

        return stop
