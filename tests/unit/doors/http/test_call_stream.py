"""A call's events as server-sent events, and from any number on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from handrail import tool
from handrail.platform.sse import EventStream
from tests.unit.doors.http.rest_app import ApiClient, door, events_of, key


async def streamed(http: ApiClient, name: str, who: str = "ana", **body: Any) -> list[dict[str, Any]]:
    answer = await http.post(f"/api/tools/{name}/stream", json=body, headers=key(who))
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/event-stream")
    return events_of(answer.text)


def kinds(told: list[dict[str, Any]]) -> list[str]:
    return [one["event"] for one in told if one["event"] != "tool.progress"]


@pytest.mark.req("ST-03")
async def test_a_streamed_call_tells_its_events_and_then_its_outcome() -> None:
    async with door() as http:
        told = await streamed(http, "sum.count", arguments={"to": 2})
    assert kinds(told) == ["tool.started", *["tool.output_appended"] * 2, "tool.completed", "outcome"]
    assert [one["id"] for one in told if "id" in one] == ["1", "2", "3", "4"]
    progress = [one for one in told if one["event"] == "tool.progress"]
    assert [one["data"]["told"]["title"] for one in progress] == ["0 of 2", "1 of 2"]
    assert told[0]["event"] == "tool.started" and not any("id" in one for one in progress)
    ended = told[-1]["data"]
    assert (ended["status"], ended["result"]["data"]) == ("completed", 2)


@pytest.mark.fault("F16")
async def test_whoever_comes_back_gets_the_rest_at_any_offset() -> None:
    async with door() as http:
        whole = await streamed(http, "sum.count", arguments={"to": 5}, session="desk")
        await streamed(http, "sum.add", arguments={"a": 1}, session="desk")
        stored = [one for one in whole if "id" in one]
        url = f"{whole[-1]['data']['url']}/events"
        for seen in range(len(stored) + 1):
            headers = {"last-event-id": stored[seen - 1]["id"]} if seen else {}
            rest = events_of((await http.get(url, headers=headers)).text)
            assert rest[:-1] == stored[seen:]
            assert rest[-1]["event"] == "outcome" and rest[-1]["data"]["status"] == "completed"
            asked = events_of((await http.get(url, params={"after": seen and stored[seen - 1]["id"]})).text)
            assert asked == rest


@pytest.mark.fault("F16")
async def test_a_call_in_a_session_with_a_past_begins_with_its_own_events() -> None:
    async with door() as http:
        await streamed(http, "sum.count", arguments={"to": 3}, session="desk")
        told = await streamed(http, "sum.add", arguments={"a": 1}, session="desk")
    assert [(one.get("id"), one["event"]) for one in told] == [
        ("6", "tool.started"),
        ("7", "tool.completed"),
        (None, "outcome"),
    ]


@pytest.mark.parametrize(
    ("who", "name", "body", "events", "status"),
    [
        ("ana", "sum.fail", {}, ["tool.started", "tool.failed", "outcome"], "failed"),
        (
            "ana",
            "sum.count",
            {"arguments": {"to": 0}},
            ["tool.started", "tool.completed", "outcome"],
            "completed",
        ),
    ],
)
async def test_a_stream_ends_however_the_call_ends(
    who: str, name: str, body: dict[str, Any], events: list[str], status: str
) -> None:
    async with door() as http:
        told = await streamed(http, name, who, **body)
    assert kinds(told) == events
    assert told[-1]["data"]["status"] == status


@pytest.mark.req("RA-12")
@pytest.mark.parametrize(
    ("who", "name", "status", "code"),
    [
        ("ana", "no.such", 404, "TOOL_NOT_FOUND"),
        ("ana", "sum.add", 422, "MISSING_PARAM"),
        ("bea", "vault.open", 403, "NOT_PERMITTED"),
    ],
)
async def test_what_is_refused_has_no_stream(who: str, name: str, status: int, code: str) -> None:
    async with door() as http:
        answer = await http.post(f"/api/tools/{name}/stream", headers=key(who))
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


async def test_a_call_that_was_made_before_under_its_key_tells_the_outcome_alone() -> None:
    async with door() as http:
        headers = key("ana") | {"idempotency-key": "k"}
        body = {"arguments": {"a": 1}}
        await http.post("/api/tools/sum.add/call", json=body, headers=headers)
        told = events_of((await http.post("/api/tools/sum.add/stream", json=body, headers=headers)).text)
    assert [(one["event"], one["data"]["status"]) for one in told] == [("outcome", "duplicate")]


@pytest.mark.req("ST-03")
async def test_the_events_of_a_tenant_are_followed_from_a_position_until_the_server_closes() -> None:
    async with door() as http:
        await streamed(http, "sum.count", arguments={"to": 3}, session="desk")
        http.platform.closing.set()
        headers = {"accept": "text/event-stream", "last-event-id": "2"}
        assert (await http.get("/api/events", headers=headers)).status_code == 200


@pytest.mark.parametrize("given", ["x", "-1", "1.5", "٣", "9" * 30])
async def test_an_id_that_is_none_is_refused(given: str) -> None:
    async with door() as http:
        told = await streamed(http, "sum.add", arguments={"a": 1})
        url = f"{told[-1]['data']['url']}/events"
        answer = await http.get(url, headers={b"last-event-id": given.encode()})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "INVALID_PARAM")


@pytest.mark.req("RA-12")
async def test_the_events_of_a_call_are_for_its_caller_and_for_those_who_read_all() -> None:
    async with door() as http:
        told = await streamed(http, "sum.add", "bea", arguments={"a": 1})
        url = told[-1]["data"]["url"]
        seen = {
            who: [(await http.get(f"{url}{end}", headers=key(who))).status_code for end in ("", "/events")]
            for who in ("ana", "bea", "bot", "service", "eve")
        }
        foreign = await http.get(url, headers=key("eve"))
        unknown = await http.get("/api/calls/call_x", headers=key("eve"))
    assert seen == {
        "ana": [200] * 2,
        "bea": [200] * 2,
        "bot": [404] * 2,
        "service": [404] * 2,
        "eve": [404] * 2,
    }
    assert foreign.content == unknown.content


async def test_what_is_told_has_no_line_break_of_its_own() -> None:
    @tool("odd.lines", level="read")
    async def lines() -> str:
        """Say several lines."""
        return "one\n\ndata: two\r\nid: 99\u2028event: x"

    async with door(lines) as http:
        told = await streamed(http, "odd.lines")
    assert [one["event"] for one in told] == ["tool.started", "tool.completed", "outcome"]
    assert told[-1]["data"]["result"]["data"] == "one\n\ndata: two\r\nid: 99\u2028event: x"


async def test_a_client_that_does_not_read_makes_nobody_remember_all_for_it() -> None:
    told = 0

    async def endless() -> AsyncGenerator[bytes, None]:
        nonlocal told
        while told < 20_000:
            told += 1
            yield b"piece"
            await asyncio.sleep(0)

    line = EventStream(asyncio.Event()).fed_by(endless())
    for _ in range(10_000):
        await asyncio.sleep(0)
    assert told <= 1_001
    read = 0
    async for _ in line:
        read += 1
    assert read == told == 20_000, "nothing is left out for one that reads on"
