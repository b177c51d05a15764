"""Background: calls that run without their caller, waited for, cancelled and planned."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from handrail.core.define.call import Call, Outcome
from handrail.core.define.context import current
from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.core.errors import UsageError
from handrail.engine.calls import Calls

if TYPE_CHECKING:
    from handrail.core.guard.plans import PlannedCall
    from handrail.core.run.approvals.inbox import Approvals
    from handrail.core.run.jobs.graph import Task
    from handrail.core.run.undo import Undo


class BackgroundCalls(Calls):
    """The part of a Handrail for those who do not stay until a call is over."""

    approvals: Approvals

    async def submit(
        self,
        tool: str,
        args: Mapping[str, Any] | str | None = None,
        *,
        principal: Principal | None = None,
        source: Source = "agent",
        session: str | None = None,
        idempotency_key: str | None = None,
        digest: str | None = None,
        delay: float | None = None,
    ) -> Outcome:
        """Run a tool in the background: returns at once, with the `call_id` to `wait` for.

        What the guard refuses, or asks a person for, is answered as by `call`. With a database, whoever works
        on it runs the call, also after a restart; without one it runs in this process, or not at all.
        """
        from handrail.core.run.jobs.submit import submit

        call = Call(tool, None, principal, source, session, None, None, idempotency_key, digest)
        return await submit(self._bind(call), args, self._runtime, self._jobs, delay=delay)

    async def submit_all(
        self,
        tasks: Iterable[Task],
        *,
        principal: Principal | None = None,
        source: Source = "agent",
        session: str | None = None,
    ) -> dict[str, Outcome]:
        """Run calls in the background, some after others; what each became, by name.

        All are kept, or none: then `GraphError` says why. What comes after a failure is skipped.
        """
        from handrail.core.run.jobs.submit import submit_all

        model = self._bind(Call("", None, principal, source, session))
        return await submit_all(tasks, model, self._runtime, self._jobs)

    async def cancel(
        self, call_id: str, reason: str = "a user cancelled it", *, principal: Principal | None = None
    ) -> bool:
        """Stop a call: one that runs here, waits for a person, is queued, or runs for another process.

        True when it has stopped, False when there is none or it goes on. Whose it is, `principal` says; it
        may be left out where one tenant alone has a call of this id.
        """
        tenant = await self._whose(call_id, principal)
        return tenant is not None and await self._cancel(call_id, tenant, reason)

    async def _cancel(self, call_id: str, tenant: str, reason: str) -> bool:
        import asyncio

        running = self._runtime.running.get((tenant, call_id))
        if running is None:
            waited = await self.approvals.withdraw(call_id, tenant, reason)
            stopped = await self._jobs.cancel(call_id, tenant, reason)
            if waited and not stopped:
                await self._resumer.outcomes.wait(call_id, self._runtime.execution.grace, tenant)
            return waited or stopped
        loop = asyncio.get_running_loop()
        if running.loop is not loop:
            cancelling = asyncio.run_coroutine_threadsafe(self._cancel(call_id, tenant, reason), running.loop)
            return await asyncio.wrap_future(cancelling)
        running.interrupt("cancelled", reason)
        return await running.over(self._runtime.execution.grace * 2)

    async def wait(
        self, call_id: str, timeout: float | None = None, *, principal: Principal | None = None
    ) -> Outcome:
        """The outcome of a call that waited for approval or was submitted, once it is final.

        Whose call it is, `principal` says; it may be left out where one tenant alone has one of this id.
        """
        tenant = await self._whose(call_id, principal)
        return await self._resumer.outcomes.wait(call_id, timeout, tenant)

    async def _whose(self, call_id: str, principal: Principal | None) -> str | None:
        """The tenant whose call is meant; None when nobody has one of this id yet."""
        if principal is not None:
            return principal.tenant
        if current() is not None:
            return self._principal().tenant
        tenants = {*self._resumer.outcomes.tenants_of(call_id), *await self._jobs.whose(call_id)}
        tenants.update(tenant for _, tenant in await self._runtime.approvals.open_of(call_id))
        tenants.update(tenant for tenant, running in list(self._runtime.running) if running == call_id)
        if len(tenants) > 1:
            raise UsageError(f"Several tenants have a call {call_id!r}. Say for whom: `principal=`.")
        return next(iter(tenants), None)

    async def undo(
        self,
        call_id: str,
        *,
        principal: Principal | None = None,
        source: Source = "agent",
        preview: bool = False,
    ) -> Undo:
        """Take the effect of a completed call back, by the call that its tool names for that.

        That one goes through the whole guard, once; it can be undone itself if its tool says how. With
        `preview` nothing runs. A `ToolError` says why a call cannot be undone.
        """
        from handrail.core.run.undo import alone, already_undone, prepare

        who = principal or self._principal()
        if preview:
            return (await prepare(call_id, who, source, self._runtime))[1]
        async with alone(call_id, who, self._runtime):
            call, undo = await prepare(call_id, who, source, self._runtime)
            outcome = await self._run_bound(call, undo.args)
        if outcome.status == "duplicate":
            raise already_undone(outcome.result.metadata.get("duplicate_of", outcome.call_id))
        return replace(undo, outcome=outcome)

    async def planned(
        self, principal: Principal | None = None, session: str | None = None
    ) -> list[PlannedCall]:
        """What plan mode has queued for this principal, in order."""
        return await self._runtime.plans.queued(principal or self._principal(), session)

    async def run_plan(
        self,
        principal: Principal | None = None,
        session: str | None = None,
        *,
        calls: Collection[str] | None = None,
        stop_on_failure: bool = False,
    ) -> list[Outcome]:
        """Run what is queued, in order, each through the full guard; plan mode itself no longer holds it.

        Each call is taken by one process only. With `calls`, only those of these ids. One that does not
        succeed keeps the others from nothing, unless it is to stop there: what follows then stays queued.
        """
        who = principal or self._principal()
        return await self._resumer.run_plan(who, session, calls, stop_on_failure)

    async def discard_plan(self, principal: Principal | None = None, session: str | None = None) -> int:
        """Forget what is queued; how many calls that were."""
        return await self._runtime.plans.discard(principal or self._principal(), session)
