"""REST: a real server on loopback; the calls are made with a key, the decisions with a reviewer's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from handrail import Outcome
from handrail.core.define.levels import Source
from handrail.doors.http.api import build_api
from handrail.platform import Platform
from handrail.platform.middleware import RequestLimits, SecurityMiddleware
from tests.harness.asgi_server import serve_app
from tests.parity.cases import Case, Decide
from tests.parity.compare import Events, Observation, as_json
from tests.parity.doors.keys import REVIEWS, platform_before, shown
from tests.parity.recorded_handrail import RecordedHandrail

_STATUS = {"completed": 200, "failed": 200, "duplicate": 200, "pending": 202, "queued": 202, "cancelled": 499}
_REFUSED = {
    "TOOL_NOT_FOUND": 404,
    "NOT_PERMITTED": 403,
    "MISSING_PARAM": 422,
    "INVALID_PARAM": 422,
    "STALE_TOOL": 409,
    "KEY_REUSED": 409,
    "REJECTED": 200,
}
"""The table of outcomes."""


class Rest:
    """Calls as a program does that has a key."""

    name = "rest"
    who_stops = "ana cancelled it"

    def __init__(self, world: RecordedHandrail, http: httpx2.AsyncClient, source: Source) -> None:
        self.source = source
        self.world = world
        self.http = http

    @staticmethod
    def spelled(tool: str) -> str:
        return tool

    @staticmethod
    def keyed(key: str) -> str:
        return key

    async def ask(self, case: Case, told: int) -> Observation:
        key = shown(case.who)
        calling = asyncio.create_task(self.call(case, case.args))
        if case.cancel:
            await self.stop(case)
        answer = await calling
        if case.again is not None:
            answer = await self.call(case, case.again)
        if case.decide is not None:
            waits = answer.json()
            await self.decide(waits["approval"]["url"], case.decide, case.who)
            answer = await self.http.get(waits["url"], params={"wait": 20}, headers=key)
        return Observation(self.world.take(), self.answer(answer), self.who_stops)

    async def stop(self, case: Case) -> None:
        """Cancel the call that runs."""
        call_id = await self.world.until_started()
        stopped = await self.http.post(f"/api/calls/{call_id}/cancel", headers=shown(case.who))
        assert stopped.json() == {"call_id": call_id, "stopped": True}

    async def call(self, case: Case, args: Any) -> httpx2.Response:
        url = f"/api/tools/{case.tool}/call"
        return await self.http.post(url, json=self.body(case, args), headers=self.headers(case))

    def body(self, case: Case, args: Any) -> dict[str, Any]:
        return {"arguments": args, **({} if case.digest is None else {"digest": case.digest})}

    def headers(self, case: Case) -> dict[str, str]:
        return {**shown(case.who), **({} if case.key is None else {"Idempotency-Key": case.key})}

    def answer(self, response: httpx2.Response) -> Any:
        return {"status": response.status_code, "body": response.json()}

    async def decide(self, url: str, decision: Decide, caller: str) -> None:
        how = "approve" if decision.how == "edit" else decision.how
        what = {"approve": "arguments", "reject": "reason", "respond": "data"}[how]
        body = {} if decision.what is None else {what: decision.what}
        shows = REVIEWS if decision.by == "reviewer" else shown(caller)
        answer = await self.http.post(f"{url}/{how}", json=body, headers=shows)
        assert answer.status_code == 200, answer.text

    def carries(self, outcome: Outcome, case: Case, events: Events) -> Any:
        result = outcome.result
        status = _STATUS.get(outcome.status) or _REFUSED[outcome.code or ""]
        if status >= 400:
            told: dict[str, Any] = {"code": outcome.code, "message": result.error}
            if fields := result.metadata.get("fields"):
                told["fields"] = fields
            if outcome.code == "STALE_TOOL":
                told["hint"] = f"Its digest is now {result.metadata['digest']}."
            return {"status": status, "body": as_json({"error": told})}
        return {"status": status, "body": self.whole(outcome)}

    def whole(self, outcome: Outcome) -> Any:
        """An outcome as REST tells it."""
        body = {
            "status": outcome.status,
            "success": outcome.ok,
            "code": outcome.code,
            "tool": outcome.tool,
            "call_id": outcome.call_id,
            "run_id": outcome.run_id,
            "repairs": [
                {"path": one.path, "kind": one.kind, "before": one.before, "after": one.after}
                for one in outcome.repairs
            ],
            "result": outcome.result.to_dict(),
            "url": f"/api/calls/{outcome.result.metadata.get('duplicate_of', outcome.call_id)}",
        }
        if outcome.approval_id is not None:
            url = f"/api/approvals/{outcome.approval_id}"
            body["approval"] = {"id": outcome.approval_id, "url": url}
        return as_json(body)


@asynccontextmanager
async def rest(
    world: RecordedHandrail,
    source: Source = "api",
    way: type[Rest] | None = None,
    platform: Platform | None = None,
) -> AsyncIterator[Rest]:
    """The door, open on a free port. By `web` come people who are signed in."""
    platform = platform or platform_before(world.hr)
    app = SecurityMiddleware(build_api(platform), platform, RequestLimits(rate=None))
    async with serve_app(app) as address, httpx2.AsyncClient(base_url=address, timeout=30) as http:
        yield (way or Rest)(world, http, source)
        platform.closing.set()
