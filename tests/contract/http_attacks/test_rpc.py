"""What is not a proper message at the MCP door gets a proper answer, and the door stays open."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import given, settings

from tests.contract.http_attacks.attacked_server import AttackedServer
from tests.contract.http_attacks.payloads import NOT_JSON, NUMBERS
from tests.contract.http_attacks.rpc_messages import (
    BOTH,
    MODERN,
    REVISIONS,
    RpcMessage,
    broken,
    check,
    messages,
    posted,
)

# The server runs in a thread beside, and may well use chance while an example is drawn.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")

HEADERS = {"content-type": "application/json", "accept": BOTH}
NO_MESSAGE: dict[str, Any] = {
    "a batch": [{"jsonrpc": "2.0", "id": 1, "method": "ping"}],
    "an empty batch": [],
    "a number": 7,
    "a text": "ping",
    "null": None,
    "an empty object": {},
    "no version": {"id": 1, "method": "ping"},
    "another version": {"jsonrpc": "1.0", "id": 1, "method": "ping"},
    "a version that is a number": {"jsonrpc": 2.0, "id": 1, "method": "ping"},
    "no method": {"jsonrpc": "2.0", "id": 1},
    "a method that is no text": {"jsonrpc": "2.0", "id": 1, "method": {"a": 1}},
    "params that are a list": {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]},
    "an id that is null": {"jsonrpc": "2.0", "id": None, "method": "ping"},
    "an id that is true": {"jsonrpc": "2.0", "id": True, "method": "ping"},
    "an id that is broken": {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
    "an id without an end": {"jsonrpc": "2.0", "id": 10**300, "method": "ping"},
    "an id that is a list": {"jsonrpc": "2.0", "id": [1], "method": "ping"},
    "both ends": {"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}},
}


@pytest.fixture(scope="module")
def client(attacked: AttackedServer) -> Iterator[httpx.Client]:
    with attacked.client("owner", by="key") as found:
        yield found


@pytest.mark.fault("F30")
@pytest.mark.parametrize("name", NOT_JSON)
@pytest.mark.parametrize("revision", ["", "2025-06-18", MODERN])
def test_what_is_not_json_is_a_parse_error(
    attacked: AttackedServer, client: httpx.Client, name: str, revision: str
) -> None:
    headers = HEADERS | ({"mcp-protocol-version": revision} if revision else {})
    answer = posted(client, NOT_JSON[name], headers)
    found = check(attacked, answer, NOT_JSON[name])
    assert found is not None
    assert (answer.status_code, found["error"]["code"], found["id"]) == (400, -32700, None), found


@pytest.mark.fault("F30")
@pytest.mark.parametrize("name", NO_MESSAGE)
def test_what_is_no_message_is_an_invalid_request(
    attacked: AttackedServer, client: httpx.Client, name: str
) -> None:
    content = json.dumps(NO_MESSAGE[name]).encode()
    answer = posted(client, content, HEADERS)
    found = check(attacked, answer, content)
    assert found is not None
    assert (answer.status_code, found["error"]["code"], found["id"]) == (400, -32600, None), found


@pytest.mark.fault("F30")
@pytest.mark.parametrize("revision", REVISIONS)
def test_the_messages_that_are_broken_below_are_good_ones(
    attacked: AttackedServer, client: httpx.Client, revision: str
) -> None:
    for sent in messages(revision):
        if "requestState" in sent.body["params"] or (revision == MODERN and sent.body["method"] == "ping"):
            continue
        found = check(attacked, posted(client, json.dumps(sent.body).encode(), sent.fitting()), b"")
        assert found is not None and "result" in found, (sent.body, found)


@pytest.mark.fault("F30")
@settings(max_examples=250, derandomize=True, database=None)
@given(sent=broken())
def test_something_wrong_at_any_place_is_said_in_words(
    attacked: AttackedServer, client: httpx.Client, sent: RpcMessage
) -> None:
    content = json.dumps(sent.body).encode()
    found = check(attacked, posted(client, content, sent.fitting()), content)
    given = sent.body.get("id")
    if found is not None and type(given) in (int, str) and "id" in found and "result" in found:
        assert found["id"] == given


@pytest.mark.fault("F30")
@pytest.mark.parametrize("number", NUMBERS, ids=lambda one: one[:8])
@pytest.mark.parametrize("revision", ["2025-06-18", MODERN])
def test_a_number_of_any_size_is_taken_or_refused(
    attacked: AttackedServer, client: httpx.Client, number: str, revision: str
) -> None:
    call = next(one for one in messages(revision) if one.body["method"] == "tools/call")
    call.body["params"] |= {"name": "echo.count", "arguments": {"anything": ["<number>"]}}
    content = json.dumps(call.body).replace('"<number>"', number).encode()
    found = check(attacked, posted(client, content, call.fitting()), content)
    assert found is not None


@pytest.mark.fault("F30")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": "multipart/form-data; boundary=x"}, 415),
        ({"content-type": "application/jsonx"}, 415),
        ({"content-type": ""}, 415),
        ({"accept": "text/html"}, 406),
        ({"accept": "image/*;q=1"}, 406),
        ({"mcp-protocol-version": "2099-01-01"}, 400),
        ({"mcp-protocol-version": "yesterday"}, 400),
        ({"mcp-protocol-version": "\xe9"}, 400),
        ({"content-encoding": "gzip"}, 400),
    ],
)
def test_headers_that_do_not_fit_are_refused(
    attacked: AttackedServer, client: httpx.Client, headers: dict[str, str], status: int
) -> None:
    content = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    if "content-encoding" in headers:
        content = b"\x1f\x8b\x08\x00" + content
    answer = posted(client, content, HEADERS | headers)
    assert answer.status_code == status, answer.text
    check(attacked, answer, content)


@pytest.mark.fault("F30")
def test_other_methods_are_refused(attacked: AttackedServer, client: httpx.Client) -> None:
    for method in ("GET", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"):
        answer = client.request(method, "/mcp", headers=HEADERS)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST"), method
        check(attacked, answer, b"")
