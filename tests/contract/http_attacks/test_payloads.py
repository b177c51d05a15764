"""What no proper client would send to REST is refused in words, on both databases, wherever it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest

from tests.contract.http_attacks.attacked_server import AttackedServer, attacked_server, parse_strict_json
from tests.contract.http_attacks.injection import (
    WHOLE,
    odd_headers,
    refused,
    taking_bodies,
    texts_in_addresses,
    texts_in_bodies,
    texts_of,
    with_at,
)
from tests.contract.http_attacks.payloads import NOT_JSON, NUMBERS, SOME
from tests.contract.http_attacks.routes import asked


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def here(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AttackedServer]:
    if request.param == "sqlite":
        url, drop = f"sqlite:///{tmp_path_factory.mktemp('bodies') / 'handrail.db'}", None
    else:
        server = request.getfixturevalue("postgres")
        drop = server.create("handrail_template")
        url = server.url(drop)
    with attacked_server(url) as found:
        yield found
    if drop is not None:
        server.drop(drop)


@pytest.fixture(scope="module")
def owner(here: AttackedServer) -> Iterator[httpx.Client]:
    with here.client("owner") as client:
        yield client


@pytest.mark.req("RA-12")
@pytest.mark.fault("F30")
def test_what_is_not_json_is_refused_by_every_route(here: AttackedServer, owner: httpx.Client) -> None:
    for way, given in taking_bodies(here):
        for name, content in NOT_JSON.items():
            if content:
                sent = {"content-type": "application/json"}
                answer = asked(owner, way.method, way.path(given), content=content, headers=sent)
                refused(answer, "", 400)
                assert answer.json()["error"]["code"] == "INVALID_JSON", (way.name, name)
                assert len(answer.content) < 500


@pytest.mark.req("RA-12")
@pytest.mark.fault("F30")
def test_what_is_not_declared_as_json_is_refused_by_every_route(
    here: AttackedServer, owner: httpx.Client
) -> None:
    kinds = ("", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
             "application/json; charset=utf-16", "application/jsonx", "json", "\xe9", "*/*")  # fmt: skip
    for way, given in taking_bodies(here):
        for kind in kinds:
            sent = [(b"content-type", kind.encode("latin-1"))]
            answer = asked(owner, way.method, way.path(given), content=b'{"a": 1}', headers=sent)
            refused(answer, "", 415)


@pytest.mark.fault("F30")
def test_any_text_in_any_place_is_taken_or_refused(here: AttackedServer, owner: httpx.Client) -> None:
    texts_in_bodies(here, owner, SOME)
    texts_in_addresses(here, owner, SOME)
    odd_headers(owner)


@pytest.mark.fault("F30")
def test_any_number_in_any_place_of_a_body_is_taken_or_refused(
    here: AttackedServer, owner: httpx.Client
) -> None:
    for way, given in taking_bodies(here):
        whole = WHOLE[way.route.operation_id or ""]
        for at in texts_of(whole):
            for number in NUMBERS:
                content = json.dumps(with_at(whole, at, "<number>")).replace('"<number>"', number).encode()
                sent = {"content-type": "application/json"}
                refused(asked(owner, way.method, way.path(given), content=content, headers=sent), number)


@pytest.mark.fault("F30")
@pytest.mark.parametrize("number", NUMBERS, ids=lambda one: one[:8])
def test_a_number_of_any_size_reaches_a_tool_or_is_refused(
    here: AttackedServer, owner: httpx.Client, number: str
) -> None:
    for at in ("whole", "broken", "anything"):
        for deep in (number, f"[{number}]", f'{{"a": {number}}}'):
            for way in ("call", "stream", "explain"):
                content = f'{{"arguments": {{"{at}": {deep}}}}}'.encode()
                sent = {"content-type": "application/json", "idempotency-key": f"{at}{deep}{way}"[:200]}
                answer = asked(owner, "POST", f"/api/tools/echo.count/{way}", content=content, headers=sent)
                refused(answer, number)
                if answer.headers["content-type"] == "application/json":
                    parse_strict_json(answer.text)
    for way_in in ("/api/events?limit=500", "/api/runs", "/api/dead-letters", "/api/sessions"):
        answer = owner.get(way_in)
        refused(answer, number, 200)
        parse_strict_json(answer.text)
