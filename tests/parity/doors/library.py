"""The library: the reference for every door. The same call, made directly, with the door's source."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from handrail import Outcome
from handrail.core.define.levels import Source
from tests.parity.cases import Case
from tests.parity.people import PEOPLE
from tests.parity.recorded_handrail import RecordedHandrail, decide


class Library:
    """Calls as a program does that has no door in between."""

    def __init__(
        self,
        world: RecordedHandrail,
        source: Source,
        spelled: Callable[[str], str],
        keyed: Callable[[str], str],
    ) -> None:
        """`spelled` and `keyed` are how the door to compare with names tools and keys."""
        self._world = world
        self._keyed = keyed
        self._source: Source = source
        self._spelled = spelled

    async def ask(self, case: Case) -> tuple[Outcome, list[dict[str, Any]]]:
        hr = self._world.hr
        calling = asyncio.create_task(self._call(case, case.args))
        if case.cancel:
            await hr.cancel(await self._world.until_started(), principal=PEOPLE[case.who])
        outcome = await calling
        if case.again is not None:
            outcome = await self._call(case, case.again)
        if case.decide is not None:
            assert outcome.approval_id is not None
            await decide(hr, outcome.approval_id, case.decide, PEOPLE[case.who])
            outcome = await hr.wait(outcome.call_id, 20, principal=PEOPLE[case.who])
        return outcome, self._world.take()

    async def lists(self, case: Case) -> bool:
        """Whether the caller sees the tool in a list."""
        seen = await self._world.hr.tools(PEOPLE[case.who], source=self._source)
        return any(case.tool == tool.id for tool in seen)

    async def _call(self, case: Case, args: Any) -> Outcome:
        return await self._world.hr.call(
            self._spelled(case.tool),
            args,
            principal=PEOPLE[case.who],
            source=self._source,
            idempotency_key=None if case.key is None else self._keyed(case.key),
            digest=case.digest,
        )
