"""REST over a database: what is told is durable, what is made is there, what is hidden is gone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from handrail import tool
from handrail.core.find.visibility import ToolRow
from tests.contract.http.two_tenants import ACME, OTHER, TwoTenantApi, two_tenant_api


@pytest.mark.req("EV-09", "RA-11")
async def test_when_a_call_is_answered_its_run_stands_in_the_database(sqlite_url: str) -> None:
    async with two_tenant_api(sqlite_url) as rest_api:
        headers = await rest_api.key("owner")
        engine = create_engine(sqlite_url)
        for number in range(20):
            answer = await rest_api.ask(
                "POST", "/api/tools/sum.add/call", headers, json={"arguments": {"a": number}}
            )
            with engine.connect() as conn:
                found = text(
                    "SELECT call_id FROM session_events WHERE type = 'tool.started' AND run_id = :run"
                )
                rows = conn.execute(found, {"run": answer.json()["run_id"]}).scalars().all()
            assert rows == [answer.json()["call_id"]]
        engine.dispose()


@pytest.mark.req("EX-17")
async def test_a_person_who_is_signed_in_comes_by_the_web_and_a_key_by_the_api(database_url: str) -> None:
    async with two_tenant_api(database_url) as rest_api:
        user = (await rest_api.principal("owner")).user
        for headers, source in (
            (await rest_api.person("owner"), "web"),
            (await rest_api.key("owner"), "api"),
        ):
            told = (await rest_api.ask("POST", "/api/tools/who.asks/call", headers)).json()
            assert told["result"]["data"] == f"{source} {ACME} {user}"
            assert (await rest_api.ask("GET", "/api/me", headers)).json()["source"] == source
        [web, api] = (await rest_api.ask("GET", "/api/runs", headers)).json()["runs"][::-1]
    assert (web["source"], api["source"]) == ("web", "api")


@pytest.mark.req("RA-06")
async def test_a_tool_is_hidden_shown_renamed_and_reset_for_one_tenant(database_url: str) -> None:
    async with two_tenant_api(database_url) as rest_api:
        owner, other = await rest_api.person("builder"), await rest_api.person("viewer", OTHER)
        viewer, url = await rest_api.person("viewer"), "/api/tools/sum-add"
        hidden = await rest_api.ask("PATCH", "/api/tools/sum.add", owner, json={"enabled": False})
        assert (hidden.status_code, hidden.json()["visible"]) == (200, False)
        assert (await rest_api.ask("GET", url, viewer)).status_code == 404
        assert (
            await rest_api.ask("POST", f"{url}/call", viewer, json={"arguments": {"a": 1}})
        ).status_code == 404
        assert (await rest_api.ask("GET", url, owner)).json()["visible"] is False
        assert (await rest_api.ask("GET", url, other)).json()["visible"] is True
        words = {"enabled": True, "name": "Plus", "permission_policy": "always_ask"}
        shown = (await rest_api.ask("PATCH", url, owner, json=words)).json()
        assert (shown["name"], shown["kind"], shown["policy"]) == ("Plus", "system_override", "always_ask")
        listed = (await rest_api.ask("GET", "/api/tools", viewer, params={"kind": "system_override"})).json()
        assert [one["name"] for one in listed["tools"]] == ["Plus"]
        assert (await rest_api.ask("GET", url, other)).json()["name"] == "Add"
        assert (await rest_api.ask("DELETE", url, owner)).status_code == 204
        again = (await rest_api.ask("GET", url, viewer)).json()
        assert (again["name"], again["kind"], again["policy"]) == ("Add", "code", "auto")


@pytest.mark.req("RA-06", "RA-12")
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "Say what to change"),
        ({"enabled": "yes"}, "enabled"),
        ({"level": "read"}, "level"),
        ({"name": "  "}, "name"),
        ({"permission_policy": "never"}, "permission_policy"),
        ({"enabled": None}, "enabled"),
    ],
)
async def test_a_change_that_cannot_be_made_is_refused_in_words(
    sqlite_url: str, body: dict[str, Any], said: str
) -> None:
    async with two_tenant_api(sqlite_url) as rest_api:
        answer = await rest_api.ask("PATCH", "/api/tools/sum-add", await rest_api.person("owner"), json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "INVALID_PARAM")
    assert said in answer.json()["error"]["message"]


@pytest.mark.req("RA-06")
async def test_a_tool_that_always_asks_cannot_be_made_to_ask_less(sqlite_url: str) -> None:
    async with two_tenant_api(sqlite_url) as rest_api:
        owner = await rest_api.person("owner")
        answer = await rest_api.ask(
            "PATCH", "/api/tools/mail-send", owner, json={"permission_policy": "auto"}
        )
    assert answer.status_code == 422 and "always asks" in answer.json()["error"]["message"]


@pytest.mark.req("RA-09")
async def test_the_versions_of_a_tenants_own_tool_are_listed_newest_first(database_url: str) -> None:
    async with two_tenant_api(database_url) as rest_api:
        boss, owner = await rest_api.principal("owner"), await rest_api.person("owner")
        for number in range(53):
            schema = {"type": "object", "properties": {f"p{number}": {"type": "string"}}}
            row = ToolRow(
                ACME, "greet", "tenant_custom", name="Greet", description="Greet.", input_schema=schema
            )
            await rest_api.services.tool_admin.save_own(boss, row, f"save {number}")
        first = (await rest_api.ask("GET", "/api/tools/greet/versions", owner)).json()
        rest = await rest_api.ask("GET", "/api/tools/greet/versions", owner, params={"before": first["next"]})
        foreign = await rest_api.ask(
            "GET", "/api/tools/greet/versions", await rest_api.person("owner", OTHER)
        )
    numbers = [one["number"] for one in (*first["versions"], *rest.json()["versions"])]
    assert numbers == list(range(53, 0, -1)) and rest.json()["next"] is None
    assert first["versions"][0]["note"] == "save 52"
    assert foreign.status_code == 404


@pytest.mark.req("RA-12")
async def test_a_key_is_shown_once_opens_the_door_and_is_revoked(database_url: str) -> None:
    async with two_tenant_api(database_url) as rest_api:
        owner = await rest_api.person("owner")
        body = {
            "name": "ci",
            "kind": "service",
            "permissions": ["runs.read"],
            "tools": ["sum.*"],
            "ceiling": "read",
        }
        made = await rest_api.ask("POST", "/api/keys", owner, json=body)
        assert made.status_code == 201 and made.headers["cache-control"] == "no-store"
        key = made.json()["key"]
        listed = await rest_api.ask("GET", "/api/keys", owner)
        assert key not in listed.text and "digest" not in listed.text
        assert [one["name"] for one in listed.json()["keys"]] == ["ci"]
        by_key = {"authorization": f"Bearer {key}"}
        me = (await rest_api.ask("GET", "/api/me", by_key)).json()
        assert (me["key"], me["tools"], me["ceiling"]) == ("service", ["sum.*"], "read")
        tools = (await rest_api.ask("GET", "/api/tools", by_key)).json()["tools"]
        assert [one["id"] for one in tools] == ["sum.add"]
        assert (await rest_api.ask("GET", "/api/keys", by_key)).status_code == 403
        assert (await rest_api.ask("DELETE", f"/api/keys/{made.json()['id']}", owner)).status_code == 204
        gone = await rest_api.ask("GET", "/api/me", by_key)
        again = await rest_api.ask("DELETE", f"/api/keys/{made.json()['id']}", owner)
    assert (gone.status_code, again.status_code) == (401, 404)


@pytest.mark.req("RA-12")
async def test_nobody_gives_a_key_more_than_they_hold(sqlite_url: str) -> None:
    async with two_tenant_api(sqlite_url) as rest_api:
        admin = await rest_api.person("admin")
        much = await rest_api.ask(
            "POST", "/api/keys", admin, json={"name": "x", "kind": "service", "permissions": ["*"]}
        )
        odd = await rest_api.ask("POST", "/api/keys", admin, json={"name": "x", "permissions": ["no dots"]})
        never = await rest_api.ask("POST", "/api/keys", admin, json={"name": "x", "lifetime": -1})
    assert (much.status_code, much.json()["error"]["code"]) == (403, "NOT_PERMITTED")
    assert (odd.status_code, never.status_code) == (422, 422)


@pytest.mark.req("RA-12")
async def test_people_get_roles_and_lose_them(database_url: str) -> None:
    async with two_tenant_api(database_url) as rest_api:
        owner = await rest_api.person("owner")
        role = await rest_api.ask("PUT", "/api/roles/night-shift", owner, json={"permissions": ["runs.read"]})
        assert role.status_code == 204
        assert "night-shift" in (await rest_api.ask("GET", "/api/roles", owner)).json()["roles"]
        body = {"email": "Bo@Example.com", "roles": ["night-shift"], "name": "Bo"}
        added = await rest_api.ask("POST", "/api/members", owner, json=body)
        assert (added.status_code, added.json()["roles"]) == (201, ["night-shift"])
        listed = (await rest_api.ask("GET", "/api/members", owner)).json()["members"]
        assert "bo@example.com" in [one["email"] for one in listed]
        url = f"/api/members/{added.json()['id']}"
        assert (await rest_api.ask("DELETE", url, owner)).status_code == 204
        assert (await rest_api.ask("DELETE", url, owner)).status_code == 404
        assert (await rest_api.ask("DELETE", "/api/roles/night-shift", owner)).status_code == 204
        bad = await rest_api.ask("POST", "/api/members", owner, json={"email": "nobody", "roles": ["viewer"]})
        assert (bad.status_code, bad.json()["error"]["code"]) == (422, "INVALID_PARAM")


@pytest.mark.fault("F05")
async def test_a_hundred_posts_with_one_key_make_one_run(database_url: str) -> None:
    runs: list[int] = []

    @tool("bank.pay", level="read")
    async def pay(amount: int) -> int:
        """Pay."""
        runs.append(amount)
        await asyncio.sleep(0.01)
        return len(runs)

    async with two_tenant_api(database_url, pay) as rest_api:
        headers = await rest_api.key("owner") | {"idempotency-key": "order-7"}

        async def post(amount: int) -> Any:
            return await rest_api.ask(
                "POST", "/api/tools/bank.pay/call", headers, json={"arguments": {"amount": amount}}
            )

        answers = [one.json() for one in await asyncio.gather(*(post(5) for _ in range(100)))]
        other = await post(6)
        later = {**headers, "prefer": "respond-async"}
        again = await rest_api.ask(
            "POST", "/api/tools/bank.pay/call", later, json={"arguments": {"amount": 5}}
        )
        ended = await rest_api.ask("GET", again.json()["url"], headers, params={"wait": 60})
    assert runs == [5]
    assert {(one["success"], one["result"]["data"]) for one in answers} == {(True, 1)}
    assert len({one["run_id"] for one in answers}) == 1
    assert (other.status_code, other.json()["error"]["code"]) == (409, "KEY_REUSED")
    assert (ended.json()["status"], ended.json()["result"]["data"]) == ("duplicate", 1)


@pytest.mark.req("RA-11")
async def test_a_call_that_no_worker_has_begun_is_its_callers_to_see_and_to_stop(sqlite_url: str) -> None:
    async with two_tenant_api(sqlite_url, worker=False) as rest_api:
        mine = await rest_api.key("owner", kind="agent", permissions=[])
        headers = {**mine, "prefer": "respond-async"}
        told = (
            await rest_api.ask("POST", "/api/tools/sum.add/call", headers, json={"arguments": {"a": 1}})
        ).json()
        url, viewer = told["url"], await rest_api.person("viewer")
        assert (await rest_api.ask("GET", url, mine)).json()["status"] == "queued"
        assert (await rest_api.ask("GET", url, viewer)).status_code == 404
        assert (await rest_api.ask("POST", f"{url}/cancel", viewer)).status_code == 404
        assert (await rest_api.ask("GET", url, await rest_api.person("owner", OTHER))).status_code == 404
        caller = await rest_api.hr.jobs.caller(told["call_id"], await rest_api.principal("owner"))
        assert caller is not None and caller.agent == "mine"
        assert await rest_api.hr.jobs.caller("call_x", caller) is None


async def _session(rest_api: TwoTenantApi, headers: dict[str, str], name: str) -> None:
    body = {"arguments": {"a": 1}, "session": name}
    await rest_api.ask("POST", "/api/tools/sum.add/call", headers, json=body)


@pytest.mark.req("RA-11")
async def test_sessions_are_listed_and_read_page_by_page(database_url: str) -> None:
    async with two_tenant_api(database_url) as rest_api:
        owner = await rest_api.key("owner")
        for name in ("b", "a", "c"):
            await _session(rest_api, owner, name)
        await _session(rest_api, await rest_api.key("owner", OTHER), "d")
        first = (await rest_api.ask("GET", "/api/sessions", owner, params={"limit": 2})).json()
        rest = (
            await rest_api.ask("GET", "/api/sessions", owner, params={"limit": 2, "after": first["next"]})
        ).json()
        events = (await rest_api.ask("GET", "/api/sessions/a/events", owner, params={"after": 1})).json()
    assert [one["id"] for one in (*first["sessions"], *rest["sessions"])] == ["a", "b", "c"]
    assert rest["next"] is None and first["sessions"][0]["last_seq"] == 2
    assert [(one["seq"], one["type"]) for one in events["events"]] == [(2, "tool.completed")]
