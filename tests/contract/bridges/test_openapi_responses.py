"""Imported operations against a real service: what comes of its answers, and of its silence."""

from __future__ import annotations

import threading

import pytest

from handrail import Handrail, Outcome, Policy
from handrail.bridges.openapi import import_openapi
from tests.contract.bridges.http_service import Answer, ReceivedRequest, Service
from tests.contract.bridges.pet_store import ANA, PETS, called, document, handrail


@pytest.mark.req("BY-20")
async def test_an_answer_that_is_no_success_is_a_failure_with_status_and_excerpt() -> None:
    def reply(heard: ReceivedRequest) -> Answer:
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

        def reply(heard: ReceivedRequest) -> Answer:
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

    def silent(heard: ReceivedRequest) -> Answer:
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
