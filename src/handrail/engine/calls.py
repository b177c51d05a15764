"""Calls: the part of a Handrail that runs tools and answers when they are done."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from handrail.core.define.call import BoundCall, Call, Outcome, bind_call
from handrail.core.define.decision import Decision
from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.define.validation import positive_int
from handrail.core.errors import UsageError
from handrail.core.ids import new_id
from handrail.engine.queries import Queries

if TYPE_CHECKING:
    from handrail.core.guard.dedup import Dedup, Failures, Scope
    from handrail.core.run.call_many import CallGroup
    from handrail.core.run.catalogue.export import Format
    from handrail.core.run.runtime import Runtime
    from handrail.core.tell.events import Event
    from handrail.engine.resumer import Resumer


_OPTIONS = attrgetter(
    *("source", "session", "turn", "idempotency_key", "digest", "message", "parent", "depth"),
    *("durable_start", "approval_key"),
)
"""What a bound call has beside its tool, its principal and its id, in order."""


class Calls(Queries):
    """Single calls, the calls of one pass, streams; and what the guard would say to a call."""

    _pipeline: Callable[[BoundCall, Any, Runtime], Coroutine[Any, Any, Outcome]]
    _resumer: Resumer
    _max_parallel: int
    _settled: Callable[[], Awaitable[None]] | None
    """Returns when everything told so far is durable; None without a database."""

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
        durable_start: bool = False,
        approval_key: str | None = None,
    ) -> Coroutine[Any, Any, Outcome]:
        """Run a tool through the guard. Never raises for a bad call: the outcome says what happened.

        With a database, what an effect left in the log is durable when its outcome is returned; with
        `durable_start` also the start of a read, whose run id the answer names. An `approval_key` is an
        idempotency key that counts only if the call has to ask a person.
        """
        call = bind_call(
            tool,
            principal or self._principal(),
            id or new_id("call"),
            source,
            session,
            turn,
            idempotency_key,
            digest,
            message,
            None,
            0,
            durable_start,
            approval_key,
        )
        return self._run_bound(call, args)

    async def run(self, call: Call) -> Outcome:
        """Run a prepared `Call`."""
        return await self._run_bound(self._bind(call), call.args)

    def _run_bound(self, call: BoundCall, args: Any) -> Coroutine[Any, Any, Outcome]:
        running = self._pipeline(call, args, self._runtime)
        return running if self._settled is None else self._durably(running, self._settled)

    async def _durably(self, running: Awaitable[Outcome], settled: Callable[[], Awaitable[None]]) -> Outcome:
        outcome = await running
        if outcome.run_id is not None:
            tool = self.registry.get(outcome.tool)
            if tool is None or not tool.quiet:
                await settled()
        return outcome

    def _bind(self, call: Call) -> BoundCall:
        principal = call.principal or self._principal()
        return bind_call(call.tool, principal, call.id or new_id("call"), *_OPTIONS(call))

    async def call_many(
        self, calls: Iterable[Call], *, limit: int | None = None, dedup: Dedup | None = None
    ) -> list[Outcome]:
        """Run the calls of one pass at once, each through the guard; an outcome for each, in their order.

        Calls that touch the same resource run one after the other, in their order, as do those of which
        nobody knows what they touch. One that fails, waits for a person or is cancelled disturbs no other.
        At most `limit` run at a time. With `dedup`, calls that were made before are answered, not run.
        """
        from handrail.core.run.call_many import run_many

        bound = [(self._bind(call), call.args) for call in _checked(calls)]
        most = self._max_parallel if limit is None else positive_int("The limit of a batch", limit)
        memory = None if dedup is None or dedup.scope == "off" else dedup
        outcomes = await run_many(bound, self._runtime, most, memory)
        if self._settled is not None:
            await self._settled()
        return outcomes

    def dedup(self, scope: Scope = "run", failures: Failures = "marked") -> Dedup:
        """A memory for one agent's run: give it to each `call_many`, and it skips what was called before.

        `run`: the same call runs once. `until_change`: what only reads may be called again after something
        changed. `off`: nothing is skipped. `failures="repeatable"`: a call that failed may be made again.
        """
        from handrail.core.guard.dedup import Dedup

        return Dedup(scope, failures, self._resumer.outcomes.when_final)

    async def batches(self, calls: Iterable[Call]) -> list[CallGroup]:
        """The calls of a pass in groups that may overlap, for those who run them in a loop of their own."""
        from handrail.core.run.call_many import group_tool_calls_into_batches

        bound = [(call, self._bind(call)) for call in _checked(calls)]
        return await group_tool_calls_into_batches(bound, self._runtime)

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
        durable_start: bool = False,
    ) -> AsyncGenerator[Event, None]:
        """Run a tool and yield its events as they happen. Leaving the loop cancels the call."""
        from handrail.core.run.explain import stream

        call = Call(
            tool,
            None,
            principal,
            source,
            session,
            id,
            turn,
            idempotency_key,
            digest,
            message,
            durable_start=durable_start,
        )
        return stream(self._bind(call), args, self._runtime)

    async def explain(
        self,
        tool: str,
        args: Mapping[str, Any] | str | None = None,
        principal: Principal | None = None,
        *,
        source: Source = "agent",
    ) -> Decision:
        """What the guard would say to this call, and every rule it would consult. Nothing runs."""
        from handrail.core.run.explain import explain

        return await explain(self._bind(Call(tool, None, principal, source)), args, self._runtime)

    async def export(
        self, how: Format, principal: Principal | None = None, *, source: Source = "agent"
    ) -> Any:
        """The visible tools in a provider's format; see `handrail.core.run.catalogue.export`."""
        from handrail.core.run.catalogue.export import export

        who = principal or self._principal()

        async def execute(tool: Tool, args: Mapping[str, Any]) -> Any:
            outcome = await self.call(tool.id, args, principal=who, source=source)
            answer = outcome.to_legacy_run()
            return {"error": answer["error"]} if answer["error"] else answer["output"]

        return export(await self.tools(who, source=source), how, execute)


def _checked(calls: Iterable[Call]) -> Iterable[Call]:
    for call in calls:
        if not isinstance(call, Call):
            raise UsageError(f"Give Call objects, such as Call('tool', {{...}}), not {call!r}.")
        yield call
