"""One address before several servers: each connection goes to the next one that answers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from urllib.parse import urlsplit


class LoadBalancer:
    """Passes bytes on, and remembers how many connections each server got."""

    def __init__(self, urls: list[str]) -> None:
        self._goals = [(str(urlsplit(url).hostname), int(urlsplit(url).port or 0)) for url in urls]
        self._turn = count()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.served = dict.fromkeys(urls, 0)
        self._urls = urls
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._begin(self._accept)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def close(self) -> None:
        """Let go of everything; nothing is left open."""
        for one in [self._listening, *self._open]:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(30)

    def _accept(self) -> None:
        with self._listening, suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                self._begin(self._carry, near)

    def _begin(self, target: Callable[..., None], *args: socket.socket) -> threading.Thread:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()
        return thread

    def _carry(self, near: socket.socket) -> None:
        """One connection, both ways, until either end leaves."""
        with near:
            far = self._connected()
            if far is None:
                return
            with far:
                self._open += (near, far)
                up = self._begin(_pass_on, near, far)
                _pass_on(far, near)
                up.join(30)

    def _connected(self) -> socket.socket | None:
        for _ in self._goals:
            at = next(self._turn) % len(self._goals)
            with suppress(OSError):
                found = socket.create_connection(self._goals[at], timeout=5)
                found.settimeout(None)
                self.served[self._urls[at]] += 1
                return found
        return None


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while piece := one.recv(65_536):
            other.sendall(piece)
    for end in (one, other):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextmanager
def load_balancer(*urls: str) -> Iterator[LoadBalancer]:
    made = LoadBalancer(list(urls))
    try:
        yield made
    finally:
        made.close()
