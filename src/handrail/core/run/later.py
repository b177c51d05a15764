"""Later: calls that run after their caller has left, because a person agreed or a plan is carried out."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import replace

from handrail.core.define.call import Call, Outcome
from handrail.core.define.principal import Principal
from handrail.core.guard.plan import Planned
from handrail.core.run import refusal
from handrail.core.run.approve import Grant
from handrail.core.run.brought import Brought
from handrail.core.run.house import House
from handrail.core.run.letter_office import LetterOffice
from handrail.core.run.outcomes import Look, Outcomes
from handrail.core.run.perform import Work
from handrail.core.run.pipeline import run
from handrail.core.tell.outcome import of_the_call, outcome_of


class Later:
    """Runs them, and tells how they ended to whoever asks for it afterwards."""

    def __init__(self, house: House, letters: LetterOffice, look: Look | None = None) -> None:
        self.outcomes = Outcomes(look=look)
        self._house = house
        self._letters = letters
        self._tasks: set[asyncio.Task[Outcome]] = set()

    def work(self) -> Work:
        """What it takes to perform jobs here."""
        outcomes = self.outcomes
        return Work(self._house, self._letters, outcomes.put, when_final=outcomes.when_final)

    def resume(self, grant: Grant) -> None:
        """Run an answered call, afresh, with the answer."""
        request = grant.request

        async def resumed() -> Outcome:
            brought = Brought(grant, request.secrets)
            outcome = await run(request.call, request.raw, self._house, brought)
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
        plans = self._house.plans
        house = replace(self._house, guard=self._house.guard.without_plan())
        outcomes: list[Outcome] = []
        for one in await plans.queued(principal, session, calls):
            taken = await plans.take(one, session)
            if taken == "busy":
                break
            if taken == "gone":
                continue
            try:
                outcome = await self._as_told(one) if one.doubtful else None
                if outcome is None:
                    call = _keyed(one, principal)
                    outcome = await run(call, one.raw, house, Brought(None, one.secrets))
                    await self._letters.ended(call, outcome)
                    if outcome.status != "pending":
                        self.outcomes.put(principal.tenant, outcome)
            finally:
                await plans.over(one)
            outcomes.append(outcome)
            if stop_on_failure and not outcome.ok:
                break
        return outcomes

    async def _as_told(self, planned: Planned) -> Outcome | None:
        """What is in the log of a call that a process died over; None when it never began."""
        log, tenant, call = self._house.teller.log, planned.principal.tenant, planned.call
        told = await asyncio.to_thread(lambda: list(log.read(tenant, call_id=call.id)))
        events = of_the_call(told)
        if not events:
            return None
        unknown = refusal.unknown_outcome(
            f"{planned.tool} began, and whoever ran it was gone before it ended."
        )
        return outcome_of(events) or Outcome("needs_review", unknown.result, call.id or "", planned.tool)

    async def over(self) -> None:
        """Wait for what was resumed."""
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self.outcomes.close()


def _keyed(planned: Planned, by: Principal) -> Call:
    """The call as whoever runs the plan may make it now.

    It has a key: who took it and was taken for dead since does not run it too.
    """
    key = planned.call.idempotency_key or f"plan:{planned.call.id}:{planned.at}"
    return replace(planned.call, principal=planned.principal.as_of(by), idempotency_key=key)
