"""The other two ways to call over REST: as a stream of events, and answered at once to be asked for later."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2

from handrail import Outcome
from tests.parity.cases import Case
from tests.parity.compare import Events, Observation, plain_event
from tests.parity.doors.keys import shown
from tests.parity.doors.rest import Rest
from tests.parity.recorded_handrail import DEADLINE, RECORD


class RestStream(Rest):
    """Calls and listens: the stream tells the record of the call, and its outcome at last.

    Of a call that waits for a person it tells so, and goes on once somebody has decided.
    """

    name = "rest stream"

    async def ask(self, case: Case, told: int) -> Observation:
        calling = asyncio.create_task(self.listen(case, case.args))
        if case.cancel:
            await self.stop(case)
        answer = await calling
        if case.again is not None:
            answer = await self.listen(case, case.again)
        return Observation(self.world.take(), answer, self.who_stops)

    async def listen(self, case: Case, args: Any) -> Any:
        heard: list[tuple[str, Any]] = []
        url, body = f"/api/tools/{case.tool}/stream", self.body(case, args)
        async with self.http.stream("POST", url, json=body, headers=self.headers(case)) as answer:
            if not answer.headers["content-type"].startswith("text/event-stream"):
                await answer.aread()
                return self.answer(answer)
            async with asyncio.timeout(DEADLINE):
                async for kind, data in _told(answer):
                    heard.append((kind, data))
                    if kind == "tool.needs_approval":
                        if case.decide is None:
                            break
                        await self.decide(f"/api/approvals/{data['approval_id']}", case.decide, case.who)
        streamed = [plain_event(data) for kind, data in heard if kind in RECORD]
        last, outcome = heard[-1]
        return {"streamed": streamed, "outcome": outcome if last == "outcome" else None}

    def carries(self, outcome: Outcome, case: Case, events: Events) -> Any:
        if outcome.status == "refused" and case.decide is None:
            return super().carries(outcome, case, events)
        own = [plain_event(one) for one in events if one["call_id"] == outcome.call_id]
        waits = any(one["type"] == "tool.needs_approval" for one in own) and case.decide is None
        return {"streamed": own, "outcome": None if waits else self.whole(outcome)}


class RestAsync(Rest):
    """Calls, is answered at once, and asks for the outcome until there is one."""

    name = "rest async"

    async def call(self, case: Case, args: Any) -> httpx2.Response:
        headers = {**self.headers(case), "Prefer": "respond-async"}
        url = f"/api/tools/{case.tool}/call"
        answer = await self.http.post(url, json=self.body(case, args), headers=headers)
        if answer.status_code != 202 or answer.json()["code"] != "SUBMITTED":
            return answer
        return await self.http.get(answer.json()["url"], params={"wait": 20}, headers=shown(case.who))

    def carries(self, outcome: Outcome, case: Case, events: Events) -> Any:
        answer = super().carries(outcome, case, events)
        return {"status": 200, "body": self.whole(outcome)} if outcome.status == "cancelled" else answer


async def _told(answer: httpx2.Response) -> AsyncIterator[tuple[str, Any]]:
    """The events of a stream: of which type, and what they say."""
    kind = ""
    async for line in answer.aiter_lines():
        name, _, value = line.partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            yield kind, json.loads(value)
