"""The inside of a server process: it says where it listens, and ends when nobody is left to ask it."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading


def free_port() -> socket.socket:
    """A socket bound on this machine alone, that does not listen yet."""
    # asyncio sends small answers at once only where it knows the protocol
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.bind(("127.0.0.1", 0))
    return sock


def announce_port(port: int, **more: str) -> None:
    """The one line that the measuring process reads. From then on the end of standard input ends this one."""
    print(json.dumps({"port": port, **more}), flush=True)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)
