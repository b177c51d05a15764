"""Later: calls that run after their caller has left, because a person agreed or a plan is carried out."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from handrail.core.define.call import Outcome
from handrail.core.define.principal import Principal
from handrail.core.run.approve import Grant
from handrail.core.run.brought import Brought
from handrail.core.run.house import House
from handrail.core.run.letter_office import LetterOffice
from handrail.core.run.outcomes import Look, Outcomes
from handrail.core.run.perform import Work
from handrail.core.run.pipeline import run


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

    async def run_plan(self, principal: Principal, session: str | None) -> list[Outcome]:
        """Run what is queued, in order, each through the full guard; plan mode itself no longer holds it."""
        plan = self._house.plan
        house = replace(self._house, guard=self._house.guard.without_plan())
        outcomes: list[Outcome] = []
        for one in plan.queued(principal, session):
            if not plan.remove(one):
                continue
            outcome = await run(one.call, one.raw, house, Brought(None, one.secrets))
            await self._letters.ended(one.call, outcome)
            if outcome.status != "pending":
                self.outcomes.put(principal.tenant, outcome)
            outcomes.append(outcome)
        return outcomes

    async def over(self) -> None:
        """Wait for what was resumed."""
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self.outcomes.close()
