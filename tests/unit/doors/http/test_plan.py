"""/api/plan: what is planned is seen, run and discarded by whoever planned it."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import Policy, tool
from tests.unit.doors.http.rest_app import ApiClient, door, key

PLAN = Policy(plan=True, approval_mode="policy")
pytestmark = pytest.mark.req("EX-20")


@tool("shelf.add", level="write")
async def add(title: str) -> str:
    """Put a book on the shelf."""
    if title == "broken":
        raise RuntimeError("the shelf is broken")
    return title


async def planned(http: ApiClient, *titles: str, who: str = "ana", session: str | None = None) -> list[str]:
    calls = []
    for title in titles:
        body = {"arguments": {"title": title}} | ({"session": session} if session else {})
        answer = await http.post("/api/tools/shelf.add/call", json=body, headers=key(who))
        assert (answer.status_code, answer.json()["code"]) == (202, "PLANNED")
        calls.append(answer.json()["call_id"])
    return calls


async def listed(http: ApiClient, who: str = "ana", **query: Any) -> list[str]:
    answer = await http.get("/api/plan", params=query, headers=key(who))
    assert answer.status_code == 200
    return [one["arguments"]["title"] for one in answer.json()["calls"]]


async def test_a_plan_is_listed_in_order_page_by_page() -> None:
    async with door(add, policy=PLAN) as http:
        calls = await planned(http, "c", "a", "b")
        first = (await http.get("/api/plan", params={"limit": 2})).json()
        assert [one["call_id"] for one in first["calls"]] == calls[:2] and first["next"] == calls[1]
        assert await listed(http, after=first["next"]) == ["b"]
        one = first["calls"][0]
    assert (one["tool"], one["reason"], one["user"], one["source"]) == (
        "shelf.add",
        "plan mode queues it for review",
        "ana",
        "api",
    )


async def test_running_a_plan_tells_what_became_of_each_call() -> None:
    async with door(add, policy=PLAN) as http:
        calls = await planned(http, "a", "broken", "c")
        answer = await http.post("/api/plan/run")
        outcomes = answer.json()["outcomes"]
        assert [(one["call_id"], one["status"]) for one in outcomes] == [
            (calls[0], "completed"),
            (calls[1], "failed"),
            (calls[2], "completed"),
        ]
        assert await listed(http) == []
        assert (await http.post("/api/plan/run")).json() == {"outcomes": []}


async def test_a_plan_may_stop_where_a_call_does_not_succeed() -> None:
    async with door(add, policy=PLAN) as http:
        await planned(http, "a", "broken", "c")
        outcomes = (await http.post("/api/plan/run", params={"stop_on_failure": True})).json()["outcomes"]
        assert [one["status"] for one in outcomes] == ["completed", "failed"]
        assert await listed(http) == ["c"]


async def test_a_session_may_be_run_or_discarded_by_itself() -> None:
    async with door(add, policy=PLAN) as http:
        await planned(http, "a", session="s1")
        await planned(http, "b", session="s2")
        await planned(http, "c", session="s3")
        assert (await http.delete("/api/plan", params={"session": "s1"})).json() == {"discarded": 1}
        assert len((await http.post("/api/plan/run", params={"session": "s2"})).json()["outcomes"]) == 1
        assert await listed(http) == ["c"] == await listed(http, session="s3")


@pytest.mark.fault("F26")
async def test_nobody_reaches_the_plan_of_another() -> None:
    async with door(add, policy=PLAN) as http:
        await planned(http, "a")
        for other in ("bea", "eve", "bot", "service"):
            assert await listed(http, who=other) == []
            assert (await http.delete("/api/plan", headers=key(other))).json() == {"discarded": 0}
        assert (await http.post("/api/plan/run", headers=key("eve"))).json() == {"outcomes": []}
        assert await listed(http) == ["a"]


async def test_what_an_agent_plans_its_person_runs_and_not_the_agent() -> None:
    async with door(add, policy=PLAN) as http:
        await planned(http, "a", who="bot")
        refused = await http.post("/api/plan/run", headers=key("bot"))
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "NOT_PERMITTED")
        assert await listed(http, who="bot") == ["a"] == await listed(http)
        [outcome] = (await http.post("/api/plan/run")).json()["outcomes"]
        assert outcome["status"] == "completed"
