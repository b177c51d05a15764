"""Ledger: what happened, written down outside of the process that it happened in.

A process that is about to die tells the ledger over a socket and goes on only when it was heard, so what it
told is known however it ends.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any

Entry = dict[str, Any]


class Ledger:
    """Kept by the test: everything that other processes told, in order."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "ledger"
        self.entries: list[Entry] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(self.path))
        self._socket.listen(64)
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._serve, name="ledger", daemon=True)
        self._thread.start()

    def of(self, kind: str, **wanted: Any) -> list[Entry]:
        """The entries of a kind whose fields are as wanted."""
        with self._lock:
            entries = tuple(self.entries)
        return [one for one in entries if one["kind"] == kind and wanted.items() <= one.items()]

    def until(self, kind: str, times: int = 1, **wanted: Any) -> list[Entry]:
        """The same, once there are so many."""
        deadline = time.monotonic() + 30
        while len(found := self.of(kind, **wanted)) < times:
            assert time.monotonic() < deadline, f"nobody told of {kind} {wanted}"
            time.sleep(0.002)
        return found

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._hear, args=[peer], name="ledger-peer", daemon=True).start()

    def _hear(self, peer: socket.socket) -> None:
        with peer, peer.makefile("rb") as lines:
            try:
                for line in lines:
                    if not line.endswith(b"\n"):
                        return
                    with self._lock:
                        self.entries.append(json.loads(line))
                    peer.sendall(b"\n")
            except OSError:
                return

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class LedgerWriter:
    """Held by a process that writes into a ledger."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(path)
        self._lock = threading.Lock()

    def write(self, kind: str, **fields: Any) -> None:
        """Return when it is written down."""
        line = json.dumps({"kind": kind, **fields}).encode() + b"\n"
        with self._lock:
            self._socket.sendall(line)
            if self._socket.recv(1) != b"\n":
                raise ConnectionError("the ledger is closed")
