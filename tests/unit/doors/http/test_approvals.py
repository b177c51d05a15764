"""/api/approvals: a person sees exactly what would run, and answers once."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from handrail import tool
from handrail.ext.ports import Clock
from tests.unit.doors.http.rest_app import ApiClient, door, key


async def asked(http: ApiClient, who: str = "bot", **args: Any) -> dict[str, Any]:
    """A call that waits: what its caller was told."""
    body = {"arguments": {"to": "bo", **args}}
    told: dict[str, Any] = (await http.post("/api/tools/mail.send/call", json=body, headers=key(who))).json()
    assert told["status"] == "pending"
    return told


async def decide(
    http: ApiClient, told: dict[str, Any], how: str, who: str = "bea", **body: Any
) -> httpx.Response:
    return await http.post(f"{told['approval']['url']}/{how}", json=body, headers=key(who))


@pytest.mark.req("RA-11", "AP-09")
async def test_an_approved_call_runs_with_exactly_what_was_shown() -> None:
    async with door() as http:
        told = await asked(http, text="hi")
        [listed] = (await http.get("/api/approvals", headers=key("bea"))).json()["approvals"]
        assert listed["arguments"] == {"to": "bo", "text": "hi"} and listed["status"] == "pending"
        assert listed["arguments_digest"] and listed["tool_digest"] and listed["reason"]
        answer = await decide(http, told, "approve")
        assert (answer.status_code, answer.json()["status"], answer.json()["decided_by"]) == (
            200,
            "approved",
            "bea",
        )
        assert answer.json()["effective_digest"] == listed["arguments_digest"]
        ended = (await http.get(told["url"], params={"wait": 30}, headers=key("bot"))).json()
        assert (await http.get("/api/approvals")).json()["approvals"] == []
    assert (ended["status"], ended["result"]["data"]) == ("completed", "sent to bo")
    assert ended["approval"]["id"] == listed["id"]


@pytest.mark.req("RA-11", "AP-02")
async def test_what_a_call_would_change_is_shown_to_reviewers_alone() -> None:
    @tool("notes.put", level="write", preview=lambda args, ctx: f"+{args.text}")
    async def put(text: str) -> str:
        """Put a note down."""
        return text

    async with door(put) as http:
        call = {"arguments": {"text": "hi"}}
        told = (await http.post("/api/tools/notes-put/call", json=call, headers=key("bot"))).json()
        seen = [(await http.get(told["approval"]["url"], headers=key(who))).json() for who in ("bea", "bot")]
    assert [one["preview"] for one in seen] == ["+hi", None]


@pytest.mark.req("RA-11")
async def test_a_reviewer_may_write_other_arguments() -> None:
    async with door() as http:
        told = await asked(http)
        answer = await decide(http, told, "approve", arguments={"to": "cy"})
        ended = (await http.get(told["url"], params={"wait": 30}, headers=key("bot"))).json()
    assert answer.json()["edited_arguments"] == {"to": "cy"} and answer.json()["arguments"] == {"to": "bo"}
    assert answer.json()["effective_digest"] != answer.json()["arguments_digest"]
    assert ended["result"]["data"] == "sent to cy"


@pytest.mark.req("RA-12")
async def test_edits_that_do_not_fit_leave_the_question_open() -> None:
    async with door() as http:
        told = await asked(http)
        wrong = await decide(http, told, "approve", arguments={"nobody": 1})
        open_ = (await http.get(told["approval"]["url"])).json()
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (422, "INVALID_PARAM")
    assert open_["status"] == "pending"


@pytest.mark.req("RA-11")
async def test_a_rejection_is_told_to_whoever_called() -> None:
    async with door() as http:
        told = await asked(http)
        await decide(http, told, "reject", reason="not today")
        ended = await http.get(told["url"], params={"wait": 30}, headers=key("bot"))
    assert (ended.status_code, ended.json()["status"], ended.json()["code"]) == (200, "refused", "REJECTED")
    assert "not today" in ended.json()["result"]["error"]


@pytest.mark.req("RA-11")
async def test_a_reviewer_may_answer_in_the_tools_place() -> None:
    async with door() as http:
        told = await asked(http)
        wrong = await decide(http, told, "respond", data=7)
        empty = await decide(http, told, "respond")
        await decide(http, told, "respond", data="I told him")
        ended = (await http.get(told["url"], params={"wait": 30}, headers=key("bot"))).json()
    assert (wrong.status_code, empty.status_code) == (422, 422)
    assert (ended["status"], ended["result"]["data"], ended["run_id"]) == ("completed", "I told him", None)


@pytest.mark.req("RA-12")
@pytest.mark.parametrize("how", ["approve", "reject", "respond"])
async def test_the_second_answer_is_a_conflict(how: str) -> None:
    async with door() as http:
        told = await asked(http)
        await decide(http, told, "reject")
        again = await decide(http, told, how, **({"data": "x"} if how == "respond" else {}))
    assert (again.status_code, again.json()["error"]["code"]) == (409, "CONFLICT")


@pytest.mark.req("RA-12")
async def test_after_its_time_a_question_is_expired() -> None:
    now = [1_000.0]
    clock = Clock(now=lambda: now[0], ticks=lambda: now[0])
    async with door(clock=clock, approval_lifetime=60) as http:
        told = await asked(http)
        assert (await http.get(told["approval"]["url"])).json()["expires_at"] == 1_060.0
        now[0] = 1_061.0
        late = await decide(http, told, "approve")
    assert (late.status_code, late.json()["error"]["code"]) == (409, "APPROVAL_EXPIRED")


@pytest.mark.req("RA-12")
async def test_who_may_not_see_a_question_finds_nothing_and_who_may_not_answer_is_told() -> None:
    async with door() as http:
        told = await asked(http)
        url = told["approval"]["url"]
        foreign = await http.get(url, headers=key("eve"))
        unknown = await http.get("/api/approvals/approval_x", headers=key("eve"))
        service = await http.get(url, headers=key("service"))
        own = await decide(http, told, "approve", who="bot")
        other = await decide(http, told, "approve", who="eve")
        assert (await http.get("/api/approvals", headers=key("service"))).json()["approvals"] == []
        assert len((await http.get("/api/approvals", headers=key("bot"))).json()["approvals"]) == 1
    assert foreign.content == unknown.content == service.content == other.content
    assert (foreign.status_code, other.status_code) == (404, 404)
    assert (own.status_code, own.json()["error"]["code"]) == (403, "NOT_PERMITTED")


async def test_a_yes_can_hold_for_the_session() -> None:
    async with door() as http:
        body = {"arguments": {"to": "bo"}, "session": "desk"}
        first = await http.post("/api/tools/mail.send/call", json=body, headers=key("bot"))
        await decide(http, first.json(), "approve", standing=True)
        await http.get(first.json()["url"], params={"wait": 30}, headers=key("bot"))
        second = await http.post("/api/tools/mail.send/call", json=body, headers=key("bot"))
    assert (second.status_code, second.json()["status"]) == (200, "completed")


async def test_questions_are_listed_oldest_first_page_by_page() -> None:
    async with door() as http:
        made = [(await asked(http))["approval"]["id"] for _ in range(5)]
        found: list[str] = []
        after: str | None = None
        while True:
            params = {"limit": 2} | ({"after": after} if after else {})
            page = (await http.get("/api/approvals", params=params)).json()
            found += [one["id"] for one in page["approvals"]]
            after = page["next"]
            if after is None:
                break
    assert found == made


async def test_secrets_are_masked_where_a_person_looks() -> None:
    @tool("bank.login", level="write")
    async def login(user: str, pin: SecretStr) -> str:
        """Log in."""
        return "in"

    async with door(login) as http:
        body = {"arguments": {"user": "bo", "pin": "4711"}}
        told = await http.post("/api/tools/bank.login/call", json=body, headers=key("bot"))
        shown = await http.get(told.json()["approval"]["url"])
        events = await http.get("/api/events")
    assert "4711" not in told.text + shown.text + events.text
    assert shown.json()["arguments"]["user"] == "bo"
