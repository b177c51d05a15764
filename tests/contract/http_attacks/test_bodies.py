"""What no proper client would send to REST is refused in words, on both databases, wherever it stands."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.contract.http_attacks.bodies import NOT_JSON, NUMBERS, TEXTS
from tests.contract.http_attacks.doors import Way, asked, ways
from tests.contract.http_attacks.premises import Premises, inside, premises, strictly

WHOLE: dict[str, Any] = {
    "approve": {"arguments": {"text": "x"}, "standing": False},
    "call_tool": {"arguments": {"text": "x"}, "session": "s", "digest": "d"},
    "explain_call": {"arguments": {"text": "x"}, "session": "s", "digest": "d"},
    "stream_call": {"arguments": {"text": "x"}, "session": "s", "digest": "d"},
    "override_tool": {"name": "n", "description": "d", "category": "c", "icon": "i"},
    "reject": {"reason": "r"},
    "respond": {"data": {"a": "x"}, "output": "o"},
    "save_role": {"permissions": ["runs.read"]},
    "make_key": {"name": "n", "user": "u", "agent": "a", "permissions": ["runs.read"], "tools": ["echo.*"]},
    "add_member": {"email": "a@example.com", "roles": ["viewer"], "name": "n"},
}
"""A body that fits for every route that takes one, with all of its texts."""


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def here(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Premises]:
    if request.param == "sqlite":
        url, drop = f"sqlite:///{tmp_path_factory.mktemp('bodies') / 'handrail.db'}", None
    else:
        server = request.getfixturevalue("postgres")
        drop = server.create("handrail_template")
        url = server.url(drop)
    with premises(url) as found:
        yield found
    if drop is not None:
        server.drop(drop)


@pytest.fixture(scope="module")
def owner(here: Premises) -> Iterator[httpx.Client]:
    with here.client("owner") as client:
        yield client


def taking_bodies(place: Premises) -> Iterator[tuple[Way, dict[str, str]]]:
    """The ways that take a body, each with an id that is there."""
    for way in ways(place):
        if "requestBody" in (way.route.openapi_extra or {}):
            assert way.route.operation_id in WHOLE, f"{way.name}: say in WHOLE what it takes"
            known = {**place.here.ids, "slug": ["echo.say"]}
            yield way, {at: known[at][0] for at in way.places}


def refused(answer: httpx.Response, sent: str, *status: int) -> None:
    told = (answer.status_code, answer.text)
    assert answer.status_code in status if status else answer.status_code < 500, told
    assert inside(answer, sent) is None, told
    if answer.status_code >= 400:
        assert set(answer.json()["error"]) <= {"code", "message", "fields", "hint"}


@pytest.mark.req("RA-12")
@pytest.mark.fault("F30")
def test_what_is_not_json_is_refused_by_every_route(here: Premises, owner: httpx.Client) -> None:
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
def test_what_is_not_declared_as_json_is_refused_by_every_route(here: Premises, owner: httpx.Client) -> None:
    kinds = ("", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
             "application/json; charset=utf-16", "application/jsonx", "json", "\xe9", "*/*")  # fmt: skip
    for way, given in taking_bodies(here):
        for kind in kinds:
            sent = [(b"content-type", kind.encode("latin-1"))]
            answer = asked(owner, way.method, way.path(given), content=b'{"a": 1}', headers=sent)
            refused(answer, "", 415)


def _texts(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, str):
        yield at
    elif isinstance(value, (dict, list)):
        for step in value if isinstance(value, dict) else range(len(value)):
            yield from _texts(value[step], (*at, step))


def _with(body: Any, at: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(body)
    inner = changed
    for step in at[:-1]:
        inner = inner[step]
    inner[at[-1]] = value
    return changed


@pytest.mark.fault("F30")
def test_any_text_in_any_place_of_a_body_is_taken_or_refused(here: Premises, owner: httpx.Client) -> None:
    for way, given in taking_bodies(here):
        whole = WHOLE[way.route.operation_id or ""]
        if "digest" in whole:
            whole = {name: part for name, part in whole.items() if name != "digest"}
        for at in _texts(whole):
            for text in TEXTS:
                sent = json.dumps(_with(whole, at, text))
                answer = asked(
                    owner,
                    way.method,
                    way.path(given),
                    content=sent.encode(),
                    headers={"content-type": "application/json"},
                )
                refused(answer, f"{sent} {text}")


@pytest.mark.fault("F30")
def test_any_number_in_any_place_of_a_body_is_taken_or_refused(here: Premises, owner: httpx.Client) -> None:
    for way, given in taking_bodies(here):
        whole = WHOLE[way.route.operation_id or ""]
        for at in _texts(whole):
            for number in NUMBERS:
                content = json.dumps(_with(whole, at, "<number>")).replace('"<number>"', number).encode()
                sent = {"content-type": "application/json"}
                refused(asked(owner, way.method, way.path(given), content=content, headers=sent), number)


@pytest.mark.fault("F30")
@pytest.mark.parametrize("number", NUMBERS, ids=lambda one: one[:8])
def test_a_number_of_any_size_reaches_a_tool_or_is_refused(
    here: Premises, owner: httpx.Client, number: str
) -> None:
    for at in ("whole", "broken", "anything"):
        for deep in (number, f"[{number}]", f'{{"a": {number}}}'):
            for way in ("call", "stream", "explain"):
                content = f'{{"arguments": {{"{at}": {deep}}}}}'.encode()
                sent = {"content-type": "application/json", "idempotency-key": f"{at}{deep}{way}"[:200]}
                answer = asked(owner, "POST", f"/api/tools/echo.count/{way}", content=content, headers=sent)
                refused(answer, number)
                if answer.headers["content-type"] == "application/json":
                    strictly(answer.text)
    for way_in in ("/api/events?limit=500", "/api/runs", "/api/dead-letters", "/api/sessions"):
        answer = owner.get(way_in)
        refused(answer, number, 200)
        strictly(answer.text)


@pytest.mark.fault("F30")
def test_any_text_in_a_path_a_query_or_a_header_is_taken_or_refused(
    here: Premises, owner: httpx.Client
) -> None:
    for way in ways(here):
        named = {one.alias for one in way.route.dependant.query_params}
        for text in TEXTS:
            written = quote(text, safe="")
            if way.places and text:
                refused(way.go(owner, dict.fromkeys(way.places, written)), f"{text} {written}")
            for name in sorted(named):
                refused(way.go(owner, dict.fromkeys(way.places, "x"), params={name: text}), text)
    for name in ("idempotency-key", "prefer", "last-event-id", "x-request-id", "accept", "cookie"):
        for value in (b"", b"\xff", b"a" * 300, b"respond-async", b"-1", b"1" * 30, b"\x80\x81", b'a"b'):
            for path in ("/api/tools/echo.say/call", "/api/tools/echo.say/stream"):
                headers = [(name.encode(), value)]
                refused(asked(owner, "POST", path, headers=headers), value.decode("latin-1"))
            refused(asked(owner, "GET", "/api/events", headers=[(name.encode(), value)]), "")
