"""Runs, events, sessions, dead letters and usage: what happened, for whoever may know."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.doors.http.rest_app import ApiClient, door, key


async def call(http: ApiClient, name: str, who: str = "ana", **body: Any) -> dict[str, Any]:
    told: dict[str, Any] = (await http.post(f"/api/tools/{name}/call", json=body, headers=key(who))).json()
    return told


async def pages(http: ApiClient, path: str, what: str, **query: Any) -> list[dict[str, Any]]:
    """All pages of a list."""
    found: list[dict[str, Any]] = []
    after: Any = None
    while True:
        params = {**query, **({} if after is None else {"after": after})}
        page = (await http.get(path, params=params)).json()
        assert len(page[what]) <= query.get("limit", 200)
        found += page[what]
        after = page["next"]
        if after is None:
            return found


@pytest.mark.req("RA-11")
@pytest.mark.parametrize("limit", [1, 2, 3, 200])
async def test_runs_are_listed_newest_first_page_by_page(limit: int) -> None:
    async with door() as http:
        made = [(await call(http, "sum.add", arguments={"a": n}))["run_id"] for n in range(4)]
        await call(http, "sum.add", arguments={})
        found = await pages(http, "/api/runs", "runs", limit=limit)
    assert [run["id"] for run in found] == made[::-1]


@pytest.mark.req("RA-11")
async def test_runs_fit_every_filter() -> None:
    async with door() as http:
        await call(http, "sum.add", arguments={"a": 1}, session="desk")
        await call(http, "sum.add", "bea", arguments={"a": 1})
        await call(http, "sum.add", "bot", arguments={"a": 1})
        await call(http, "sum.fail")
        began = (await http.get("/api/runs")).json()["runs"][0]["began_at"]

        async def number(**query: Any) -> int:
            return len((await http.get("/api/runs", params=query)).json()["runs"])

        assert await number() == 4
        assert await number(session="desk") == 1
        assert await number(tool="plus") == 3
        assert await number(source="api") == 4 and await number(source="web") == 0
        assert await number(status="failed") == 1
        assert await number(user="bea") == 1
        assert await number(agent="bot") == 1
        assert await number(since=began) == 1 and await number(until=began) == 3


@pytest.mark.req("RA-11", "RA-12")
async def test_a_run_shows_its_content_to_whoever_may_read_that() -> None:
    async with door() as http:
        told = await call(http, "sum.add", arguments={"a": 1})
        url = f"/api/runs/{told['run_id']}"
        whole = (await http.get(url)).json()
        foreign = await http.get(url, headers=key("eve"))
        unknown = await http.get("/api/runs/run_x", headers=key("eve"))
        refused = await http.get(url, headers=key("bea"))
    assert (whole["input"], whole["result"]["data"], whole["status"]) == ({"a": 1}, 2, "completed")
    assert foreign.status_code == 404 and foreign.content == unknown.content
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "NOT_PERMITTED")
    assert "runs.read" in refused.json()["error"]["message"]


@pytest.mark.req("RA-11")
@pytest.mark.parametrize("limit", [1, 3, 500])
async def test_events_are_listed_oldest_first_page_by_page(limit: int) -> None:
    async with door() as http:
        for number in range(3):
            await call(http, "sum.add", arguments={"a": number}, session="desk" if number else "hall")
        await call(http, "sum.add", "eve", arguments={"a": 9})
        found = await pages(http, "/api/events", "events", limit=limit)
        desk = await pages(http, "/api/sessions/desk/events", "events", limit=limit)
        same = await pages(http, "/api/events", "events", limit=limit, session="desk")
        started = await pages(http, "/api/events", "events", limit=limit, status="started", tool="plus")
    assert [one["position"] for one in found] == sorted(one["position"] for one in found) and len(found) == 6
    assert {one["tenant"] for one in found} == {"acme"}
    assert [one["seq"] for one in desk] == [1, 2, 3, 4] and same == desk
    assert [one["type"] for one in started] == ["tool.started"] * 3


@pytest.mark.req("RA-11")
async def test_sessions_are_listed_by_id() -> None:
    async with door() as http:
        for session in ("b", "a", "c"):
            await call(http, "sum.add", arguments={"a": 1}, session=session)
        found = await pages(http, "/api/sessions", "sessions", limit=2)
        foreign = await http.get("/api/sessions/a/events", headers=key("eve"))
        unknown = await http.get("/api/sessions/x/events", headers=key("eve"))
    assert [(one["id"], one["last_seq"]) for one in found] == [("a", 2), ("b", 2), ("c", 2)]
    assert foreign.status_code == 404 and foreign.content == unknown.content


@pytest.mark.req("RA-11", "RT-06")
async def test_dead_letters_are_listed_read_replayed_and_purged() -> None:
    async with door() as http:
        for _ in range(3):
            await call(http, "sum.fail")
        found = await pages(http, "/api/dead-letters", "dead_letters", limit=2)
        assert [one["code"] for one in found] == ["BROKEN"] * 3
        assert [one["at"] for one in found] == sorted((one["at"] for one in found), reverse=True)
        url = f"/api/dead-letters/{found[0]['id']}"
        assert (await http.get(url)).json()["id"] == found[0]["id"]
        replayed = await http.post(f"{url}/replay")
        assert (replayed.status_code, replayed.json()["status"]) == (200, "failed")
        foreign = [
            await http.request(method, f"{url}{end}", headers=key("eve"))
            for method, end in (("GET", ""), ("POST", "/replay"), ("DELETE", ""))
        ]
        unknown = await http.get("/api/dead-letters/letter_x", headers=key("eve"))
        assert {one.content for one in foreign} == {unknown.content}
        assert (await http.delete(url)).status_code == 204
        assert (await http.get(url)).status_code == 404
        assert (await http.delete("/api/dead-letters", params={"before": 4e9})).json() == {"purged": 3}


@pytest.mark.req("RA-11")
async def test_usage_is_counted_by_what_is_asked_for() -> None:
    async with door() as http:
        await call(http, "sum.add", arguments={"a": 1})
        await call(http, "sum.add", "bea", arguments={"a": 1})
        await call(http, "sum.add", "eve", arguments={"a": 1})
        [total] = (await http.get("/api/usage")).json()["usage"]
        by_user = (await http.get("/api/usage", params={"by": ["user", "tool"]})).json()["usage"]
    assert (total["by"], total["calls"], total["completed"]) == ({}, 2, 2)
    assert [one["by"] for one in by_user] == [
        {"user": "ana", "tool": "sum.add"},
        {"user": "bea", "tool": "sum.add"},
    ]


@pytest.mark.req("RA-12")
async def test_everybody_learns_who_they_are() -> None:
    async with door() as http:
        told = (await http.get("/api/me", headers=key("bot"))).json()
    assert (told["tenant"], told["user"], told["agent"], told["source"]) == ("acme", "ana", "bot", "api")


async def test_what_needs_a_database_says_so() -> None:
    async with door() as http:
        for path in ("/api/keys", "/api/members", "/api/roles"):
            answer = await http.get(path)
            assert (answer.status_code, answer.json()["error"]["code"]) == (409, "NEEDS_DATABASE")
