"""The entrance: what it lets through, as whom, and what it says to the rest."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Any

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from handrail import Handrail, Principal
from handrail.platform import platform_of
from handrail.platform.middleware import RequestLimits, SecurityMiddleware

ANA = Principal("acme", "ana")
KEY = {"authorization": "Bearer k1"}


async def tells(scope: Scope, receive: Receive, send: Send) -> None:
    """A door that says who came, and how much they brought."""
    size = 0
    while True:
        message = await receive()
        size += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    if scope["path"] == "/breaks":
        raise RuntimeError("secret plans")
    principal = scope["state"]["principal"]
    body = json.dumps({"user": principal and principal.user, "size": size}).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


async def swallows(scope: Scope, receive: Receive, send: Send) -> None:
    """A door that makes something of its own of every error, as web frameworks do."""
    try:
        await tells(scope, receive, send)
    except Exception:
        await send({"type": "http.response.start", "status": 400, "headers": []})
        await send({"type": "http.response.body", "body": b"bad"})


def client(door: Any = tells, host: str = "127.0.0.1:8000", **bounds: Any) -> httpx.AsyncClient:
    app = SecurityMiddleware(door, platform_of(Handrail(), {"k1": ANA}), RequestLimits(**bounds))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url=f"http://{host}")


async def test_a_key_says_who_calls_and_nothing_else_does() -> None:
    async with client() as http:
        assert (await http.get("/api", headers=KEY)).json()["user"] == "ana"
        assert (await http.get("/api")).json()["user"] is None
        assert (await http.get("/api", headers={"cookie": "handrail_session=k1"})).json()["user"] is None
        assert (await http.get("/api?key=k1")).json()["user"] is None


class Everybody:
    """Lets everybody in as Ana who shows anything."""

    async def principal_of(self, key: str, audience: str | None = None) -> Principal:
        return ANA

    async def principal_from_session(self, token: str) -> Principal:
        return ANA


@pytest.mark.req("RA-13")
async def test_below_an_embed_no_cookie_says_who_looks() -> None:
    app = SecurityMiddleware(tells, replace(platform_of(Handrail()), auth=Everybody()), RequestLimits())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http:
        cookie = {"cookie": "handrail_session=s1"}
        assert (await http.get("/tools", headers=cookie)).json()["user"] == "ana"
        for path in ("/embed/he_x", "/embed/he_x/draw"):
            assert (await http.get(path, headers=cookie)).json()["user"] is None


@pytest.mark.parametrize("mark", ["hj", "he", "hl", "hr"])
async def test_no_line_of_the_log_holds_a_secret_that_stands_in_an_address(
    mark: str, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "5e" * 32
    with caplog.at_level(logging.INFO, "handrail.access"):
        async with client() as http:
            await http.get(f"/join/{mark}_acme_{'0a' * 8}_{secret}/more")
    [record] = caplog.records
    said = record.getMessage() + str(record.__dict__)
    assert secret not in said and f"/join/{mark}_acme_{'0a' * 8}_•••/more" in said


@pytest.mark.req("RA-12")
@pytest.mark.parametrize(
    "given", ["Bearer k2", "Bearer ", "Bearer", "Basic k1", "k1", "Bearer k1 k1", "\xff"]
)
async def test_a_key_that_does_not_hold_is_refused_in_one_way(given: str) -> None:
    async with client() as http:
        answer = await http.get("/api", headers={b"authorization": given.encode("latin-1")})
    assert answer.status_code == 401 and answer.json()["error"]["code"] == "NOT_SIGNED_IN"
    assert "as `Authorization: Bearer …`" in answer.json()["error"]["message"]
    assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_a_name_that_is_not_the_servers_says_which_setting_has_them() -> None:
    async with client() as http:
        answer = await http.get("/api", headers={"host": "tools.example"})
    assert "the setting `hosts`" in answer.json()["error"]["message"]


@pytest.mark.fault("F28")
@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example:8000"}, 421),
        ({"host": ""}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"origin": "http://127.0.0.1:8000.evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"}, 200),
        ({"host": "LOCALHOST:8000"}, 200),
        ({"host": "[::1]:8000"}, 200),
    ],
)
async def test_where_a_request_comes_from_decides_before_any_key(headers: dict[str, str], code: int) -> None:
    async with client() as http:
        answer = await http.post("/mcp", headers={**KEY, **headers})
    assert answer.status_code == code


@pytest.mark.parametrize("around", [(b"", b" "), (b"\t ", b""), (b" ", b" \t")])
async def test_white_space_around_a_header_is_no_part_of_it(around: tuple[bytes, bytes]) -> None:
    before, after = around

    async def shows(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": scope["headers"]})
        await send({"type": "http.response.body", "body": b""})

    async with client(shows) as http:
        answer = await http.get("/mcp", headers={b"mcp-name": before + b"a tool" + after})
    assert [value for name, value in answer.headers.raw if name == b"mcp-name"] == [b"a tool"]


async def test_under_any_name_a_page_of_another_place_is_still_refused() -> None:
    async with client(host="tools.example:80", hosts=frozenset({"*"})) as http:
        assert (await http.post("/api", headers=KEY)).status_code == 200
        there = {"origin": "http://other.example"}
        assert (await http.post("/api", headers={**KEY, **there})).status_code == 403


@pytest.mark.parametrize("door", [tells, swallows])
async def test_a_body_that_is_too_large_is_refused_whoever_reads_it(door: Any) -> None:
    async def parts() -> Any:
        for _ in range(3):
            yield b"x" * 50

    async with client(door, body=100) as http:
        assert (await http.post("/api", content=b"x" * 100)).json()["size"] == 100
        whole = await http.post("/api", content=b"x" * 101)
        in_parts = await http.post("/api", content=parts())
        odd = await http.post("/api", headers={"content-length": "many"})
    for answer in (whole, in_parts, odd):
        assert answer.status_code == 413 and answer.json()["error"]["code"] == "TOO_LARGE"


@pytest.mark.req("RA-12")
async def test_a_key_that_calls_too_often_is_told_when_to_come_back() -> None:
    async with client(rate=0.5) as http:
        assert (await http.get("/api", headers=KEY)).status_code == 200
        answer = await http.get("/api", headers=KEY)
        assert answer.status_code == 429 and int(answer.headers["retry-after"]) >= 1
        assert (await http.get("/healthz", headers=KEY)).status_code == 200


async def test_an_error_inside_is_logged_under_an_id_and_told_without_its_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with client() as http:
        answer = await http.get("/breaks", headers={**KEY, "x-request-id": "mine-1"})
        odd = await http.get("/api", headers={"x-request-id": "no spaces please"})
    assert answer.status_code == 500 and answer.headers["x-request-id"] == "mine-1"
    assert "mine-1" in answer.text and "secret plans" not in answer.text and "secret plans" in caplog.text
    assert odd.headers["x-request-id"].startswith("req_")


async def test_each_request_leaves_one_line_without_its_query(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "handrail.access")
    async with client() as http:
        await http.get("/api/tools?q=private", headers=KEY)
    [told] = [record.__dict__["fields"] for record in caplog.records if "fields" in record.__dict__]
    assert (told["path"], told["status"], told["tenant"], told["user"]) == ("/api/tools", 200, "acme", "ana")
    assert "private" not in str(told) and "k1" not in str(told)


async def test_no_address_writes_a_line_of_its_own_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "handrail.access"):
        async with client() as http:
            await http.get("/x%0A12:00:00%20INFO%20forged%1B%5B2J")
    assert caplog.messages and all(one.isprintable() for one in caplog.messages)


async def test_whoever_looks_in_a_browser_reads_a_page_and_a_program_reads_json() -> None:
    evil = {"origin": "https://evil.example", "accept": "text/html,*/*"}
    async with client() as http:
        page = await http.post("/tools/x/run", headers=evil)
        assert page.status_code == 403 and page.headers["content-type"].startswith("text/html")
        assert "Pages of other places may not call this server." in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
        for path in ("/api/tools", "/mcp"):
            told = await http.post(path, headers=evil)
            assert told.json()["error"]["code"] == "WRONG_ORIGIN"
        told = await http.post("/tools/x/run", headers={"origin": "https://evil.example"})
        assert told.json()["error"]["code"] == "WRONG_ORIGIN"
