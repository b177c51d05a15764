"""Handrail: tools, a policy and ports put together; the object that everybody calls."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AsyncExitStack
from types import ModuleType
from typing import Any, Self

from handrail.core.clock import Clock
from handrail.core.define.call import Call, Outcome, make_call
from handrail.core.define.context import Context
from handrail.core.define.decision import Decision
from handrail.core.define.numbers import at_least_one
from handrail.core.define.permission import Source
from handrail.core.define.principal import Principal
from handrail.core.define.result import Result
from handrail.core.define.retry import Retry, retry_of
from handrail.core.define.tool import InitContext, Tool
from handrail.core.define.toolset import Attached, Toolset
from handrail.core.errors import UsageError
from handrail.core.find.discover import discover
from handrail.core.find.meaning import Embedder
from handrail.core.find.registry import Registry
from handrail.core.find.toolsets import brought
from handrail.core.guard.approval import Approver
from handrail.core.guard.book import ApprovalBook
from handrail.core.guard.claims import Claims, MemoryClaims
from handrail.core.guard.decide import SafetyCheck
from handrail.core.guard.dedup import Dedup, Failures, Scope
from handrail.core.guard.guard import Guard
from handrail.core.guard.guards import Guards
from handrail.core.guard.keys import Keys
from handrail.core.guard.plan import Plans
from handrail.core.guard.policy import Policy
from handrail.core.ids import new_id
from handrail.core.run.approvals import Approvals
from handrail.core.run.background import Background
from handrail.core.run.backing import in_memory, open_backing
from handrail.core.run.catalogue import Catalogue
from handrail.core.run.explaining import explain
from handrail.core.run.export import Format, export
from handrail.core.run.grouping import Group, group_tool_calls_into_batches
from handrail.core.run.hooks import Hook, Watchers
from handrail.core.run.hosting import Hosting
from handrail.core.run.house import House, Secrets, Workplace
from handrail.core.run.job_office import JobOffice
from handrail.core.run.later import Later
from handrail.core.run.letter_office import LetterOffice
from handrail.core.run.many import run_many
from handrail.core.run.pipeline import run
from handrail.core.run.refusal import no_log
from handrail.core.run.search import Search
from handrail.core.run.secret_office import SecretOffice, secret_source
from handrail.core.run.streaming import stream
from handrail.core.run.tale import Tale
from handrail.core.tell.events import Event
from handrail.core.tell.letters import DeadLetters
from handrail.core.tell.log import EventLog
from handrail.core.tell.teller import Teller

_log = logging.getLogger("handrail.run")
_THREADS = 64


class Handrail(Background):
    """One set of tools behind one guard."""

    def __init__(
        self,
        tools: Iterable[Any] = (),
        *,
        database: str | None = None,
        worker: bool = True,
        policy: Policy | None = None,
        agents: Mapping[str, Policy] | None = None,
        approver: Approver | None = None,
        registry: Registry | None = None,
        log: EventLog | None = None,
        book: ApprovalBook | None = None,
        claims: Claims | None = None,
        keys: Keys | None = None,
        dead_letters: DeadLetters | None = None,
        plans: Plans | None = None,
        hooks: Iterable[Hook] = (),
        safety: Iterable[SafetyCheck] = (),
        secrets: Mapping[str, str] | Secrets | None = None,
        create_context: Callable[[str, str], Mapping[str, Any]] | None = None,
        on_result: Callable[[Result], None] | None = None,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        repair: bool = True,
        timeout: float | None = None,
        retry: Retry | int | None = None,
        cancel_grace: float = 5.0,
        approval_lifetime: float | None = None,
        working_dir: str | None = None,
        max_parallel: int = 128,
    ) -> None:
        clock = clock or Clock()
        retries = None if retry is None else retry_of(retry)
        self.registry = registry if registry is not None else Registry()
        toolsets = self._take(tools)
        hooks = (*hooks, *(hook for one in toolsets for hook in brought(one, "hooks")))
        safety = (*safety, *(check for one in toolsets for check in brought(one, "safety")))
        self._threads: ThreadPoolExecutor | None = None
        self._max_parallel = at_least_one("max_parallel", max_parallel)
        # After all that can be wrong with what is given: whoever corrects it finds the database free.
        kept = in_memory(clock) if database is None else open_backing(database, clock, worker)
        self._backing, self._tally = kept, kept.tally
        self._house = House(
            registry=self.registry,
            guard=(
                Guard(policy or Policy(), safety)
                if agents is None
                else Guards(policy or Policy(), safety, agents)
            ),
            teller=Teller(log if log is not None else kept.log),
            book=book if book is not None else kept.book,
            claims=claims if claims is not None else MemoryClaims(),
            keys=keys if keys is not None else kept.keys,
            plans=plans if plans is not None else kept.plans,
            host=Hosting(self._nested, lambda: self._house, lambda: self._search),
            place=Workplace(self._pool, cancel_grace),
            clock=clock,
            init=InitContext(working_dir or os.getcwd()),
            toolsets=toolsets,
            approver=approver,
            watchers=Watchers(hooks, safety) if hooks or safety else None,
            secrets=secret_source(secrets) or kept.secrets,
            create_context=create_context,
            repairing=repair,
            timeout=timeout,
            retry=retries,
            approval_lifetime=approval_lifetime,
            nobody=Principal.local() if database is None else None,
            letters=dead_letters if dead_letters is not None else kept.letters,
            standing=kept.standing,
            resolver=None if kept.resolver is None else kept.resolver(self.registry),
        )
        for toolset in toolsets:
            if isinstance(toolset, Attached):
                toolset.attach(self._house.secrets, kept.pins)
        if kept.tally is not None:
            self._house.teller.listen(kept.tally.hear)
        if on_result is not None:
            self._house.on_result.add(on_result)
        self._catalogue = Catalogue(self._house)
        self._search = Search(self._house, self._catalogue, embedder)
        self._house.similar = self._search.similar
        self.dead_letters = LetterOffice(self._house)
        self.secrets = SecretOffice(self._house.secrets)
        self._later = Later(self._house, self.dead_letters, kept.look)
        self._jobs = kept.jobs(self._later.work)
        self.approvals = Approvals(self._house, self._later.resume)
        self.jobs = JobOffice(self._jobs)

    def _take(self, given: Iterable[Any]) -> tuple[Toolset, ...]:
        toolsets: list[Toolset] = []
        for one in given:
            if isinstance(one, ModuleType):
                for tool in discover(one):
                    self.registry.register(tool)
            elif isinstance(one, Toolset) and not isinstance(one, (Tool, type)):
                toolsets.append(one)
            else:
                self.registry.register(one)
        return tuple(toolsets)

    @property
    def offices(self) -> object:
        """What an open database offers to the doors of a platform; None without one."""
        return self._backing.offices

    @property
    def policy(self) -> Policy:
        return self._house.guard.policy

    def call(
        self,
        tool: str,
        args: Mapping[str, Any] | str | None = None,
        *,
        principal: Principal | None = None,
        source: Source = "agent",
        session: str | None = None,
        idempotency_key: str | None = None,
        digest: str | None = None,
        id: str | None = None,
        turn: int | None = None,
        message: str | None = None,
    ) -> Coroutine[Any, Any, Outcome]:
        """Run a tool through the guard. Never raises for a bad call: the outcome says what happened.

        With a database, what an effect left in the log is durable when its outcome is returned.
        """
        call = make_call(
            tool,
            None,
            principal or self._principal(),
            source,
            session,
            id or new_id("call"),
            turn,
            idempotency_key,
            digest,
            message,
        )
        running = run(call, args, self._house)
        if self._backing.settled is None:
            return running
        return self._durably(running if source != "api" else self._answered(call, running))

    async def run(self, call: Call) -> Outcome:
        """Run a prepared `Call`."""
        return await self._durably(run(self._complete(call), call.args, self._house))

    async def _durably(self, running: Awaitable[Outcome]) -> Outcome:
        outcome = await running
        if self._backing.settled is not None and outcome.run_id is not None:
            tool = self.registry.get(outcome.tool)
            if tool is None or not tool.quiet:
                await self._backing.settled()
        return outcome

    async def _answered(self, call: Call, running: Awaitable[Outcome]) -> Outcome:
        """The outcome once the row of its run id is written; a read does not wait for that beforehand."""
        assert call.principal is not None and call.id is not None
        place, answering = (call.principal.tenant, call.id), self._house.answering
        if place in answering:  # the id is in use: whoever has it waits for its row
            return await running
        answering[place] = None
        try:
            outcome = await running
            started = answering[place]
        finally:
            del answering[place]
        if started is None:
            return outcome
        try:
            await self._house.teller.log.flush(started)
        except Exception:
            _log.exception("the event log did not take tool.started, so %s is not answered", call.tool)
            return Outcome("refused", no_log().result, call.id, call.tool)
        return outcome

    async def call_many(
        self, calls: Iterable[Call], *, limit: int | None = None, dedup: Dedup | None = None
    ) -> list[Outcome]:
        """Run the calls of one pass at once, each through the guard; an outcome for each, in their order.

        Calls that touch the same resource run one after the other, in their order, as do those of which
        nobody knows what they touch. One that fails, waits for a person or is cancelled disturbs no other.
        At most `limit` run at a time. With `dedup`, calls that were made before are answered, not run.
        """
        asked = self._asked(calls)
        most = self._max_parallel if limit is None else at_least_one("The limit of a batch", limit)
        memory = None if dedup is None or dedup.scope == "off" else dedup
        outcomes = await run_many(asked, self._house, most, memory)
        if self._backing.settled is not None:
            await self._backing.settled()
        return outcomes

    def dedup(self, scope: Scope = "run", failures: Failures = "marked") -> Dedup:
        """A memory for one agent's run: give it to each `call_many`, and it skips what was called before.

        `run`: the same call runs once. `until_change`: what only reads may be called again after something
        changed. `off`: nothing is skipped. `failures="repeatable"`: a call that failed may be made again.
        """
        return Dedup(scope, failures, self._later.outcomes.when_final)

    async def batches(self, calls: Iterable[Call]) -> list[Group]:
        """The calls of a pass in groups that may overlap, for those who run them in a loop of their own."""
        return await group_tool_calls_into_batches(self._asked(calls), self._house)

    def _asked(self, calls: Iterable[Call]) -> list[tuple[Call, Any]]:
        asked = []
        for call in calls:
            if not isinstance(call, Call):
                raise UsageError(f"Give Call objects, such as Call('tool', {{...}}), not {call!r}.")
            asked.append((self._complete(call), call.args))
        return asked

    def stream(
        self,
        tool: str,
        args: Mapping[str, Any] | str | None = None,
        *,
        principal: Principal | None = None,
        source: Source = "agent",
        session: str | None = None,
        idempotency_key: str | None = None,
        digest: str | None = None,
        id: str | None = None,
        turn: int | None = None,
        message: str | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Run a tool and yield its events as they happen. Leaving the loop cancels the call."""
        call = Call(tool, None, principal, source, session, id, turn, idempotency_key, digest, message)
        return stream(self._complete(call), args, self._house)

    async def explain(
        self,
        tool: str,
        args: Mapping[str, Any] | str | None = None,
        principal: Principal | None = None,
        *,
        source: Source = "agent",
    ) -> Decision:
        """What the guard would say to this call, and every rule it would consult. Nothing runs."""
        call = self._complete(Call(tool, None, principal, source))
        return await explain(call, args, self._house)

    async def export(
        self, how: Format, principal: Principal | None = None, *, source: Source = "agent"
    ) -> Any:
        """The visible tools in a provider's format; see `handrail.core.run.export`."""
        who = principal or self._principal()

        async def execute(tool: Tool, args: Mapping[str, Any]) -> Any:
            outcome = await self.call(tool.id, args, principal=who, source=source)
            answer = outcome.to_legacy_run()
            return {"error": answer["error"]} if answer["error"] else answer["output"]

        return export(await self.tools(who, source=source), how, execute)

    async def _nested(self, ctx: Context, args: Mapping[str, Any] | None, call: Call) -> Outcome:
        house = ctx._state.house if isinstance(ctx._state, Tale) else self._house
        return await run(call, args, house)

    def _pool(self) -> Executor:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="handrail")
        return self._threads

    async def open(self) -> Self:
        """Take up what an earlier process left in the database, and run what is queued there."""
        await self._jobs.start()
        return self

    async def close(self) -> None:
        """Finish what was resumed, end the worker threads, let go of the database."""
        async with AsyncExitStack() as ending:  # from the last to the first, and each though another failed
            ending.callback(self._end_threads)
            ending.push_async_callback(self._backing.close)
            for toolset in self._house.toolsets:
                if isinstance(toolset, Attached):
                    ending.push_async_callback(toolset.close)
            ending.push_async_callback(self._jobs.close)
            await self._later.over()

    def _end_threads(self) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None

    async def __aenter__(self) -> Self:
        try:
            return await self.open()
        except BaseException:
            await self.close()
            raise

    async def __aexit__(self, *_: object) -> None:
        await self.close()
