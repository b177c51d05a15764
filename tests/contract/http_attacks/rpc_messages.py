"""Messages of the MCP door: valid ones of every revision, what can be made of them, what must come back."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
from hypothesis import strategies as st

from tests.contract.http_attacks.attacked_server import AttackedServer, inside, parse_strict_json

MODERN = "2026-07-28"
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN)
INTERNAL_ERROR = -32603
_META = "io.modelcontextprotocol"
BOTH = "application/json, text/event-stream"


@dataclass
class RpcMessage:
    """One message with the headers that go with it."""

    revision: str
    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)

    def fitting(self) -> dict[str, str]:
        """The headers that this message wants, if it can be said in headers."""
        found = {"content-type": "application/json", "accept": BOTH, "mcp-protocol-version": self.revision}
        if self.revision == MODERN:
            found |= _said("mcp-method", self.body.get("method"))
            params = self.body.get("params")
            found |= _said("mcp-name", params.get("name") if isinstance(params, dict) else None)
        return found | self.headers


def _said(name: str, value: Any) -> dict[str, str]:
    plain = isinstance(value, str) and value.isascii() and value.isprintable() and value.strip() == value
    return {name: value} if plain else {}


def messages(revision: str) -> list[RpcMessage]:
    """A valid message of each kind."""
    meta: dict[str, Any] = {"progressToken": "p"}
    if revision == MODERN:
        meta |= {
            f"{_META}/protocolVersion": revision,
            f"{_META}/clientInfo": {"name": "fuzz", "version": "1"},
            f"{_META}/clientCapabilities": {},
        }
    info = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}}
    call = {"name": "echo.say", "arguments": {"text": "hello"}}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("tools/list", {}),
        ("tools/list", {"cursor": "ZWNoby5mYWls"}),
        ("tools/call", call),
        ("tools/call", {"name": "echo.fail", "arguments": {}}),
        ("ping", {}),
        ("server/discover", {}) if revision == MODERN else ("initialize", info),
    ]
    if revision == MODERN:
        asked.append(("tools/call", {**call, "requestState": "abc", "inputResponses": {}}))
    return [
        RpcMessage(
            revision, {"jsonrpc": "2.0", "id": 7, "method": method, "params": {**params, "_meta": meta}}
        )
        for method, params in asked
    ]


def _paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    if isinstance(value, dict):
        for name in value:
            yield from _paths(value[name], (*at, name))


JUNK: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(
        [None, True, False, 0, -1, 2**63, 2**200, 1.5, -1e308, "", " ", "\x00", "\u2028", "é" * 300]
    ),
    st.sampled_from(
        [[], {}, [[]], {"": {}}, [None], {"_meta": []}, "x" * 5_000, "../../etc/passwd", "' OR 1=1"]
    ),
    st.text(max_size=20),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=6,
    ),
)


@st.composite
def broken(draw: st.DrawFn) -> RpcMessage:
    """A valid message with something wrong at any place of it: replaced, taken out, or put in."""
    sent = draw(st.sampled_from([one for revision in REVISIONS for one in messages(revision)]))
    body = copy.deepcopy(sent.body)
    for _ in range(draw(st.integers(1, 2))):
        path = draw(st.sampled_from([one for one in _paths(body) if one]))
        inner = body
        for step in path[:-1]:
            inner = inner[step]
        match draw(st.sampled_from(["replace", "replace", "remove", "add"])):
            case "replace":
                inner[path[-1]] = copy.deepcopy(draw(JUNK))
            case "remove":
                del inner[path[-1]]
            case "add":
                inner[draw(st.text(max_size=10))] = copy.deepcopy(draw(JUNK))
        if not body:
            break
    headers = draw(st.dictionaries(st.sampled_from(_HEADERS), st.sampled_from(_VALUES), max_size=1))
    return RpcMessage(sent.revision, body, headers if draw(st.integers(0, 3)) == 0 else {})


_HEADERS = ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id", "accept", "last-event-id"]
_VALUES = ["", "x", "2099-01-01", "2025-06-18", MODERN, "application/json", "tools/call", "\xe9", "a" * 2_000]


def posted(client: httpx.Client, content: bytes, headers: dict[str, str]) -> httpx.Response:
    """The answer; of a stream without an end, what comes first."""
    raw = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
    with client.stream("POST", "/mcp", content=content, headers=raw) as answer:
        if b"subscriptions/listen" in content and "event-stream" in answer.headers.get("content-type", ""):
            begun = next(answer.iter_raw(), b"")
            return httpx.Response(answer.status_code, headers=answer.headers, content=begun)
        answer.read()
        return answer


def told(answer: httpx.Response) -> dict[str, Any] | None:
    """The message in an answer, the last one of a stream; None for an empty one."""
    if not answer.content:
        return None
    if answer.headers["content-type"].startswith("text/event-stream"):
        data = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")]
        found: Any = parse_strict_json(data[-1])
    else:
        assert answer.headers["content-type"] == "application/json"
        found = parse_strict_json(answer.text)
    assert isinstance(found, dict), found
    return found


def check(attacked: AttackedServer, answer: httpx.Response, content: bytes) -> dict[str, Any] | None:
    """What holds for every answer at this door, whatever was sent."""
    assert answer.status_code in {200, 202, 400, 401, 403, 404, 405, 406, 413, 415, 421}, answer.text
    assert inside(answer, content.decode("latin-1")) is None, inside(answer)
    assert attacked.there.mark not in answer.text
    found = told(answer)
    if found is None:
        assert answer.status_code == 202, answer
        return None
    if answer.status_code in (413, 421) or "jsonrpc" not in found:
        assert found["error"]["code"] and found["error"]["message"]
        return found
    assert found["jsonrpc"] == "2.0"
    assert ("result" in found) != ("error" in found)
    if "error" in found:
        assert type(found["error"]["code"]) is int
        assert found["error"]["code"] != INTERNAL_ERROR, found
        assert type(found["error"]["message"]) is str and found["error"]["message"]
    return found
