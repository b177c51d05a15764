"""What is no message, or comes from nobody, is refused in words, at once, and tells nothing of the inside."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import ErrorData

from handrail import Handrail, Principal, from_json_schema, tool
from handrail.doors.mcp.exchange import RpcRequest, read_message, to_error, to_result
from handrail.platform import platform_of
from handrail.store.tenants import create_tenant
from tests.contract.mcp import shop_tools
from tests.contract.mcp.server import LEGACY, MODERN, opened

CALL: dict[str, Any] = {"name": "math__add", "arguments": {"a": 1, "b": 2}}
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
ERAS = pytest.mark.parametrize("version", [MODERN, *LEGACY, None])


def message(version: str | None, method: str = "tools/call", **params: Any) -> dict[str, Any]:
    meta = {"_meta": META} if version == MODERN else {}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, **meta}}


def headers(
    version: str | None, method: str = "tools/call", name: str | None = "math__add"
) -> dict[str, str]:
    if version is None:
        return {}
    routing = {"mcp_method": method, **({} if name is None else {"mcp_name": name})}
    return {"mcp_protocol_version": version, **(routing if version == MODERN else {})}


def proper(answer: httpx2.Response, status: int | tuple[int, ...]) -> dict[str, Any]:
    """An answer that refuses as it should, and gives nothing away."""
    assert answer.status_code in ((status,) if isinstance(status, int) else status), answer.text
    told: dict[str, Any] = answer.json()
    for word in ("Traceback", "site-packages", ".py", "pydantic", "/tmp", "secret"):
        assert word not in answer.text
    return told


@ERAS
async def test_what_is_right_is_answered_in_every_revision(version: str | None) -> None:
    async with Handrail([shop_tools.add]) as hr, opened(platform_of(hr, shop_tools.KEYS)) as door:
        answer = await door.post(message(version, **CALL), "ana-key", **headers(version))
        assert answer.json()["result"]["structuredContent"] == {"total": 3}
        assert "mcp-session-id" not in answer.headers


DEEP = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"math__add","arguments":'
BODIES: dict[str, tuple[Any, int]] = {
    "nothing": (b"", -32700),
    "no JSON": (b"{", -32700),
    "two values": (b"{}{}", -32700),
    "not UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700),
    "NaN": (f'{DEEP}{{"a":NaN,"b":1}}}}}}'.encode(), -32700),
    "Infinity": (f'{DEEP}{{"a":-Infinity,"b":1}}}}}}'.encode(), -32700),
    "a lone surrogate": (f'{DEEP}{{"a":"\\ud800","b":1}}}}}}'.encode(), -32700),
    "deep": (f"{DEEP}{'[' * 100_000}".encode(), -32700),
    "deep and closed": (f"{DEEP}{'[' * 50_000}{']' * 50_000}}}}}".encode(), -32700),
    "a batch": ([message(None, **CALL), message(None, **CALL)], -32600),
    "an empty batch": ([], -32600),
    "a number": (5, -32600),
    "null": (None, -32600),
    "no version": ({"id": 1, "method": "ping"}, -32600),
    "another version": ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, -32600),
    "no method": ({"jsonrpc": "2.0", "id": 1}, -32600),
    "a method that is none": ({"jsonrpc": "2.0", "id": 1, "method": 5}, -32600),
    "a null id": ({"jsonrpc": "2.0", "id": None, "method": "ping"}, -32600),
    "a broken id": ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, -32600),
    "an id of truth": ({"jsonrpc": "2.0", "id": True, "method": "ping"}, -32600),
    "params in a list": ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, -32600),
}


@pytest.mark.fault("F30")
@pytest.mark.parametrize("version", [MODERN, "2025-11-25"])
async def test_what_is_no_message_is_refused(version: str) -> None:
    async with Handrail([shop_tools.add]) as hr, opened(platform_of(hr, shop_tools.KEYS)) as door:
        for name, (body, code) in BODIES.items():
            sent = body if isinstance(body, bytes) else json.dumps(body)
            told = proper(await door.post(sent, "ana-key", **headers(version)), 400)
            assert told["error"]["code"] == code and told["id"] is None, name
        assert not list(hr.log.read("acme")), "and nothing was called"


PARAMS: dict[str, dict[str, Any]] = {
    "no name": {"arguments": {}},
    "a name that is none": {"name": 5, "arguments": {}},
    "arguments in a list": {"name": "math__add", "arguments": [1, 2]},
    "arguments as text": {"name": "math__add", "arguments": "{}"},
    "a cursor that is none": {"cursor": 5},
    "a state that is none": {**CALL, "requestState": 5},
}


@pytest.mark.fault("F30")
@pytest.mark.parametrize("version", [MODERN, "2025-11-25"])
@pytest.mark.parametrize("params", PARAMS)
async def test_params_that_do_not_fit_are_refused(version: str, params: str) -> None:
    given, method = PARAMS[params], "tools/list" if "cursor" in PARAMS[params] else "tools/call"
    name = given.get("name")
    async with Handrail([shop_tools.add]) as hr, opened(platform_of(hr, shop_tools.KEYS)) as door:
        routing = headers(version, method, name if isinstance(name, str) else None)
        answer = await door.post(message(version, method, **given), "ana-key", **routing)
        told = proper(answer, 400 if version == MODERN else 200)
        assert told["error"]["code"] in (-32602, -32020), told


@pytest.mark.fault("F30")
@pytest.mark.parametrize("version", [MODERN, "2025-11-25"])
async def test_what_is_not_served_is_told(version: str) -> None:
    async with Handrail([shop_tools.add]) as hr, opened(platform_of(hr, shop_tools.KEYS)) as door:
        for method in ("resources/list", "prompts/list", "no/such", "tasks/get", ""):
            routing = headers(version, method, None)
            told = (await door.post(message(version, method), "ana-key", **routing)).json()
            assert told["error"]["code"] in (-32601, -32602, -32020), method


@pytest.mark.fault("F30")
async def test_what_is_too_large_or_of_another_kind_is_refused() -> None:
    async with Handrail([shop_tools.add]) as hr, opened(platform_of(hr, shop_tools.KEYS)) as door:
        huge = json.dumps(message(None, **CALL) | {"x": "y" * (5 * 2**20)})
        proper(await door.post(huge, "ana-key"), 413)
        sent = message(None, **CALL)
        proper(await door.post(sent, "ana-key", content_type="text/plain"), 415)
        proper(await door.post(sent, "ana-key", content_type="application/jsonx"), 415)
        proper(await door.post(sent, "ana-key", accept="text/html"), 406)
        async with httpx2.AsyncClient() as http:
            for method in ("GET", "DELETE", "PUT"):
                answer = await http.request(method, door.url, headers={"authorization": "Bearer ana-key"})
                assert answer.status_code == 405 and answer.headers["allow"] == "POST"


@pytest.mark.fault("F30")
async def test_routing_headers_that_disagree_with_the_message_are_refused() -> None:
    async with Handrail([shop_tools.add]) as hr, opened(platform_of(hr, shop_tools.KEYS)) as door:
        right = headers(MODERN)
        for wrong in (
            {**right, "mcp_method": "tools/list"},
            {**right, "mcp_name": "math__fail"},
            {**right, "mcp_protocol_version": "2099-01-01"},
        ):
            proper(await door.post(message(MODERN, **CALL), "ana-key", **wrong), 400)


async def test_arguments_that_stand_in_headers_must_agree() -> None:
    schema = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}

    async def read_it(region: str = "") -> str:
        return "read"

    annotated = from_json_schema("geo.read", schema, execute=read_it, description="Read.", level="read")
    async with Handrail([annotated]) as hr, opened(platform_of(hr, shop_tools.KEYS)) as door:
        sent = message(MODERN, name="geo__read", arguments={"region": "north"})
        routing = headers(MODERN, name="geo__read")
        assert (await door.post(sent, "ana-key", **routing, mcp_param_region="north")).status_code == 200
        for wrong in ({"mcp_param_region": "south"}, {}):
            told = proper(await door.post(sent, "ana-key", **routing, **wrong), 400)
            assert told["error"]["code"] == -32020


@pytest.mark.fault("F28")
@pytest.mark.parametrize("version", [MODERN, "2025-11-25"])
async def test_nobody_gets_in_by_a_session_or_from_a_foreign_page(version: str) -> None:
    async with Handrail([shop_tools.add]) as hr, opened(platform_of(hr, shop_tools.KEYS)) as door:
        sent, routing = message(version, **CALL), headers(version)
        nobody = await door.post(sent, **routing)
        proper(nobody, 401)
        assert nobody.headers["www-authenticate"].startswith("Bearer")
        stolen = await door.post(sent, None, **routing, mcp_session_id="0123456789abcdef")
        assert stolen.status_code == 401 and stolen.json() == nobody.json()
        proper(await door.post(sent, "no-such-key", **routing), 401)
        evil = await door.post(sent, "ana-key", **routing, origin="https://evil.example")
        proper(evil, 403)
        rebound = await door.post(sent, "ana-key", **routing, host="evil.example")
        proper(rebound, 421)
        assert not list(hr.log.read("acme"))


@pytest.mark.fault("F28")
async def test_a_key_for_another_door_or_that_was_revoked_opens_nothing(sqlite_url: str) -> None:
    async with Handrail([shop_tools.add], database=sqlite_url) as hr:
        platform = platform_of(hr)
        assert platform.services is not None
        with platform.services.db.transaction("acme") as conn:
            create_tenant(conn, "acme", "Acme", at=0.0)
        by = Principal("acme", "root", permissions={"*"})
        keys = platform.services.keys
        made = {one: await keys.make(by, one, audience=one) for one in ("mcp", "api")}
        shown = {one: text.reveal() for one, (text, _) in made.items()}
        async with opened(platform) as door:
            sent, routing = message(MODERN, **CALL), headers(MODERN)
            assert (await door.post(sent, shown["mcp"], **routing)).status_code == 200
            proper(await door.post(sent, shown["api"], **routing), 401)
            await keys.revoke(by, made["mcp"][1].id)
            proper(await door.post(sent, shown["mcp"], **routing), 401)


@pytest.mark.fault("F30")
@pytest.mark.parametrize("version", [MODERN, "2025-11-25"])
async def test_a_body_that_fails_tells_nothing_of_the_inside(version: str) -> None:
    @tool("work.crash", level="read")
    async def crash() -> str:
        """Crash."""
        raise OSError(2, "No such file", "/etc/handrail/key")

    async with Handrail([crash]) as hr, opened(platform_of(hr, shop_tools.KEYS)) as door:
        answer = await door.post(
            message(version, name="work__crash", arguments={}),
            "ana-key",
            **headers(version, name="work__crash"),
        )
        assert answer.json()["result"]["isError"] is True and "Traceback" not in answer.text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
ENVELOPE = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON,
        "id": JSON,
        "method": st.sampled_from(["tools/call", "ping"]) | JSON,
        "params": JSON,
        "result": JSON,
        "error": JSON,
    },
)


@pytest.mark.fault("F30")
@given(st.binary() | (JSON | ENVELOPE).map(lambda one: json.dumps(one).encode()))
def test_any_body_is_a_message_or_is_refused_and_can_be_answered(body: bytes) -> None:
    found = read_message(body)
    if isinstance(found, ErrorData):
        assert json.loads(to_error(None, found))["error"]["code"] in (-32700, -32600)
    elif isinstance(found, RpcRequest):
        answer = json.loads(to_result(found.id, {"x": 1}))
        assert answer["id"] == found.id and type(answer["id"]) is type(found.id)
