"""The doors for longer: every operation many times, on both databases, and every refusal within a second."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import repeat
from typing import Any

import httpx
import pytest
from hypothesis import given, settings

from handrail.identity.api_keys import KeyAdmin
from handrail.identity.permissions import console_principal
from handrail.store.database import Database
from tests.contract.http_attacks.attacked_server import HERE, ROLES, AttackedServer, attacked_server
from tests.contract.http_attacks.injection import texts_in_addresses, texts_in_bodies
from tests.contract.http_attacks.payloads import NOT_JSON, TEXTS
from tests.contract.http_attacks.raw_sockets import request, sent, status
from tests.contract.http_attacks.rpc_messages import RpcMessage, broken, check, posted
from tests.contract.http_attacks.schemathesis_fuzz import Attacker, attack, operations
from tests.contract.http_attacks.test_credentials import at_api, at_mcp, bearer, evil, key_of
from tests.contract.http_attacks.test_stdio import StdioServer

# The server runs in a thread beside, and may well use chance while an example is drawn.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")
EXAMPLES = 15
SECOND = 1.0
HUNDRED = 100 * 2**20


@pytest.fixture
def attacked(database_url: str) -> Iterator[AttackedServer]:
    with attacked_server(database_url) as found:
        yield found


@pytest.mark.fault("F26", "F30")
def test_the_whole_document_for_longer(attacked: AttackedServer) -> None:
    everybody = [Attacker(attacked, role) for role in ROLES]
    for at, operation in enumerate(operations(attacked)):
        attack(everybody, operation, EXAMPLES, 1_000 + at)


@pytest.mark.fault("F30")
def test_every_odd_text_in_every_place(attacked: AttackedServer) -> None:
    with attacked.client("owner") as client:
        texts_in_bodies(attacked, client, TEXTS)
        texts_in_addresses(attacked, client, TEXTS)


@pytest.mark.fault("F30")
def test_messages_that_are_broken_for_longer(attacked: AttackedServer) -> None:
    with attacked.client("owner", by="key") as client:

        @settings(max_examples=1_500, database=None)
        @given(message=broken())
        def broken_ones(message: RpcMessage) -> None:
            content = json.dumps(message.body).encode()
            check(attacked, posted(client, content, message.fitting()), content)

        broken_ones()


@pytest.mark.fault("F30")
def test_lines_that_are_broken_for_longer(tmp_path: Any) -> None:
    line = StdioServer(tmp_path)
    try:

        @settings(max_examples=1_500, database=None)
        @given(message=broken())
        def broken_ones(message: RpcMessage) -> None:
            line.answers(json.dumps(message.body).encode())

        broken_ones()
        line.answers(b"x" * (HUNDRED // 10))
    finally:
        line.close()


class Watch:
    """How long each thing took, and whether that was too long."""

    def __init__(self) -> None:
        self.slow: list[tuple[str, float]] = []

    def timed(self, name: str, begun: float, answer: httpx.Response | None = None) -> None:
        took = time.perf_counter() - begun
        if took > SECOND:
            self.slow.append((name, took))
        assert answer is None or 400 <= answer.status_code < 500, (name, answer)


@pytest.mark.alone
@pytest.mark.fault("F28", "F30")
def test_what_must_not_come_in_is_refused_within_a_second(attacked: AttackedServer) -> None:
    watch, owner = Watch(), bearer(attacked.here.keys["owner"])
    for_api, for_mcp = (key_of(attacked, audience=one)[0] for one in ("api", "mcp"))
    at_api(attacked, owner)
    for door, wrong in ((at_api, for_mcp), (at_mcp, for_api)):
        begun = time.perf_counter()
        watch.timed("wrong audience", begun, door(attacked, bearer(wrong)))
        for origin in evil(attacked):
            begun = time.perf_counter()
            watch.timed(f"origin {origin[:40]}", begun, door(attacked, {"origin": origin, **owner}))
    with attacked.client("owner", by="key") as client:
        for name, content in NOT_JSON.items():
            for path in ("/mcp", "/api/tools/echo.say/call"):
                if content:
                    kinds = {"content-type": "application/json", "accept": "application/json"}
                    begun = time.perf_counter()
                    watch.timed(f"{name} at {path}", begun, client.post(path, content=content, headers=kinds))
    assert watch.slow == []


@pytest.mark.alone
@pytest.mark.fault("F30")
@pytest.mark.parametrize("path", ["/mcp", "/api/tools/echo.say/call"])
def test_a_hundred_megabytes_are_refused_within_a_second(attacked: AttackedServer, path: str) -> None:
    watch = Watch()
    begun = time.perf_counter()
    answer, _ = sent(attacked, request(attacked, path, f"content-length: {HUNDRED}"))
    watch.timed("announced", begun)
    assert status(answer) == 413
    begun = time.perf_counter()
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    pieces = repeat(chunk, HUNDRED // 65_536)
    answer, _ = sent(attacked, request(attacked, path, "transfer-encoding: chunked"), more=pieces)
    watch.timed("sent", begun)
    assert status(answer) in (413, None)
    begun = time.perf_counter()
    sent(attacked, b"GET /healthz HTTP/1.1\r\nx: ", more=repeat(b"a" * 65_536, HUNDRED // 65_536))
    watch.timed("a header", begun)
    assert watch.slow == []


@pytest.mark.alone
@pytest.mark.fault("F28")
@pytest.mark.parametrize("door", [at_api, at_mcp])
def test_a_key_that_another_process_revokes_opens_nothing_a_second_later(
    attacked: AttackedServer, database_url: str, door: Any
) -> None:
    key, id = key_of(attacked)
    assert door(attacked, bearer(key)).status_code == 200
    elsewhere = Database(database_url)
    try:
        attacked.run(KeyAdmin(elsewhere).revoke(console_principal(HERE), id))
        revoked = time.perf_counter()
        while (answer := door(attacked, bearer(key))).status_code == 200:
            assert time.perf_counter() - revoked < SECOND + 0.2, "it still opens"
        assert answer.status_code == 401
    finally:
        elsewhere.close()
