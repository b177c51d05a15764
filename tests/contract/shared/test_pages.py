"""The pages of shared sessions and embeds, as members, guests and visitors ask for them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from handrail import Principal, Result, tool
from handrail.core.define.ui_specs import FormSpec, OutputSection
from handrail.core.find.visibility import ToolRow
from handrail.doors.http.api import build_api
from handrail.doors.web.app import build_web
from handrail.doors.web.pages.tool_sessions.access import GUEST_COOKIE, session_url
from handrail.identity.session_submissions import event_session
from handrail.identity.tool_sessions import Guest, Participant
from handrail.platform import platform_of
from handrail.platform.middleware import SESSION_COOKIE, SecurityMiddleware
from handrail.store.tools import save_tool_row
from tests.contract.shared.two_tenants import ACME, TwoTenants, rating, two_tenants


async def _judge(score: int, note: str = "") -> dict[str, int]:
    """Judge something."""
    return {"score": score}


JUDGE = rating("team.judge", _judge, form=FormSpec({"note": {"operator_only": True}}))


@asynccontextmanager
async def pages(
    url: str, *tools: Any, api: bool = False
) -> AsyncIterator[tuple[TwoTenants, httpx.AsyncClient]]:
    async with two_tenants(url, *tools) as tenants:
        platform = platform_of(tenants.hr)
        web = build_web(platform)
        door = SecurityMiddleware(build_api(platform) if api else web, platform)
        transport = httpx.ASGITransport(door)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            yield tenants, http
        platform.closing.set()
        web.live.close()


async def signed_in(tenants: TwoTenants, who: Principal) -> dict[str, str]:
    token = await tenants.services.authenticator.sign_in(str(who.user), who.tenant)
    return {"cookie": f"{SESSION_COOKIE}={token}"}


def as_guest(note: str) -> dict[str, str]:
    return {"cookie": f"{GUEST_COOKIE}={note}"}


async def always_ask(tenants: TwoTenants, slug: str) -> None:
    row = ToolRow(ACME, slug, "system_override", enabled=True, permission_policy="always_ask")
    await tenants.services.db.write(ACME, lambda conn: save_tool_row(conn, ACME, row, at=1.0, by="ana"))
    tenants.services.tools.forget(ACME)


@pytest.mark.req("CS-05", "UI-16")
async def test_a_guest_reads_nothing_that_is_for_operators_only(sqlite_url: str) -> None:
    async with pages(sqlite_url, JUDGE) as (tenants, http):
        ana = await tenants.person("owner")
        session = await tenants.session(ana, "team.judge")
        _, note = await tenants.join(await tenants.link(ana, session), "Bo")
        done = await tenants.submit(
            session, Participant(str(ana.user), "Ana", ana), score=4, note="for us alone"
        )
        assert done.submission is not None
        places = ["", "/part", "/answers.csv", "/answers.json", f"/answer/{done.submission.id}"]
        for place in places:
            theirs = await http.get(f"{session_url(session)}{place}", headers=as_guest(note))
            ours = await http.get(f"{session_url(session)}{place}", headers=await signed_in(tenants, ana))
            assert (theirs.status_code, ours.status_code) == (200, 200)
            assert "for us alone" in ours.text, place
            assert "for us alone" not in theirs.text, place


@pytest.mark.req("CS-01")
async def test_whoever_may_not_use_the_tool_reads_nothing_of_its_sessions(sqlite_url: str) -> None:
    async with pages(sqlite_url, api=True) as (tenants, http):
        ana, vic = await tenants.person("owner"), await tenants.person("viewer", name="Vic")
        session = await tenants.session(ana)
        await tenants.submit(session, Participant(str(ana.user), "Ana", ana), score=4)
        for place in ("", "/submissions", "/aggregate", "/export", "/export?format=csv"):
            there = f"/api/tool-sessions/{session.id}{place}"
            assert (await http.get(there, headers=await signed_in(tenants, ana))).status_code == 200
            assert (await http.get(there, headers=await signed_in(tenants, vic))).status_code == 404, place
        told = await http.get("/api/tool-sessions", headers=await signed_in(tenants, vic))
        assert told.json()["tool_sessions"] == []


@pytest.mark.req("CS-04")
async def test_a_guest_is_out_once_the_tool_has_to_be_approved(sqlite_url: str) -> None:
    async with pages(sqlite_url) as (tenants, http):
        ana = await tenants.person("owner")
        session = await tenants.session(ana)
        _, note = await tenants.join(await tenants.link(ana, session), "Bo")
        assert (await http.get(session_url(session), headers=as_guest(note))).status_code == 200
        await always_ask(tenants, "team-rate")
        told = await http.get(session_url(session), headers=as_guest(note))
        assert (told.status_code, "not shared any more" in told.text) == (403, True)


@pytest.mark.req("RA-13")
async def test_visitors_ask_nobody_for_approval(sqlite_url: str) -> None:
    async with pages(sqlite_url) as (tenants, http):
        ana = await tenants.person("owner")
        tool = await tenants.tool("image.paint", ana)
        text, _ = await tenants.services.embeds.publish(ana, "Paint", [tool], ["https://a.example"])
        there = f"/embed/{text.reveal()}/image-paint"
        assert (await http.get(there)).status_code == 200
        await always_ask(tenants, "image-paint")
        assert (await http.get(there)).status_code == 404
        assert (await http.post(there, data={"#/text": "x"})).status_code == 404
        assert await tenants.hr.approvals.list(ana) == []


@pytest.mark.req("RA-13")
async def test_the_kill_switch_stays_off_however_often_it_is_pressed(sqlite_url: str) -> None:
    async with pages(sqlite_url) as (tenants, http):
        ana = await tenants.person("owner")
        tool = await tenants.tool("image.paint", ana)
        _, made = await tenants.services.embeds.publish(ana, "Paint", [tool], ["https://a.example"])
        me, there = await signed_in(tenants, ana), f"/settings/embeds/{made.id}"
        shown = (await http.get(there, headers=me)).text
        assert f'action="{there}/switch"' in shown and 'name="to" value="off"' in shown
        for _ in range(2):
            await http.post(f"{there}/switch", data={"to": "off"}, headers=me)
            [now] = await tenants.services.embeds.list(ana)
            assert not now.enabled
        await http.post(f"{there}/switch", data={"to": "on"}, headers=me)
        [now] = await tenants.services.embeds.list(ana)
        assert now.enabled


@pytest.mark.req("CS-04")
async def test_the_link_of_a_closed_session_can_be_taken_back(sqlite_url: str) -> None:
    async with pages(sqlite_url) as (tenants, http):
        ana = await tenants.person("owner")
        session = await tenants.session(ana)
        link, me = await tenants.link(ana, session), await signed_in(tenants, ana)
        await tenants.services.tool_sessions.set_status(session, "completed")
        shown = (await http.get(session_url(session), headers=me)).text
        assert "Take the link back" in shown and "Shared by link" in shown
        await http.post(session_url(session, "unshare"), headers=me)
        assert await tenants.services.tool_sessions.by_token(link) is None


async def test_a_member_of_another_tenant_whose_link_has_ended_manages_nothing(sqlite_url: str) -> None:
    async with pages(sqlite_url) as (tenants, http):
        ana, eve = await tenants.person("owner"), await tenants.person("owner", tenant="other", name="Eve")
        session = await tenants.session(ana)
        _, note = await tenants.join(await tenants.link(ana, session), "Eve")
        await tenants.services.tool_sessions.unshare(session)
        mine = (await signed_in(tenants, eve))["cookie"]
        told = await http.post(
            session_url(session, "close"), headers={"cookie": f"{mine}; {as_guest(note)['cookie']}"}
        )
        assert told.status_code == 404
        assert (await tenants.now(session)).status == "active"


async def test_an_answer_that_a_key_gives_comes_by_the_door_of_programs(sqlite_url: str) -> None:
    async with pages(sqlite_url) as (tenants, http):
        ana = await tenants.person("owner")
        session = await tenants.session(ana)
        key, _ = await tenants.services.keys.make(ana, "ops", "agent", user=ana.user)
        shown = {"authorization": f"Bearer {key.reveal()}"}
        await http.post(session_url(session), data={"#/score": "3"}, headers=shown)
        await http.post(session_url(session), data={"#/score": "4"}, headers=await signed_in(tenants, ana))
        log = tenants.hr.log.read(ACME, session=event_session(session))
        assert [one.call.source for one in log if one.kind == "started"] == ["api", "web"]


@pytest.mark.req("CS-05")
async def test_a_page_looks_again_once_its_stream_begins(sqlite_url: str) -> None:
    async with pages(sqlite_url) as (tenants, http):
        ana = await tenants.person("owner")
        session, me = await tenants.session(ana), await signed_in(tenants, ana)
        for place in (session_url(session), "/approvals", "/"):
            shown = (await http.get(place, headers=me)).text
            assert "hello from:body" in shown, place


@pytest.mark.req("RA-13")
async def test_no_link_in_a_result_leads_visitors_away_from_it(sqlite_url: str) -> None:
    @tool("stock.list", level="read", sections=[OutputSection("rows", "Rows", "table")])
    async def stock(many: int) -> dict[str, Any]:
        """What is in stock."""
        return {"rows": [{"article": f"no {number}"} for number in range(many)]}

    async with pages(sqlite_url, stock) as (tenants, http):
        ana = await tenants.person("owner")
        text, _ = await tenants.services.embeds.publish(ana, "Stock", [stock], ["https://a.example"])
        told = await http.post(f"/embed/{text.reveal()}/stock-list", data={"#/many": "300"})
        assert told.status_code == 200 and "no 299" in told.text
        result = told.text[told.text.index("embed-result") :]
        assert "view-sort" in result and "href=" not in result


async def test_what_is_nested_too_deeply_is_told_and_stays_as_it_was_typed(sqlite_url: str) -> None:
    @tool("deep.take", level="read")
    async def take(value: dict[str, Any]) -> int:
        """Take a value."""
        return 1

    async with pages(sqlite_url, take) as (tenants, http):
        ana = await tenants.person("owner")
        text, _ = await tenants.services.embeds.publish(ana, "Deep", [take], ["https://a.example"])
        me, deep = await signed_in(tenants, ana), '{"a":' * 400 + "1" + "}" * 400
        typed = deep.replace('"', "&#34;")
        for act in ("run", "form?to=form"):
            sent = {"_face": "json", "_json": f'{{"value":{deep}}}'}
            told = await http.post(f"/tools/deep-take/{act}", data=sent, headers=me)
            assert (told.status_code, "nested too deeply" in told.text) == (422, True), act
            assert typed in told.text
        told = await http.post(f"/embed/{text.reveal()}/deep-take", data={"#/value": deep, "?/value": "json"})
        assert (told.status_code, "nested too deeply" in told.text) == (422, True)
        assert typed in told.text


async def test_what_one_may_not_read_is_not_in_the_sidebar(sqlite_url: str) -> None:
    async with pages(sqlite_url) as (tenants, http):
        ana, vic = await tenants.person("owner"), await tenants.person("viewer", name="Vic")
        for who, there in ((ana, True), (vic, False)):
            shown = (await http.get("/tools", headers=await signed_in(tenants, who))).text
            assert ('href="/sessions"' in shown) is there
            found = (await http.get("/palette?q=Sess", headers=await signed_in(tenants, who))).text
            assert ('href="/sessions"' in found) is there


@pytest.mark.req("CS-04")
async def test_a_guest_who_submitted_too_often_is_told_how_long_to_wait_and_keeps_what_they_typed(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handrail.identity.tool_sessions.GUEST_RUNS_PER_DAY", 1)
    async with pages(sqlite_url) as (tenants, http):
        ana = await tenants.person("owner")
        session = await tenants.session(ana)
        _, note = await tenants.join(await tenants.link(ana, session), "Bo")
        for typed, status in (("once", 303), ("twice, and more", 429)):
            sent = {"#/score": "3", "#/note": typed}
            told = await http.post(session_url(session), data=sent, headers=as_guest(note))
            assert told.status_code == status
        assert "Try again in" in told.text and "twice, and more" in told.text
        assert 0 < int(told.headers["retry-after"]) <= 86_400
        log = tenants.hr.log.read(ACME, session=event_session(session))
        assert len([one for one in log if one.kind == "started"]) == 1


@pytest.mark.req("CS-05")
async def test_a_guest_reads_no_ids_and_nothing_of_how_the_tenant_keeps_a_session(sqlite_url: str) -> None:
    async with pages(sqlite_url, JUDGE) as (tenants, http):
        ana = await tenants.person("owner")
        sessions, tool = tenants.services.tool_sessions, await tenants.tool("team.judge", ana)
        session = await sessions.create(
            ana, tool, "Ours", entity_ids=["entity-of-ours"], config={"x": "set by us"}
        )
        bo, note = await tenants.join(await tenants.link(ana, session), "Bo")
        agent = Participant(f"{ana.user}/agent:a", "", ana)
        whom: list[Participant | Guest] = [Participant(str(ana.user), "Ana", ana), agent, bo]
        done = [await tenants.submit(session, one, score=4) for one in whom]
        assert all(one.submission is not None for one in done)
        hidden = [str(ana.user), "entity-of-ours", "set by us", *(one.outcome.call_id for one in done), bo.id]
        for place in ("", "/part", "/answers.csv", "/answers.json"):
            theirs = await http.get(f"{session_url(session)}{place}", headers=as_guest(note))
            assert theirs.status_code == 200
            assert [one for one in hidden if one in theirs.text] == [], place
        told = theirs.json()
        assert set(told["session"]) == {"title", "status", "created_at"}
        assert [one["participant"] for one in told["submissions"]] == ["Ana", "somebody", "Bo"]
        assert told["submissions"][0]["output"] == {"score": 4} and told["aggregate"] == {"mean": 4}
        ours = await http.get(session_url(session, "answers.json"), headers=await signed_in(tenants, ana))
        assert set(hidden) <= {word for word in hidden if word in ours.text}


async def test_fields_that_a_tool_tells_of_itself_are_no_errors_of_the_form(sqlite_url: str) -> None:
    @tool("odd.list", level="read")
    async def odd(named: bool) -> Result:
        """Tell of fields."""
        fields: Any = {"soil": "clay"} if named else ["north field", "south field"]
        return Result(data={"answer": 42}, summary="Two fields.", metadata={"fields": fields})

    async with pages(sqlite_url, odd) as (tenants, http):
        ana = await tenants.person("owner")
        text, _ = await tenants.services.embeds.publish(ana, "Odd", [odd], ["https://a.example"])
        for named in ("true", "false"):
            told = await http.post(f"/embed/{text.reveal()}/odd-list", data={"#/named": named})
            assert (told.status_code, "Two fields." in told.text) == (200, True), named
