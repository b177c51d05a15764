"""POST /api/tools/{slug}/call: every way a call can end, told over HTTP."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from handrail import Outcome, Policy, Principal, Result, tool
from handrail.core.guard.approval_request import reject
from handrail.doors.http.outcomes import status_of
from tests.unit.doors.http.rest_app import BEA, door, key


@pytest.mark.req("RA-11", "EV-09")
@pytest.mark.parametrize("name", ["sum-add", "sum.add", "plus", "sum__add"])
async def test_a_call_is_answered_with_its_result_and_its_run(name: str) -> None:
    async with door() as http:
        answer = await http.post(f"/api/tools/{name}/call", json={"arguments": {"a": "2"}})
        told = answer.json()
        [started, _] = http.platform.hr.log.read("acme")
    assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
    assert (told["status"], told["success"], told["tool"]) == ("completed", True, "sum.add")
    assert told["result"] == {"success": True, "data": 3}
    assert told["repairs"] == [{"path": "a", "kind": "text as number", "before": "2", "after": 2}]
    assert told["run_id"] == started.id and started.call.source == "api"
    assert told["url"] == f"/api/calls/{told['call_id']}"


@pytest.mark.req("RA-12")
@pytest.mark.parametrize(
    ("who", "name", "body", "status", "code"),
    [
        ("ana", "sum.fail", {}, 200, "BROKEN"),
        ("ana", "no.such", {}, 404, "TOOL_NOT_FOUND"),
        ("eve", "acme.only", {}, 404, "TOOL_NOT_FOUND"),
        ("bea", "vault.open", {}, 403, "NOT_PERMITTED"),
        ("ana", "sum.add", {"arguments": {}}, 422, "MISSING_PARAM"),
        ("ana", "sum.add", {"arguments": {"a": "x"}}, 422, "INVALID_PARAM"),
        ("ana", "sum.add", {"arguments": {"a": 1}, "digest": "old"}, 409, "STALE_TOOL"),
        ("bot", "mail.send", {"arguments": {"to": "bo"}}, 202, "NEEDS_APPROVAL"),
    ],
)
async def test_a_call_ends_as_the_table_says(
    who: str, name: str, body: dict[str, Any], status: int, code: str
) -> None:
    async with door() as http:
        answer = await http.post(f"/api/tools/{name}/call", json=body, headers=key(who))
    told = answer.json()
    assert answer.status_code == status
    if status < 400:
        assert (told["code"], told["success"]) == (code, False)
    else:
        assert set(told) == {"error"} and told["error"]["code"] == code
        assert answer.headers["x-call-id"].startswith("call_")


@pytest.mark.req("RA-12")
async def test_wrong_arguments_are_told_by_field() -> None:
    async with door() as http:
        answer = await http.post("/api/tools/sum.add/call", json={"arguments": {"a": 1, "c": 2}})
    [field] = answer.json()["error"]["fields"]
    assert field["path"] == "c" and "is not a parameter" in field["reason"]


@pytest.mark.req("RA-12")
async def test_arguments_that_stand_beside_their_place_are_told_where_it_is() -> None:
    async with door() as http:
        answer = await http.post("/api/tools/sum.add/call", json={"a": 1})
    assert answer.status_code == 422
    assert answer.json()["error"]["message"] == "a: is not known here. Known: arguments, session, digest"


@pytest.mark.req("RA-12")
async def test_a_call_that_waits_for_a_person_says_where_the_question_is() -> None:
    async with door() as http:
        body = {"arguments": {"to": "bo"}}
        answer = await http.post("/api/tools/mail.send/call", json=body, headers=key("bot"))
        approval = answer.json()["approval"]
        assert answer.status_code == 202 and answer.headers["location"] == approval["url"]
        shown = (await http.get(approval["url"], headers=key("bot"))).json()
    assert (shown["id"], shown["status"], shown["arguments"]) == (approval["id"], "pending", {"to": "bo"})


async def test_a_planned_call_is_accepted_and_not_run() -> None:
    async with door(policy=Policy(plan=True)) as http:
        answer = await http.post("/api/tools/mail.send/call", json={"arguments": {"to": "bo"}})
    assert (answer.status_code, answer.json()["code"], answer.json()["run_id"]) == (202, "PLANNED", None)


@pytest.mark.req("RA-12")
@pytest.mark.fault("F05")
async def test_under_one_key_it_runs_once_and_another_body_is_refused() -> None:
    runs: list[int] = []

    @tool("bank.pay", level="read")
    async def pay(amount: int) -> int:
        """Pay."""
        runs.append(amount)
        await asyncio.sleep(0)
        return len(runs)

    async with door(pay) as http:

        async def post(amount: int) -> Any:
            headers = {"idempotency-key": "order-7"}
            return await http.post(
                "/api/tools/bank.pay/call", json={"arguments": {"amount": amount}}, headers=headers
            )

        answers = [one.json() for one in await asyncio.gather(*(post(5) for _ in range(100)))]
        other = await post(6)
    assert runs == [5]
    assert {one["result"]["data"] for one in answers} == {1}
    assert len({one["run_id"] for one in answers}) == 1
    assert sorted({one["status"] for one in answers}) == ["completed", "duplicate"]
    assert (other.status_code, other.json()["error"]["code"]) == (409, "KEY_REUSED")


@pytest.mark.parametrize("given", ["x" * 256, "a\tb", "   ", "é"])
async def test_a_key_that_cannot_be_one_is_refused(given: str) -> None:
    async with door() as http:
        headers = {b"idempotency-key": given.encode("latin-1")}
        answer = await http.post("/api/tools/sum.add/call", json={"arguments": {"a": 1}}, headers=headers)
    assert answer.status_code == 422
    assert answer.json()["error"]["fields"][0]["path"] == "Idempotency-Key"


@pytest.mark.req("RA-12")
async def test_a_rejection_is_an_answer_and_a_conflict_for_whoever_asks_again() -> None:
    async def no(_: object) -> Any:
        return reject("not today")

    async with door(approver=no) as http:
        body = {"arguments": {"to": "bo"}}
        first = await http.post("/api/tools/mail.send/call", json=body, headers=key("bot"))
        keyed = key("bot") | {"idempotency-key": "k"}
        await http.post("/api/tools/mail.send/call", json=body, headers=keyed)
        again = await http.post("/api/tools/mail.send/call", json=body, headers=keyed)
    assert (first.status_code, first.json()["code"], first.json()["success"]) == (200, "REJECTED", False)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "REJECTED")


@pytest.mark.req("RA-12")
@pytest.mark.parametrize(
    ("status", "code", "http"),
    [
        ("completed", None, 200),
        ("failed", "TIMEOUT", 200),
        ("duplicate", "DUPLICATE", 200),
        ("pending", "NEEDS_APPROVAL", 202),
        ("queued", "PLANNED", 202),
        ("cancelled", "CANCELLED", 499),
        ("needs_review", "UNKNOWN_OUTCOME", 409),
        ("refused", "RESOURCE_BUSY", 409),
        ("refused", "KEY_REUSED", 409),
        ("refused", "LOG_UNAVAILABLE", 503),
        ("refused", "APPROVAL_EXPIRED", 200),
        ("refused", "A_RULE_OF_ITS_OWN", 403),
    ],
)
def test_each_outcome_has_its_status(status: Any, code: str | None, http: int) -> None:
    assert status_of(Outcome(status, Result(code=code), "call_1", "t.x")) == http


@pytest.mark.req("RA-11")
async def test_a_call_can_be_left_to_a_worker_and_asked_for_later() -> None:
    async with door() as http:
        headers = {"prefer": "wait=5, respond-async"}
        answer = await http.post("/api/tools/sum.add/call", json={"arguments": {"a": 1}}, headers=headers)
        told = answer.json()
        assert (answer.status_code, told["status"], told["code"]) == (202, "queued", "SUBMITTED")
        assert answer.headers["preference-applied"] == "respond-async"
        assert answer.headers["location"] == told["url"]
        ended = (await http.get(told["url"], params={"wait": 30})).json()
    assert (ended["status"], ended["result"]["data"], ended["call_id"]) == ("completed", 2, told["call_id"])


@pytest.mark.req("RA-11")
async def test_a_call_whose_time_has_not_come_is_its_callers_to_see_and_to_stop() -> None:
    async with door() as http:
        out = await http.platform.hr.submit("sum.add", {"a": 1}, principal=BEA, source="api", delay=3_600)
        url = f"/api/calls/{out.call_id}"
        seen = {who: await http.get(url, headers=key(who)) for who in ("ana", "bea", "service", "eve")}
        assert [one.status_code for one in seen.values()] == [200, 200, 404, 404]
        assert (seen["bea"].json()["status"], seen["bea"].json()["tool"]) == ("queued", "sum.add")
        assert (await http.post(f"{url}/cancel", headers=key("eve"))).status_code == 404
        assert (await http.post(f"{url}/cancel", headers=key("bea"))).json()["stopped"] is True
        ended = (await http.get(url, params={"wait": 30}, headers=key("bea"))).json()
    assert ended["status"] == "cancelled"


async def test_what_the_guard_refuses_is_refused_at_once_also_without_waiting() -> None:
    async with door() as http:
        headers = {"prefer": "respond-async"}
        wrong = await http.post("/api/tools/sum.add/call", json={}, headers=headers)
        stale = await http.post(
            "/api/tools/sum.add/call", json={"arguments": {"a": 1}, "digest": "old"}, headers=headers
        )
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (422, "MISSING_PARAM")
    assert (stale.status_code, stale.json()["error"]["code"]) == (409, "STALE_TOOL")


async def test_a_call_goes_into_the_session_that_it_names() -> None:
    async with door() as http:
        body = {"arguments": {"a": 1}, "session": "desk"}
        await http.post("/api/tools/sum.add/call", json=body)
        told = (await http.get("/api/sessions/desk/events")).json()
    assert [one["type"] for one in told["events"]] == ["tool.started", "tool.completed"]


@pytest.mark.req("RA-11")
async def test_a_call_is_cancelled_by_its_caller_and_its_request_hears_of_it() -> None:
    async with door() as http:
        calling = asyncio.create_task(http.post("/api/tools/sum.slow/call", headers=key("bea")))
        deadline = time.monotonic() + 20
        while not (runs := (await http.get("/api/runs")).json()["runs"]):
            assert time.monotonic() < deadline
            await asyncio.sleep(0)
        url = f"/api/calls/{runs[0]['call_id']}"
        assert (await http.get(url, headers=key("bea"))).json()["status"] == "running"
        assert (await http.post(f"{url}/cancel", headers=key("service"))).status_code == 404
        stopped = (await http.post(f"{url}/cancel", headers=key("bea"))).json()
        answer = await calling
        again = (await http.post(f"{url}/cancel", headers=key("bea"))).json()
        later = (await http.get(url, headers=key("bea"))).json()
    assert (stopped["stopped"], again["stopped"]) == (True, False)
    assert (answer.status_code, answer.json()["error"]["code"]) == (499, "CANCELLED")
    assert (later["status"], later["code"]) == ("cancelled", "CANCELLED")


@pytest.mark.req("BY-07")
async def test_the_guard_explains_itself_without_running_anything() -> None:
    async with door() as http:
        body = {"arguments": {"to": "bo"}}
        told = (await http.post("/api/tools/mail.send/explain", json=body, headers=key("bot"))).json()
        hidden = await http.post("/api/tools/acme.only/explain", headers=key("eve"))
        assert (await http.get("/api/events")).json()["events"] == []
    assert told["verdict"] == "ask" and any(step["decided"] for step in told["trace"])
    assert (hidden.status_code, hidden.json()["error"]["code"]) == (404, "TOOL_NOT_FOUND")


async def test_nobody_calls_anything() -> None:
    async with door() as http:
        http.headers.pop("authorization")
        answer = await http.post("/api/tools/sum.add/call", json={"arguments": {"a": 1}})
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "NOT_SIGNED_IN")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_keys_of_nobody_are_told_apart_by_what_they_hold() -> None:
    wide, narrow = Principal("acme", key="service"), Principal("acme", key="service", scope=["sum.*"])
    assert wide.is_same_caller(wide) and not wide.is_same_caller(narrow)
    ana, later = Principal("acme", "ana"), Principal("acme", "ana", roles=["viewer"])
    assert ana.is_same_caller(later) and not ana.is_same_caller(Principal("acme", "ana", agent="bot"))
