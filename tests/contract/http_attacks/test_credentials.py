"""Credentials that do not hold, and places from which nobody may call: refused alike, at both doors."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from handrail.identity.permissions import console_principal
from handrail.platform.middleware import SESSION_COOKIE
from tests.contract.http_attacks.attacked_server import HERE, NO_TLS, THERE, AttackedServer, inside
from tests.contract.http_attacks.rpc_messages import BOTH, check

PING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
DEADLINE = 20.0


def at_api(attacked: AttackedServer, headers: Mapping[str, Any]) -> httpx.Response:
    return _asked(attacked, "GET", "/api/me", headers)


def at_mcp(attacked: AttackedServer, headers: Mapping[str, Any], message: Any = None) -> httpx.Response:
    sent = {"content-type": "application/json", "accept": BOTH, **headers}
    return _asked(attacked, "POST", "/mcp", sent, json=message or PING)


DOORS = [at_api, at_mcp]


def _asked(
    attacked: AttackedServer, method: str, path: str, headers: Mapping[str, str], **more: Any
) -> httpx.Response:
    raw = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
    with httpx.Client(base_url=attacked.url, timeout=DEADLINE, verify=NO_TLS) as client:
        return client.request(method, path, headers=raw, **more)


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def key_of(attacked: AttackedServer, **more: Any) -> tuple[str, str]:
    """A key that was just made, and its id."""
    services = attacked.platform.services
    assert services is not None
    text, made = attacked.run(services.keys.make(console_principal(HERE), "short", "service", **more))
    return text.reveal(), made.id


def refusal(attacked: AttackedServer) -> tuple[int, str]:
    """What a key gets that was never made; no other one may get anything else."""
    said = at_api(attacked, bearer(f"hr_{HERE}_{'0' * 16}_{'0' * 64}"))
    assert (said.status_code, said.json()["error"]["code"]) == (401, "NOT_SIGNED_IN")
    assert said.headers["www-authenticate"].startswith("Bearer")
    return said.status_code, said.text


@pytest.mark.fault("F28")
def test_a_key_opens_only_the_door_that_it_was_made_for(attacked: AttackedServer) -> None:
    for_api, for_mcp, for_both = (key_of(attacked, audience=one)[0] for one in ("api", "mcp", None))
    opened = [(door.__name__, key) for key in (for_api, for_mcp, for_both) for door in DOORS
              if door(attacked, bearer(key)).status_code == 200]  # fmt: skip
    assert opened == [("at_api", for_api), ("at_mcp", for_mcp), ("at_api", for_both), ("at_mcp", for_both)]
    for answer in (at_mcp(attacked, bearer(for_api)), at_api(attacked, bearer(for_mcp))):
        assert (answer.status_code, answer.text) == refusal(attacked)


@pytest.mark.fault("F28")
@pytest.mark.parametrize("door", DOORS)
def test_a_key_that_was_revoked_opens_nothing(attacked: AttackedServer, door: Any) -> None:
    key, id = key_of(attacked)
    assert door(attacked, bearer(key)).status_code == 200
    with attacked.client("owner") as owner:
        assert owner.delete(f"/api/keys/{id}").status_code == 204
    answer = door(attacked, bearer(key))
    assert (answer.status_code, answer.text) == refusal(attacked)


@pytest.mark.fault("F28")
@pytest.mark.parametrize("door", DOORS)
def test_a_key_that_is_over_opens_nothing(attacked: AttackedServer, door: Any) -> None:
    key, _ = key_of(attacked, lifetime=0.3)
    until = time.monotonic() + DEADLINE
    while (answer := door(attacked, bearer(key))).status_code == 200 and time.monotonic() < until:
        pass
    assert (answer.status_code, answer.text) == refusal(attacked)


@pytest.mark.fault("F28")
@pytest.mark.parametrize("door", DOORS)
def test_the_key_of_somebody_who_left_opens_nothing(attacked: AttackedServer, door: Any) -> None:
    services = attacked.platform.services
    assert services is not None
    user = attacked.run(
        services.people.add_member(console_principal(HERE), f"{door.__name__}@example.com", ["viewer"])
    )
    key, _ = key_of(attacked, user=user.id, permissions=["*"])
    session = {"cookie": f"{SESSION_COOKIE}={attacked.run(services.authenticator.sign_in(user.id, HERE))}"}
    assert door(attacked, bearer(key)).status_code == at_api(attacked, session).status_code == 200
    with attacked.client("owner") as owner:
        assert owner.delete(f"/api/members/{user.id}").status_code == 204
    answer = door(attacked, bearer(key))
    assert (answer.status_code, answer.text) == refusal(attacked)
    assert at_api(attacked, session).status_code == 401


@pytest.mark.fault("F28")
@pytest.mark.parametrize("door", DOORS)
def test_what_is_no_key_opens_nothing(attacked: AttackedServer, door: Any) -> None:
    key, other = attacked.here.keys["owner"], attacked.there.keys["owner"]
    head, _, secret = key.rpartition("_")
    forged = [
        "Bearer",
        "Bearer x",
        "Bearer \xff\xfe\xe9",
        f"Bearer {'a' * 30_000}",
        f"Basic {key}",
        key,
        f"Bearer {head}_{'0' * len(secret)}",
        f"Bearer {head}_{secret[:-1]}",
        f"Bearer {head}_{secret}0",
        f"Bearer {key.replace(f'_{HERE}_', f'_{THERE}_')}",
        f"Bearer {other.rpartition('_')[0]}_{secret}",
        f"Bearer {key.upper()}",
        f"Bearer {key} {key}",
        f"Bearer {attacked.here.cookies['owner']}",
    ]
    for one in forged:
        answer = door(attacked, {"authorization": one})
        assert (answer.status_code, answer.text) == refusal(attacked), one[:80]
    assert door(attacked, {"authorization": f"bearer   {key}"}).status_code == 200


@pytest.mark.fault("F28")
def test_a_session_that_was_forged_is_nobodys(attacked: AttackedServer) -> None:
    token = attacked.here.cookies["owner"]
    kind, said, signed = token.split(".")
    other = attacked.there.cookies["owner"].split(".")
    forged = [
        "",
        "x",
        "..",
        "\xff\xe9",
        token[:-2],
        f"{kind}.{said}.",
        f"{kind}.{said}.{'A' * len(signed)}",
        f"{kind}.{other[1]}.{signed}",
        f"{kind}.{said}.{other[2]}",
        f"{kind}.{said}.\xe9",
        f"{kind}.!!!.{signed}",
        f"{kind}.W10.{signed}",
        "a" * 30_000,
        attacked.here.keys["owner"],
    ]
    for one in forged:
        answer = at_api(attacked, {"cookie": f"{SESSION_COOKIE}={one}"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "NOT_SIGNED_IN"), one[:80]
        assert inside(answer) is None
    assert at_api(attacked, {"cookie": f"{SESSION_COOKIE}={token}"}).status_code == 200
    assert (
        at_mcp(attacked, {"cookie": f"{SESSION_COOKIE}={token}"}).status_code == 401
    )  # a page must not reach agents' tools


@pytest.mark.fault("F28")
@pytest.mark.parametrize("door", DOORS)
def test_a_session_id_is_not_a_credential(attacked: AttackedServer, door: Any) -> None:
    """The door keeps no session: whoever names somebody else's has only what their own key gives."""
    begun = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "victim", "version": "1"},
        },
    }
    answer = at_mcp(attacked, bearer(attacked.there.keys["owner"]), begun)
    assert answer.status_code == 200
    stolen = answer.headers.get("mcp-session-id") or answer.headers["x-request-id"]
    for name in ("mcp-session-id", "x-request-id"):
        assert door(attacked, {name: stolen}).status_code == 401
        seen = door(attacked, {name: stolen, **bearer(attacked.here.keys["owner"])})
        assert seen.status_code == 200
        assert attacked.there.mark not in seen.text and attacked.there.label not in seen.text


def evil(attacked: AttackedServer) -> list[str]:
    host = attacked.url.removeprefix("http://")
    return [
        "http://evil.example",
        "https://evil.example:443",
        "null",
        "",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        f"http://{host}.evil.example",
        f"http://{host}@evil.example",
        f"http://evil.example/{host}",
        f"http://evil.example#{host}",
        f"http://evil.example?{host}",
        f"{host}",
        f"//{host}.evil.example",
        "http://localhost.evil.example",
        "file://",
        "http://[",
        "http://[::1",
        "http://[evil]/",
        "http://\u2100.example".encode().decode("latin-1"),
        "\xff",
        "a" * 30_000,
    ]


@pytest.mark.fault("F28")
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("who", ["key", "cookie", "nobody"])
def test_a_page_of_elsewhere_is_refused_whoever_looks_at_it(
    attacked: AttackedServer, door: Any, who: str
) -> None:
    shown = {
        "key": bearer(attacked.here.keys["owner"]),
        "cookie": {"cookie": f"{SESSION_COOKIE}={attacked.here.cookies['owner']}"},
        "nobody": {},
    }[who]
    for origin in evil(attacked):
        answer = door(attacked, {"origin": origin, **shown})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "WRONG_ORIGIN"), origin[:80]
        assert inside(answer) is None
        assert "access-control-allow-origin" not in answer.headers
    for crossing in ("cross-site", "same-site"):
        if door is at_mcp:
            answer = door(attacked, {"sec-fetch-site": crossing, **shown})
            assert answer.status_code == 403
    if who == "key":
        assert door(attacked, {"origin": attacked.url, **shown}).status_code == 200


@pytest.mark.fault("F28")
@pytest.mark.parametrize("door", DOORS)
def test_a_name_that_somebody_else_points_here_is_refused(attacked: AttackedServer, door: Any) -> None:
    for host in (
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example:80",
        "evil.example:127.0.0.1",
        "0.0.0.0",
        "2130706433",
        "[::2]",
        "[",
        "\xff",
        "",
    ):
        answer = door(attacked, {"host": host, **bearer(attacked.here.keys["owner"])})
        assert (answer.status_code, answer.json()["error"]["code"]) == (421, "WRONG_HOST"), host
        assert inside(answer) is None


@pytest.mark.fault("F28")
def test_what_is_refused_at_the_mcp_door_is_refused_in_its_own_words(attacked: AttackedServer) -> None:
    check(attacked, at_mcp(attacked, {}), b"")
