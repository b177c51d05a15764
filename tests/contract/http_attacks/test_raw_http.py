"""Bytes that are hardly HTTP, bodies that lie about their size, and heads without an end."""

from __future__ import annotations

from itertools import repeat

import pytest

from tests.contract.http_attacks.attacked_server import AttackedServer, inside_text
from tests.contract.http_attacks.raw_sockets import begun, request, sent, status

HOST = b"host: 127.0.0.1\r\n"
CHUNKED = b"POST /mcp HTTP/1.1\r\n" + HOST + b"transfer-encoding: chunked\r\n\r\n"
WAYS = ["/api/tools/echo.say/call", "/api/keys", "/mcp"]
GARBAGE = {
    "no text": b"\x00\x01\x02\r\n\r\n",
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 50 + b"\r\n\r\n",
    "http 2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a path of other bytes": b"GET /\xff\xfe HTTP/1.1\r\n" + HOST + b"\r\n",
    "a path of escaped bytes": b"GET /api/%ff%fe%00%2e%2e HTTP/1.1\r\n" + HOST + b"\r\n",
    "a path upwards": b"GET /api/../../etc/passwd HTTP/1.1\r\n" + HOST + b"\r\n",
    "another place": b"GET http://evil.example/api/me HTTP/1.1\r\n" + HOST + b"\r\n",
    "no place": b"GET http://[ HTTP/1.1\r\n" + HOST + b"\r\n",
    "a star": b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n",
    "a tunnel": b"CONNECT evil.example:80 HTTP/1.1\r\n" + HOST + b"\r\n",
    "an upgrade": b"GET /mcp HTTP/1.1\r\n" + HOST + b"connection: upgrade\r\nupgrade: websocket\r\n\r\n",
    "no version": b"GET /api/me\r\n\r\n",
    "an old version": b"GET /api/me HTTP/1.0\r\n\r\n",
    "no host": b"GET /api/me HTTP/1.1\r\n\r\n",
    "two lengths": b"POST /mcp HTTP/1.1\r\n" + HOST + b"content-length: 1\r\ncontent-length: 2\r\n\r\nab",
    "a negative length": b"POST /mcp HTTP/1.1\r\n" + HOST + b"content-length: -5\r\n\r\nabcde",
    "a length in words": b"POST /mcp HTTP/1.1\r\n" + HOST + b"content-length: five\r\n\r\nabcde",
    "a length and chunks": CHUNKED.replace(b"\r\n\r\n", b"\r\ncontent-length: 1\r\n\r\n"),
    "chunks of no size": CHUNKED + b"ZZ\r\nabc\r\n",
    "a header without a name": b"GET /api/me HTTP/1.1\r\n" + HOST + b": x\r\n\r\n",
    "a header over two lines": b"GET /api/me HTTP/1.1\r\n" + HOST + b"x: a\r\n b\r\n\r\n",
    "a null in a header": b"GET /api/me HTTP/1.1\r\n" + HOST + b"x: a\x00b\r\n\r\n",
}


def alive(attacked: AttackedServer) -> bool:
    return status(sent(attacked, request(attacked, "/api/me", method="GET"))[0]) == 200


@pytest.mark.fault("F30")
@pytest.mark.parametrize("name", GARBAGE)
def test_what_is_hardly_http_is_refused(attacked: AttackedServer, name: str) -> None:
    answer, _ = sent(attacked, GARBAGE[name])
    assert status(answer) in (400, 401, 404, 405, 421), answer
    assert inside_text(answer.decode("latin-1")) is None, answer
    assert alive(attacked)


@pytest.mark.fault("F30")
@pytest.mark.parametrize("path", WAYS)
def test_a_body_that_is_announced_as_too_large_is_refused_before_it_comes(
    attacked: AttackedServer, path: str
) -> None:
    for length in ("104857600", "10737418240", "9" * 17, "9" * 30):
        answer, _ = sent(attacked, request(attacked, path, f"content-length: {length}"))
        assert status(answer) in (400, 413), answer
        if len(length) < 18:
            assert b'"TOO_LARGE"' in answer, answer


@pytest.mark.fault("F30")
@pytest.mark.parametrize("path", WAYS)
def test_a_body_that_grows_too_large_is_refused_on_its_way(attacked: AttackedServer, path: str) -> None:
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    answer, _ = sent(attacked, request(attacked, path, "transfer-encoding: chunked"), more=repeat(chunk, 400))
    assert status(answer) == 413 or not answer, answer[:300]
    assert alive(attacked)


@pytest.mark.fault("F30")
@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"GET /healthz HTTP/1.1\r\nx: ", b"a" * 65_536),
        (b"GET /healthz HTTP/1.1\r\n", b"x: y\r\n" * 10_000),
        (b"GET /healthz?", b"a" * 65_536),
        (CHUNKED + b"0\r\n", b"x: y\r\n" * 10_000),
        (CHUNKED + b"1\r\na\r\n0\r\nx: ", b"a" * 65_536),
        (CHUNKED + b"1\r\na\r\n1;", b"a" * 65_536),
    ],
    ids=["a header", "headers", "an address", "trailers", "a trailer", "an extension"],
)
def test_a_head_without_an_end_is_cut_off(attacked: AttackedServer, head: bytes, piece: bytes) -> None:
    _, taken = sent(attacked, head, more=repeat(piece, 800))
    assert taken < 400 * len(piece)
    assert alive(attacked)


@pytest.mark.fault("F30")
@pytest.mark.parametrize("path", WAYS)
def test_whoever_hangs_up_in_the_middle_of_a_body_harms_nobody(attacked: AttackedServer, path: str) -> None:
    for _ in range(3):
        begun(attacked, request(attacked, path, "content-length: 100") + b'{"jsonrpc": "2.0"')
        begun(attacked, request(attacked, path, "transfer-encoding: chunked") + b'5\r\n{"a":')
    assert alive(attacked)
