"""Imported operations against a real service: what goes over the wire, and what comes of the answers."""

from __future__ import annotations

import json
import logging
import threading
from typing import Any

import pytest

from handrail import Handrail, Outcome, Policy, Principal
from handrail.bridges.openapi import import_openapi
from tests.contract.bridges.service import Answer, Heard, Service

ANA = Principal("acme", "ana")
BOSS = Principal("acme", "boss", permissions={"*"})


def parameter(name: str, where: str = "query", kind: Any = "string", **more: Any) -> dict[str, Any]:
    return {"name": name, "in": where, "schema": {"type": kind}, "required": where == "path", **more}


def document(paths: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": paths, **more}


PETS = document(
    {
        "/pets": {
            "get": {"operationId": "listPets", "parameters": [parameter("limit", kind="integer")]},
            "post": {
                "operationId": "addPet",
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
                                "required": ["name"],
                            }
                        }
                    },
                },
            },
        },
        "/pets/{id}": {
            "parameters": [parameter("id", "path")],
            "get": {"operationId": "getPet"},
            "delete": {"operationId": "dropPet"},
            "head": {"operationId": "hasPet"},
        },
    }
)


def handrail(service: Service, given: Any = PETS, **more: Any) -> Handrail:
    secrets = more.pop("secrets", None)
    imported = import_openapi(given, "shop", base_url=f"{service.url}/v1/", **more)
    return Handrail(imported.tools, policy=Policy(capabilities=["read", "write", "network"]), secrets=secrets)


async def called(
    hr: Handrail, tool: str, args: dict[str, Any] | None = None, who: Principal = ANA
) -> Outcome:
    """A call by a person who confirms their own."""
    outcome = await hr.call(f"shop.{tool}", args or {}, principal=who)
    if outcome.status == "pending":
        await hr.approvals.approve(str(outcome.approval_id), by=BOSS)
        outcome = await hr.wait(outcome.call_id, 20)
    return outcome


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
async def test_an_answer_that_is_no_success_is_a_failure_with_status_and_excerpt() -> None:
    def reply(heard: Heard) -> Answer:
        if heard.target.endswith("/404"):
            return Answer(404, b'{"detail": "no such pet"}')
        if heard.target.endswith("/500"):
            return Answer(500, b"x" * 100_000, "text/html")
        if heard.target.endswith("/lies"):
            return Answer(200, b"<html>")
        if heard.target.endswith("/error"):
            return Answer(200, b'{"error": "not really"}')
        if heard.target.endswith("/none"):
            return Answer(204, b"")
        return Answer(200, b"plain words", "text/plain; charset=nonsense")

    with Service(reply) as service:
        async with handrail(service) as hr:

            async def got(id: str) -> Outcome:
                return await hr.call("shop.getPet", {"id": id}, principal=ANA)

            missing = await got("404")
            assert (missing.status, missing.code) == ("failed", "HTTP_ERROR")
            assert missing.result.data == {"status": 404, "body": {"detail": "no such pet"}}
            assert "status 404" in missing.to_model()
            broken = await got("500")
            assert broken.result.data == {"status": 500, "body": "x" * 2_000}
            assert (await got("lies")).code == "HTTP_ERROR"
            assert (await got("error")).result.data == {"error": "not really"}
            empty = await got("none")
            assert empty.ok and empty.result.data is None
            assert (await got("text")).to_model() == "plain words"


@pytest.mark.req("BY-20")
async def test_a_large_answer_is_not_read_to_its_end() -> None:
    with Service(lambda heard: Answer(body=b'"' + b"x" * 5_000_000 + b'"')) as service:
        async with handrail(service, most_bytes=10_000) as hr:
            outcome = await hr.call("shop.listPets", principal=ANA)
            assert outcome.code == "HTTP_ERROR" and "larger than 10000 bytes" in str(outcome.result.error)


@pytest.mark.req("BY-20")
async def test_an_answer_that_is_packed_though_nobody_asked_is_not_unpacked() -> None:
    packed = Answer(body=b"\x1f\x8b", headers=(("Content-Encoding", "gzip"),))
    with Service(lambda heard: packed) as service:
        async with handrail(service) as hr:
            assert (await hr.call("shop.listPets", principal=ANA)).code == "HTTP_ERROR"
        assert service.last.headers["accept-encoding"] == "identity"


def redirecting(to: str) -> Answer:
    return Answer(302, b"", headers=(("Location", to),))


@pytest.mark.req("BY-20")
async def test_a_read_is_redirected_on_its_own_server_only() -> None:
    with Service() as other:

        def reply(heard: Heard) -> Answer:
            if heard.target == "/v1/pets/near":
                return redirecting("/v1/pets/7")
            if heard.target == "/v1/pets/round":
                return redirecting("/v1/pets/round")
            if heard.target == "/v1/pets/7":
                return Answer(body=b'"here"')
            return redirecting(f"{other.url}/v1/pets/7")

        with Service(reply) as service:
            given = {**PETS, "security": [{"k": []}]}
            given["components"] = {"securitySchemes": {"k": {"type": "http", "scheme": "bearer"}}}
            async with handrail(service, given, secrets={"shop.k": "tok-3n"}) as hr:
                near = await hr.call("shop.getPet", {"id": "near"}, principal=ANA)
                assert near.result.data == "here"
                far = await hr.call("shop.getPet", {"id": "far"}, principal=ANA)
                assert far.code == "HTTP_ERROR" and "redirects elsewhere" in str(far.result.error)
                circle = await hr.call("shop.getPet", {"id": "round"}, principal=ANA)
                assert "in a circle" in str(circle.result.error)
                dropped = await called(hr, "dropPet", {"id": "near"})
                assert dropped.code == "HTTP_ERROR"
        assert other.heard == []


@pytest.mark.req("BY-20")
async def test_a_service_that_is_away_or_slow_is_told_without_internals() -> None:
    with Service() as service:
        gone = service.url
    imported = import_openapi(PETS, "shop", base_url=gone, timeout=20)
    async with Handrail(imported.tools, policy=Policy(capabilities=["read", "network"])) as hr:
        outcome = await hr.call("shop.listPets", principal=ANA)
        assert (outcome.status, outcome.code) == ("failed", "HTTP_ERROR")
        assert "could not be reached" in str(outcome.result.error) and gone not in outcome.to_model()


@pytest.mark.req("BY-20", "BY-12")
@pytest.mark.fault("F02")
async def test_a_silent_service_is_left_and_nobody_claims_to_know_what_a_write_did() -> None:
    go = threading.Event()

    def silent(heard: Heard) -> Answer:
        go.wait(20)
        return Answer()

    with Service(silent) as service:
        async with handrail(service, timeout=0.1) as hr:
            read = await hr.call("shop.listPets", principal=ANA)
            assert (read.status, read.code) == ("failed", "TIMEOUT")
            write = await called(hr, "addPet", {"name": "Tom"})
            assert (write.status, write.code) == ("needs_review", "UNKNOWN_OUTCOME")
        go.set()
    imported = import_openapi(PETS, "shop", base_url=service.url)
    async with Handrail(imported.tools, policy=Policy(capabilities=["write", "network"])) as hr:
        unsent = await called(hr, "addPet", {"name": "Tom"})
        assert (unsent.status, unsent.code) == ("failed", "HTTP_ERROR")


@pytest.mark.req("BY-20")
@pytest.mark.parametrize("body", [b'"' + b"x" * 50_000 + b'"', b"<html>"], ids=["large", "no JSON"])
async def test_a_write_whose_answer_cannot_be_read_is_done_all_the_same(body: bytes) -> None:
    with Service(lambda heard: Answer(201, body)) as service:
        async with handrail(service, most_bytes=10_000) as hr:
            outcome = await called(hr, "addPet", {"name": "Tom"})
            assert outcome.ok and outcome.to_model().startswith("Done (status 201).")
            assert (await hr.call("shop.listPets", principal=ANA)).code == "HTTP_ERROR"


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

    def echo(heard: Heard) -> Answer:
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


@pytest.mark.req("BY-20")
async def test_answers_are_held_to_the_document_unless_nothing_is_promised() -> None:
    pet = {"$ref": "#/components/schemas/Pet"}
    given = document(
        {
            "/pet": {
                "get": {
                    "operationId": "pet",
                    "responses": {
                        200: {
                            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}
                        }
                    },
                }
            }
        },
        components={
            "schemas": {
                "Pet": {
                    "type": "object",
                    "properties": {"age": {"type": "integer"}, "child": pet},
                    "required": ["age"],
                }
            }
        },
    )
    answers = [b'{"age": 3, "child": {"age": 1}}', b'{"age": 3, "child": {}}']
    with Service(lambda heard: Answer(body=answers[len(service.heard) - 1])) as service:
        async with handrail(service, given) as hr:
            assert (await hr.call("shop.pet", principal=ANA)).result.data["child"] == {"age": 1}
            assert (await hr.call("shop.pet", principal=ANA)).code == "INVALID_OUTPUT"
        service.heard.pop()
        async with handrail(service, given, outputs=False) as hr:
            assert (await hr.call("shop.pet", principal=ANA)).result.data == {"age": 3, "child": {}}
