"""Bare sockets: bytes that no HTTP client would send, and what comes back."""

from __future__ import annotations

import socket
from collections.abc import Iterable

from tests.contract.http_attacks.attacked_server import AttackedServer

PATIENCE = 20.0


def sent(attacked: AttackedServer, *pieces: bytes, more: Iterable[bytes] = ()) -> tuple[bytes, int]:
    """What the server says to these bytes, and how many it took before it hung up."""
    host, port = attacked.url.removeprefix("http://").split(":")
    taken = 0
    with socket.create_connection((host, int(port)), PATIENCE) as wire:
        try:
            for piece in (*pieces, *more):
                wire.sendall(piece)
                taken += len(piece)
        except OSError:
            pass  # it has heard enough; what it said may still be read
        return _heard(wire), taken


def begun(attacked: AttackedServer, piece: bytes) -> None:
    """Say the beginning of something, and hang up."""
    host, port = attacked.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), PATIENCE) as wire:
        wire.sendall(piece)


def _heard(wire: socket.socket) -> bytes:
    """One answer, or nothing where the server hung up."""
    found = b""
    try:
        while b"\r\n\r\n" not in found:
            part = wire.recv(65_536)
            if not part:
                return found
            found += part
        head, _, body = found.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
        )
        while len(body) < length:
            part = wire.recv(65_536)
            if not part:
                break
            body += part
    except ConnectionResetError:
        return found
    return head + b"\r\n\r\n" + body


def status(answer: bytes) -> int | None:
    """The status of an answer; None where there was none."""
    return int(answer.split(b" ", 2)[1]) if answer else None


def request(attacked: AttackedServer, path: str, *headers: str, method: str = "POST") -> bytes:
    """The head of a request of the owner."""
    lines = [
        f"{method} {path} HTTP/1.1",
        "host: 127.0.0.1",
        f"authorization: Bearer {attacked.here.keys['owner']}",
        "content-type: application/json",
        "accept: application/json, text/event-stream",
        *headers,
    ]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
