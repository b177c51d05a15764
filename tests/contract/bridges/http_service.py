"""Service: a real HTTP server on loopback that keeps the bytes of what it is asked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


@dataclass(frozen=True)
class ReceivedRequest:
    """One request as it came over the wire."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: bytes = b"{}"
    kind: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


class Service:
    """Answers each request with what `reply` makes of it."""

    def __init__(self, reply: Callable[[ReceivedRequest], Answer] = lambda heard: Answer()) -> None:
        self.heard: list[ReceivedRequest] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def handle_one_request(self) -> None:
                self.raw_requestline = self.rfile.readline(65_537)
                if not self.raw_requestline or not self.parse_request():
                    self.close_connection = True
                    return
                length = int(self.headers.get("content-length") or 0)
                told = {name.lower(): value for name, value in self.headers.items()}
                heard = ReceivedRequest(self.command, self.path, told, self.rfile.read(length))
                service.heard.append(heard)
                answer = reply(heard)
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.kind)
                self.send_header("Content-Length", str(len(answer.body)))
                for name, value in answer.headers:
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer.body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def last(self) -> ReceivedRequest:
        return self.heard[-1]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
