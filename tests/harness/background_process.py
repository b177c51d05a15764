"""A child of a fork server that runs until somebody ends it."""

from __future__ import annotations

import atexit
import functools
import os
import signal
import subprocess
from concurrent.futures import TimeoutError as NotYet

from tests.harness.fork_server import ForkServer

DEADLINE = 40.0


@functools.cache
def database_fork_server() -> ForkServer:
    """A fork server of this process, with everything that opening a database loads."""
    opened = ForkServer("tests.harness.preload_database", "alembic.command", "dbos")
    atexit.register(opened.close)
    return opened


class BackgroundProcess:
    """As much of `subprocess.Popen` as tests need. What it says is read from `heard`."""

    def __init__(self, fork_server: ForkServer, function: str, **arguments: object) -> None:
        """The function is told in `said` which file to write to."""
        read, write = os.pipe()
        self._child = fork_server.start(function, said=f"/proc/{os.getpid()}/fd/{write}", **arguments)
        self._child.add_done_callback(lambda _: os.close(write))  # and so the reader sees that it is over
        self.output = os.fdopen(read, encoding="utf-8")
        self.pid = self._child.pid.result(DEADLINE)

    def poll(self) -> int | None:
        return self._child.result() if self._child.done() else None

    def wait(self, timeout: float | None = None) -> int:
        try:
            return self._child.result(timeout)
        except NotYet:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0) from None

    def send_signal(self, number: int) -> None:
        if not self._child.done():
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)
