"""Imported operations against a real service: what goes over the wire, and with whose credentials."""

from __future__ import annotations

import json
import logging

import pytest

from tests.contract.bridges.http_service import Answer, ReceivedRequest, Service
from tests.contract.bridges.pet_store import ANA, BOSS, called, document, handrail, parameter

SECURED = document(
    {"/me": {"get": {"operationId": "me", "parameters": [parameter("api_key"), parameter("q")]}}},
    security=[{"inQuery": []}],
    components={
        "securitySchemes": {
            "inQuery": {"type": "apiKey", "in": "query", "name": "api_key"},
            "inHeader": {"type": "apiKey", "in": "header", "name": "X-Key"},
            "inCookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
            "basic": {"type": "http", "scheme": "basic"},
            "oauth": {"type": "oauth2", "flows": {}},
        }
    },
)


@pytest.mark.req("BY-20")
async def test_reads_run_and_what_changes_something_passes_the_same_guard() -> None:
    with Service(lambda heard: Answer(body=b'{"name": "Rex"}')) as service:
        async with handrail(service) as hr:
            levels = {tool.id: (tool.level, tool.danger) for tool in await hr.tools(ANA)}
            assert levels == {
                "shop.addPet": ("write", "moderate"),
                "shop.dropPet": ("destructive", "dangerous"),
                "shop.getPet": ("read", "safe"),
                "shop.hasPet": ("read", "safe"),
                "shop.listPets": ("read", "safe"),
            }
            got = await hr.call("shop.getPet", {"id": "7"}, principal=ANA)
            assert got.result.data == {"name": "Rex"} and got.result.metadata["status"] == 200
            for name, args in (("addPet", {"name": "Tom"}), ("dropPet", {"id": "7"})):
                waiting = await hr.call(f"shop.{name}", args, principal=ANA)
                assert waiting.status == "pending"
            assert [one.method for one in service.heard] == ["GET"]
            await hr.approvals.approve(str(waiting.approval_id), by=BOSS)
            assert (await hr.wait(waiting.call_id, 20)).ok
            assert (service.last.method, service.last.target) == ("DELETE", "/v1/pets/7")
            wrong = await hr.call("shop.getPet", {"id": "7", "idd": 1}, principal=ANA)
            assert wrong.code == "INVALID_PARAM" and len(service.heard) == 2


@pytest.mark.req("BY-20")
async def test_every_argument_goes_to_its_place() -> None:
    given = document(
        {
            "/a/{id}/b/{tags}": {
                "post": {
                    "operationId": "all",
                    "parameters": [
                        parameter("id", "path"),
                        parameter("tags", "path", "array"),
                        parameter("id"),
                        parameter("many", kind="array"),
                        parameter("comma", kind="array", explode=False),
                        parameter("pipe", kind="array", style="pipeDelimited", explode=False),
                        parameter("deep", kind="object", style="deepObject"),
                        parameter("flag", kind="boolean"),
                        {"name": "raw", "in": "query", "content": {"application/json": {"schema": {}}}},
                        parameter("X-Trace", "header"),
                        parameter("choc", "cookie"),
                        parameter("Idempotency-Key", "header"),
                        parameter("Authorization", "header"),
                    ],
                    "requestBody": {
                        "content": {
                            "application/vnd.api+json": {
                                "schema": {"type": "object", "properties": {"id": {"type": "integer"}}}
                            }
                        }
                    },
                }
            }
        }
    )
    args = {
        "id_path": "a/b c?d#e%2e",
        "tags": ["x,y", "z"],
        "id_query": "ü&=",
        "many": ["1", "2"],
        "comma": ["1", "2"],
        "pipe": ["1", "2"],
        "deep": {"k": "v"},
        "flag": True,
        "raw": {"a": [1]},
        "X-Trace": "abc",
        "choc": "a;b",
        "id_body": 5,
    }
    with Service() as service:
        async with handrail(service, given) as hr:
            [tool] = await hr.tools(ANA)
            assert set(tool.input_schema["properties"]) == set(args)
            assert tool.input_schema["required"] == ["id_path", "tags"]
            outcome = await called(hr, "all", args)
            assert outcome.ok, outcome
    heard = service.last
    assert heard.target == (
        "/v1/a/a%2Fb%20c%3Fd%23e%252e/b/x%2Cy,z?id=%C3%BC%26%3D&many=1&many=2&comma=1,2&pipe=1%7C2"
        "&deep%5Bk%5D=v&flag=true&raw=%7B%22a%22%3A%5B1%5D%7D"
    )
    assert heard.headers["x-trace"] == "abc" and heard.headers["cookie"] == "choc=a%3Bb"
    assert heard.headers["content-type"] == "application/vnd.api+json"
    assert json.loads(heard.body) == {"id": 5}
    assert heard.headers["idempotency-key"] == outcome.call_id
    assert "authorization" not in heard.headers


@pytest.mark.req("BY-20")
@pytest.mark.parametrize("id", ["..", ".", "../admin", "a/../../b", "..\\x", "", "a/."])
async def test_no_path_parameter_leads_elsewhere(id: str) -> None:
    with Service() as service:
        async with handrail(service) as hr:
            outcome = await hr.call("shop.getPet", {"id": id}, principal=ANA)
            assert (outcome.status, outcome.code) == ("failed", "INVALID_PARAM")
            assert "id" in str(outcome.result.error)
        assert service.heard == []


@pytest.mark.req("BY-20")
async def test_a_header_cannot_be_broken_into_two() -> None:
    given = document({"/": {"get": {"operationId": "root", "parameters": [parameter("X-A", "header")]}}})
    with Service() as service:
        async with handrail(service, given) as hr:
            for value in ("a\r\nX-Evil: 1", "a\nb", "\x00", "ü"):
                outcome = await hr.call("shop.root", {"X-A": value}, principal=ANA)
                assert outcome.code == "INVALID_PARAM", outcome
        assert service.heard == []


@pytest.mark.req("BY-20")
@pytest.mark.parametrize(
    ("scheme", "secret", "seen"),
    [
        ("inQuery", "s3cr:et/1", "/v1/me?q=x&api_key=s3cr%3Aet%2F1"),
        ("inHeader", "s3cret", "s3cret"),
        ("inCookie", "s3cret", "sid=s3cret"),
        ("basic", "user:s3cret", "Basic dXNlcjpzM2NyZXQ="),
        ("oauth", "s3cret", "Bearer s3cret"),
    ],
)
async def test_credentials_come_from_secrets_and_are_nowhere_to_be_seen(
    scheme: str, secret: str, seen: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    def echo(heard: ReceivedRequest) -> Answer:
        return Answer(body=json.dumps([heard.target, heard.headers]).encode())

    with Service(echo) as service:
        given = {**SECURED, "security": [{scheme: []}]}
        async with handrail(service, given, credentials={scheme: "key"}, secrets={"key": secret}) as hr:
            [tool] = await hr.tools(ANA)
            assert list(tool.input_schema["properties"]) == ["q"]
            outcome = await hr.call("shop.me", {"q": "x"}, principal=ANA)
            assert outcome.ok
            carried = service.last
            assert seen in (
                carried.target,
                carried.headers.get("x-key"),
                carried.headers.get("cookie"),
                carried.headers.get("authorization"),
            )
            told = repr([outcome, list(hr.log.read("acme")), tool.input_schema, caplog.text])
            for hidden in (secret, "s3cret", "dXNlcjpzM2NyZXQ", "s3cr%3Aet"):
                assert hidden not in told


@pytest.mark.req("BY-20")
async def test_a_credential_that_is_not_set_up_is_named_and_nothing_is_sent() -> None:
    with Service() as service:
        async with handrail(service, SECURED, secrets={}) as hr:
            outcome = await hr.call("shop.me", principal=ANA)
            assert outcome.code == "SECRET_MISSING" and "'shop.inQuery'" in str(outcome.result.error)
        assert service.heard == []
