"""What cannot be read is refused in one shape, whatever it is and whoever finds it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import tool
from handrail.core.tell.log import MemoryLog
from handrail.doors.http.errors import ApiError
from handrail.doors.http.parameters import read_json
from tests.unit.doors.http.rest_app import ApiClient, door, key

JSON = {"content-type": "application/json"}
CALL = "/api/tools/sum.add/call"


def is_uniform(body: Any) -> bool:
    error = body["error"]
    return (
        set(body) == {"error"}
        and {"code", "message"} <= set(error) <= {"code", "message", "fields", "hint"}
        and error["code"].isupper()
        and "Traceback" not in error["message"]
    )


@pytest.mark.req("RA-12")
@pytest.mark.fault("F30")
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b'{"arguments": {"a": NaN}}', 400),
        (b'{"arguments": {"a": -Infinity}}', 400),
        (b'{"arguments": {"a": "\\ud800"}}', 400),
        (b'{"arguments": {"a": "\xed\xa0\x80"}}', 400),
        (b'{"arguments": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", 400),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, 400),
        (b'{"arguments": {"a": ' + b"9" * 100_000 + b"}}", 400),
        (b'{"arguments": {"a": ' + b"9" * 4_000 + b"}}", 422),
        (b'{"arguments": {"a": 1e999}}', 422),
        (b"\xff\xfe", 400),
        (b"[]", 422),
        (b"null", 422),
        (b'"text"', 422),
        (b'{"arguments": []}', 422),
        (b'{"arguments": {"a": 1}, "session": 7}', 422),
        (b'{"arguments": {"a": 1}, "session": ""}', 422),
        (b'{"arguments": {"a": 1}, "session": "a\\u0000b"}', 422),
        (b'{"arguments": {"a": 1}, "nope": 1}', 422),
        (b'{"arguments": {"a": "\\u0000"}}', 422),
    ],
)
async def test_a_body_that_is_no_call_is_refused_in_words(body: bytes, status: int) -> None:
    async with door() as http:
        answer = await http.post(CALL, content=body, headers=JSON)
    assert answer.status_code == status
    assert is_uniform(answer.json())


@pytest.mark.req("RA-12")
@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "", "application/json; charset=latin-1", "json"],
)
async def test_a_body_of_another_kind_is_refused(kind: str) -> None:
    async with door() as http:
        for path in (CALL, "/api/approvals/x/approve"):
            answer = await http.post(path, content=b'{"arguments": {"a": 1}}', headers={"content-type": kind})
            assert answer.status_code == 415 and is_uniform(answer.json())


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=utf-8", "application/ld+json"]
)
async def test_json_is_known_by_any_of_its_names(kind: str) -> None:
    async with door() as http:
        answer = await http.post(CALL, content=b'{"arguments": {"a": 1}}', headers={"content-type": kind})
    assert answer.status_code == 200


@pytest.mark.req("RA-12")
@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/nothing", 404, "NOT_FOUND"),
        ("GET", "/api/tools/", 404, "NOT_FOUND"),
        ("GET", "/", 404, "NOT_FOUND"),
        ("PUT", "/api/tools/sum-add", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/api/tools/sum-add/call", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/api/runs?limit=x", 422, "INVALID_PARAM"),
        ("GET", "/api/runs?limit=0", 422, "INVALID_PARAM"),
        ("GET", "/api/runs?status=happy", 422, "INVALID_PARAM"),
        ("GET", "/api/runs?after=nowhere", 422, "INVALID_PARAM"),
        ("GET", "/api/runs?since=nan", 422, "INVALID_PARAM"),
        ("GET", "/api/events?after=-1", 422, "INVALID_PARAM"),
        ("GET", "/api/events?after=99999999999999999999", 422, "INVALID_PARAM"),
        ("GET", "/api/usage?by=moon", 422, "INVALID_PARAM"),
        ("GET", "/api/usage?since=1e300", 422, "INVALID_PARAM"),
        ("GET", "/api/tools/search", 422, "INVALID_PARAM"),
        ("GET", "/api/calls/x?wait=61", 422, "INVALID_PARAM"),
        ("GET", "/api/approvals/%00", 404, "NOT_FOUND"),
        ("GET", "/api/runs/%E2%80%AE", 404, "NOT_FOUND"),
        ("GET", f"/api/calls/{'x' * 5_000}", 404, "NOT_FOUND"),
    ],
)
async def test_every_refusal_has_the_same_shape(method: str, path: str, status: int, code: str) -> None:
    async with door() as http:
        answer = await http.request(method, path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert is_uniform(answer.json()) and answer.headers["x-request-id"]


async def test_what_an_address_takes_is_told_whole() -> None:
    async with door() as http:
        answers = [await http.put(path) for path in ("/api/tools/sum-add", "/api/tools/search", "/api/keys")]
    assert [one.headers["allow"] for one in answers] == ["DELETE, GET, PATCH", "GET", "GET, POST"]


@pytest.mark.req("RA-12")
async def test_an_error_of_ours_tells_its_request_and_nothing_else() -> None:
    class Breaks(MemoryLog):
        async def runs(self, *_: object, **__: object) -> Any:
            raise RuntimeError("postgres://user:hunter2@db")

    async with door(log=Breaks()) as http:
        answer = await http.get("/api/runs", headers=key("ana") | {"x-request-id": "mine-7"})
    assert answer.status_code == 500 and is_uniform(answer.json())
    assert "mine-7" in answer.text and "hunter2" not in answer.text


@pytest.mark.fault("F30")
async def test_a_result_that_json_cannot_say_is_told_all_the_same() -> None:
    @tool("odd.text", level="read", output_schema={})
    async def odd() -> Any:
        """Say something odd."""
        return {"half": "\ud800", "no": float("nan")}

    async with door(odd) as http:
        answer = await http.post("/api/tools/odd.text/call")
    assert answer.status_code == 200
    json.loads(answer.content)


@pytest.mark.fault("F30")
@given(
    st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    told = _read(body)
    if isinstance(told, ApiError):
        assert told.status == 400
        assert is_uniform(json.loads(told.body))
    else:
        assert json.loads(body) == told


def _read(body: bytes) -> Any:
    try:
        return read_json(body, "application/json")
    except ApiError as refused:
        return refused


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.fault("F30")
@given(json_values)
async def test_any_json_as_a_call_is_answered_without_a_fault(value: Any) -> None:
    async with door() as http:
        for body in (value, {"arguments": value}, {"arguments": {"a": value}}):
            text = json.dumps(body).encode("utf-8", "surrogatepass")
            answer = await http.post(CALL, content=text, headers=JSON)
            assert answer.status_code < 500
            assert answer.status_code < 400 or is_uniform(answer.json())


async def test_a_body_that_is_too_large_is_refused_by_the_entrance() -> None:
    async def parts() -> Any:
        for _ in range(12):
            yield b" " * 2**20

    async with door() as http:
        answers = [await _post(http, parts()), await _post(http, b" " * (11 * 2**20))]
    assert [(one.status_code, one.json()["error"]["code"]) for one in answers] == [(413, "TOO_LARGE")] * 2


async def _post(http: ApiClient, content: Any) -> Any:
    return await http.post(CALL, content=content, headers=JSON)
