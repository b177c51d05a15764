"""Resumer: calls that run after their caller has left, because a person agreed or a plan is carried out."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import replace

from handrail.core.define.call import BoundCall, Outcome
from handrail.core.define.principal import Principal
from handrail.core.guard.approval_request import Grant
from handrail.core.guard.plans import PlannedCall
from handrail.core.run import refusals
from handrail.core.run.call_state import Resume
from handrail.core.run.jobs.perform import JobContext
from handrail.core.run.outcomes import FindOutcomes, Outcomes
from handrail.core.run.pipeline import run
from handrail.core.run.runtime import Runtime
from handrail.core.tell.log import events_of_call
from handrail.core.tell.projections import outcome_of, without_id_conflicts
from handrail.engine.dead_letters import DeadLetterAdmin


class Resumer:
    """Runs them, and keeps how they ended for who asks afterwards."""

    def __init__(self, runtime: Runtime, letters: DeadLetterAdmin, look: FindOutcomes | None = None) -> None:
        self.outcomes = Outcomes(look=look)
        self._runtime = runtime
        self._letters = letters
        self._tasks: set[asyncio.Task[Outcome]] = set()

    def job_context(self) -> JobContext:
        """What it takes to perform jobs here."""
        outcomes = self.outcomes
        return JobContext(self._runtime, self._letters.ended, outcomes.put, when_final=outcomes.when_final)

    def resume(self, grant: Grant) -> None:
        """Run an answered call, afresh, with the answer."""
        request = grant.request

        async def resumed() -> Outcome:
            resume = Resume(grant, request.secrets)
            outcome = await run(request.call, request.raw, self._runtime, resume)
            await self._letters.ended(request.call, outcome)
            self.outcomes.put(request.principal.tenant, outcome)
            return outcome

        task = asyncio.get_running_loop().create_task(resumed())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def run_plan(
        self, principal: Principal, session: str | None, calls: Collection[str] | None, stop_on_failure: bool
    ) -> list[Outcome]:
        """Run what is queued, in order, each through the full guard; plan mode itself no longer holds it."""
        plans = self._runtime.plans
        runtime = replace(self._runtime, guard=self._runtime.guard.without_plan())
        outcomes: list[Outcome] = []
        for planned in await plans.queued(principal, session, calls):
            taken = await plans.take(planned, session)
            if taken == "busy":
                break
            if taken == "gone":
                continue
            try:
                outcome = await self._recorded_outcome(planned) if planned.doubtful else None
                if outcome is None:
                    call = _bind_planned(planned, principal)
                    outcome = await run(call, planned.raw, runtime, Resume(None, planned.secrets))
                    await self._letters.ended(call, outcome)
                    if outcome.status != "pending":
                        self.outcomes.put(principal.tenant, outcome)
            finally:
                await plans.over(planned)
            outcomes.append(outcome)
            if stop_on_failure and not outcome.ok:
                break
        return outcomes

    async def _recorded_outcome(self, planned: PlannedCall) -> Outcome | None:
        """What is in the log of a call that a process died over; None when it never began."""
        log, call = self._runtime.teller.log, planned.call
        events = without_id_conflicts(await events_of_call(log, call.tenant, call.id))
        if not events:
            return None
        what = f"{planned.tool} began, and whoever ran it was gone before it ended."
        unknown = refusals.unknown_outcome(what)
        return outcome_of(events) or Outcome("needs_review", unknown.result, call.id, planned.tool)

    async def close(self) -> None:
        """Wait for what was resumed."""
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self.outcomes.close()


def _bind_planned(planned: PlannedCall, by: Principal) -> BoundCall:
    """The call as whoever runs the plan may make it now.

    It has a key: who took it and was taken for dead since does not run it too.
    """
    key = planned.call.idempotency_key or f"plan:{planned.call.id}:{planned.at}"
    return replace(planned.call, principal=planned.principal.as_of(by), idempotency_key=key)
