"""`handrail serve` in a process of its own, as whoever runs a platform starts it."""

from __future__ import annotations

import os
import re
import signal
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import httpx

from tests.acceptance.command_line import environment
from tests.acceptance.forked_cli import handrail, run_in_background
from tests.harness.background_process import BackgroundProcess
from tests.harness.poll import poll_until

DEADLINE = 40.0
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""To load the world's certificates for each client takes long, and they are all on loopback."""


@dataclass
class ServerProcess:
    """A server that listens."""

    process: subprocess.Popen[str] | BackgroundProcess
    folder: Path
    url: str
    said: list[str] = field(default_factory=list)
    """What it said before it listened."""
    logged: list[str] = field(default_factory=list)
    """What it said since, as far as it was read: a thread does, so that it never waits for a reader."""
    reader: threading.Thread | None = None

    @property
    def link(self) -> str | None:
        """The sign-in link that a first start prints."""
        found = re.search(r"\S+/sign-in\?link=\S+", "\n".join(self.said))
        return None if found is None else found[0]

    def http(self, key: str | None = None) -> httpx.Client:
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=DEADLINE, verify=NO_TLS)

    def key(self, name: str, *more: str) -> str:
        """A new key of the first tenant, made beside the server."""
        done = handrail("keys", "add", name, "--database", "sqlite:///handrail.db", *more, cwd=self.folder)
        assert done.code == 0, done.err
        return done.out.strip()

    def owner(self) -> str:
        """The id of the first owner."""
        found = re.search(r"--for (\S+)", "\n".join(self.said))
        assert found is not None
        return found[1]

    def kill(self) -> None:
        """Leave no time for anything."""
        self.process.kill()
        self.process.wait(DEADLINE)

    def stop(self) -> tuple[int, list[str]]:
        """Ask it to stop; its exit code, and what it logged."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(DEADLINE)
        assert self.reader is not None
        self.reader.join(DEADLINE)
        return code, self.logged


@contextmanager
def running_server(
    folder: Path, *words: str, port: int = 0, fresh: bool = False, **env: str
) -> Iterator[ServerProcess]:
    """A server over a folder, on a port that is free. Whatever happens, it is gone afterwards.

    It is a fork of a process that has imported everything, or a `fresh` one, started as people start it.
    """
    command = ("serve", "--port", str(port), *words)
    around = environment(**env) | {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    process = (
        _start_fresh(folder, command, around)
        if fresh
        else run_in_background(*command, cwd=folder, env=around)
    )
    try:
        yield _wait_until_ready(process, folder)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(DEADLINE)


def _start_fresh(folder: Path, command: Sequence[str], env: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "handrail", *command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _wait_until_ready(process: subprocess.Popen[str] | BackgroundProcess, folder: Path) -> ServerProcess:
    """Read until the last line of what a start says."""
    stream = process.output if isinstance(process, BackgroundProcess) else process.stderr
    assert stream is not None
    said: list[str] = []
    for line in stream:
        said.append(line.rstrip("\n"))
        if "keys add" in line or "handrail sign-in" in line:
            break
    found = re.search(r" at (http://[^;]+);", "\n".join(said))
    assert found is not None, (process.wait(DEADLINE), said)
    served = ServerProcess(process, folder, found[1], said)
    served.reader = threading.Thread(target=_read, args=(stream, served.logged), daemon=True)
    served.reader.start()
    with served.http() as http:
        poll_until(lambda: _is_ready(http))
    return served


def _is_ready(http: httpx.Client) -> bool:
    try:
        return http.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


def _read(stream: IO[str], lines: list[str]) -> None:
    with stream:
        lines.extend(line.rstrip("\n") for line in stream)
