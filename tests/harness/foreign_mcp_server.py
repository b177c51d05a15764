"""Foreign MCP servers as real processes: what a test says to one, and what it did."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handrail.bridges.mcp import Server
from tests.harness import poll

ROOT = Path(__file__).parents[2]
MODULE = "tests.harness.mcp_servers.everything"
DEADLINE = 30.0


@dataclass
class ForeignServer:
    """Where one server keeps what it did, and what it says of its tools."""

    folder: Path
    words: list[str] = field(default_factory=list)

    @property
    def tools(self) -> Path:
        return self.folder / "tools.json"

    def say(self, *tools: dict[str, Any]) -> None:
        """Have it say this of its tools, at the next listing."""
        part = self.folder / "tools.part"
        part.write_text(json.dumps(tools))
        part.rename(self.tools)

    @property
    def effects(self) -> list[str]:
        """What it was called for, one name a call."""
        return _lines(self.folder / "effects")

    @property
    def pids(self) -> list[int]:
        """Every process that ran it, the newest last."""
        return [int(line) for line in _lines(self.folder / "started")]

    def args(self) -> list[str]:
        words = ["-m", MODULE, "--effects", f"{self.folder}/effects", "--started", f"{self.folder}/started"]
        return [*words, *(["--tools", str(self.tools)] if self.tools.exists() else []), *self.words]

    def over_pipes(self, name: str = "far", **options: Any) -> Server:
        """The server as a command."""
        env = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", **options.pop("env", {})}
        return Server(name, command=sys.executable, args=tuple(self.args()), env=env, **options)

    @contextmanager
    def at_address(self, name: str = "far", *words: str, port: int = 0, **options: Any) -> Iterator[Server]:
        """The server at an address, running."""
        file = self.folder / "port"
        file.unlink(missing_ok=True)
        env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
        asked = ["--http", str(file), "--port", str(port), *words]
        process = subprocess.Popen([sys.executable, *self.args(), *asked], env=env)
        try:
            poll.poll_until(lambda: file.exists() or process.poll() is not None)
            assert process.poll() is None, "the server did not start"
            yield Server(name, url=f"http://127.0.0.1:{file.read_text()}/mcp", **options)
        finally:
            process.kill()
            process.wait()

    def kill(self) -> None:
        """End its newest process, as a crash would."""
        os.kill(self.pids[-1], signal.SIGKILL)


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def is_alive(pid: int) -> bool:
    """Whether a process is there and not merely waiting to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def poll_until(true: Callable[[], bool]) -> None:
    """Wait for something that happens elsewhere."""
    deadline = time.monotonic() + DEADLINE
    while not true():
        assert time.monotonic() < deadline, "it did not happen"
        await asyncio.sleep(0.02)
