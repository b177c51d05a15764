"""Tool sessions and embeds over REST, on both databases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.http.two_tenants import OTHER, TwoTenantApi, two_tenant_api


async def begun(rest_api: TwoTenantApi, who: dict[str, str], **body: Any) -> str:
    made = await rest_api.ask("POST", "/api/tool-sessions", who, json={"tool": "sing.together", **body})
    assert made.status_code == 201, made.text
    return f"/api/tool-sessions/{made.json()['id']}"


@pytest.mark.req("RA-11", "CS-02", "CS-03", "CS-05", "CS-06")
async def test_programs_begin_a_session_submit_to_it_and_read_what_it_comes_to(database_url: str) -> None:
    async with two_tenant_api(database_url) as rest_api:
        operator, viewer = await rest_api.person("operator"), await rest_api.person("viewer")
        url = await begun(rest_api, operator, title="Choir", entity_ids=["e1"], config={"round": 2})
        told = (await rest_api.ask("GET", url, viewer)).json()
        assert (told["title"], told["status"], told["entity_ids"]) == ("Choir", "active", ["e1"])
        assert (told["config"], told["tool_slug"]) == ({"round": 2}, "sing-together")
        for who, line in ((operator, "la"), (viewer, "do"), (viewer, "re")):
            done = await rest_api.ask("POST", f"{url}/submissions", who, json={"arguments": {"line": line}})
            assert (done.status_code, done.json()["output"]) == (201, line)
        listed = (await rest_api.ask("GET", f"{url}/submissions", viewer)).json()["submissions"]
        assert [one["input"]["line"] for one in listed] == ["la", "re"]
        made = (await rest_api.ask("GET", f"{url}/aggregate", viewer)).json()
        assert made == {"aggregate": 2, "error": None, "of": 2}
        table = await rest_api.ask("GET", f"{url}/export", viewer, params={"format": "csv"})
        assert table.headers["content-type"].startswith("text/csv") and table.text.count("\r\n") == 3
        whole = (await rest_api.ask("GET", f"{url}/export", viewer)).json()
        assert whole["aggregate"] == 2 and len(whole["submissions"]) == 2
        wrong = await rest_api.ask("POST", f"{url}/submissions", viewer, json={"arguments": {"song": []}})
        assert (wrong.status_code, wrong.json()["error"]["fields"][0]["path"]) == (422, "song")


@pytest.mark.req("RA-11", "CS-06")
async def test_whoever_made_a_session_closes_reopens_and_cancels_it_and_a_viewer_does_not(
    database_url: str,
) -> None:
    async with two_tenant_api(database_url) as rest_api:
        builder, viewer = await rest_api.person("builder"), await rest_api.person("viewer")
        url = await begun(rest_api, builder)
        for act in ("close", "reopen", "cancel", "share"):
            assert (await rest_api.ask("POST", f"{url}/{act}", viewer, json={})).status_code == 404
        assert (await rest_api.ask("POST", f"{url}/close", builder)).json()["status"] == "completed"
        refused = await rest_api.ask("POST", f"{url}/submissions", builder, json={"arguments": {}})
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "SESSION_CLOSED")
        assert (await rest_api.ask("POST", f"{url}/reopen", builder)).json()["status"] == "active"
        assert (await rest_api.ask("POST", f"{url}/cancel", builder)).json()["status"] == "cancelled"
        again = await rest_api.ask("POST", f"{url}/reopen", builder)
        assert (again.status_code, again.json()["error"]["code"]) == (409, "CONFLICT")


@pytest.mark.req("RA-11", "CS-04")
async def test_a_link_is_shown_once_and_revoked(database_url: str) -> None:
    async with two_tenant_api(database_url) as rest_api:
        builder = await rest_api.person("builder")
        url = await begun(rest_api, builder)
        shared = await rest_api.ask("POST", f"{url}/share", builder, json={"lifetime": 600})
        token = shared.json()["share_token"]
        assert shared.json()["share_url"] == f"/join/{token}"
        assert shared.headers["cache-control"] == "no-store"
        assert token not in (await rest_api.ask("GET", url, builder)).text
        assert await rest_api.services.tool_sessions.by_token(token) is not None
        assert (await rest_api.ask("DELETE", f"{url}/share", builder)).status_code == 204
        assert await rest_api.services.tool_sessions.by_token(token) is None
        agent = await rest_api.key("owner", kind="agent")
        barred = await rest_api.ask("POST", f"{url}/share", agent, json={})
        assert (barred.status_code, barred.json()["error"]["code"]) == (403, "NOT_PERMITTED")


@pytest.mark.req("RA-11")
async def test_sessions_are_listed_the_newest_first_page_by_page(database_url: str) -> None:
    async with two_tenant_api(database_url) as rest_api:
        builder, other = await rest_api.person("builder"), await rest_api.person("owner", OTHER)
        urls = [await begun(rest_api, builder, title=f"T{n}") for n in range(3)]
        await begun(rest_api, other, title="Theirs")
        await rest_api.ask("POST", f"{urls[0]}/close", builder)
        first = (await rest_api.ask("GET", "/api/tool-sessions", builder, params={"limit": 2})).json()
        rest = (
            await rest_api.ask(
                "GET", "/api/tool-sessions", builder, params={"limit": 2, "after": first["next"]}
            )
        ).json()
        titles = [one["title"] for one in (*first["tool_sessions"], *rest["tool_sessions"])]
        assert titles == ["T2", "T1", "T0"] and rest["next"] is None
        closed = (
            await rest_api.ask("GET", "/api/tool-sessions", builder, params={"status": "completed"})
        ).json()
        assert [one["title"] for one in closed["tool_sessions"]] == ["T0"]
        odd = await rest_api.ask("GET", "/api/tool-sessions", builder, params={"after": "nan:x"})
        assert odd.status_code == 422


@pytest.mark.req("RA-13", "MT-12")
async def test_an_embed_is_published_changed_and_ended_over_rest(database_url: str) -> None:
    async with two_tenant_api(database_url) as rest_api:
        builder = await rest_api.person("builder")
        body = {"title": "Sum", "tools": ["sum.add"], "origins": ["https://A.example/"]}
        made = await rest_api.ask("POST", "/api/embeds", builder, json=body)
        told = made.json()
        assert (made.status_code, told["origins"], told["tools"]) == (201, ["https://a.example"], ["sum.add"])
        url, token = f"/api/embeds/{told['id']}", told["token"]
        assert token not in (await rest_api.ask("GET", "/api/embeds", builder)).text
        assert (await rest_api.ask("GET", url, builder)).json()["token"] == token
        off = await rest_api.ask("PATCH", url, builder, json={"enabled": False})
        assert off.json()["enabled"] is False and await rest_api.services.embeds.by_token(token) is None
        assert (await rest_api.ask("DELETE", url, builder)).status_code == 204
        assert (await rest_api.ask("PATCH", url, builder, json={"enabled": True})).status_code == 404
        for wrong in (
            {**body, "tools": ["mail.send"]},
            {**body, "tools": ["other.only"]},
            {**body, "origins": ["*"]},
            {**body, "runs_per_day": -1},
        ):
            refused = await rest_api.ask("POST", "/api/embeds", builder, json=wrong)
            assert (refused.status_code, refused.json()["error"]["code"]) == (422, "INVALID_PARAM"), wrong
