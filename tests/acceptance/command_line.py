"""The command line as its users meet it: real processes, real pipes, a real terminal."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pexpect

SHOP = str(Path(__file__).parent / "shop_tools.py")
DEADLINE = 30

_STEERING = ("HANDRAIL_", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "TERM")
_STYLE = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class CommandResult:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)


def environment(**more: str) -> dict[str, str]:
    """Nothing that steers the command line, but what a test says."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_STEERING)}
    return {**kept, "TERM": "xterm-256color", **more}


def handrail(*words: str, cwd: Path, stdin: str = "", **env: str) -> CommandResult:
    """Run a command in pipes until it ends."""
    done = subprocess.run(
        [sys.executable, "-m", "handrail", *words],
        cwd=cwd,
        env=environment(**env),
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=DEADLINE,
        check=False,
    )
    return CommandResult(done.returncode, done.stdout, done.stderr)


def shop(*words: str, cwd: Path, stdin: str = "", **env: str) -> CommandResult:
    """The same with the tools of the shop."""
    return handrail(*words, cwd=cwd, stdin=stdin, HANDRAIL_TOOLS=SHOP, **env)


class Screen:
    """What a command shows at a terminal, for somebody who reads and types."""

    def __init__(self, child: Any) -> None:
        self._child = child
        self.raw = ""
        """Everything that was shown, with its colours."""

    def until(self, text: str) -> None:
        """Wait until a text is shown."""
        self._child.expect_exact(text)
        self.raw += f"{self._child.before}{self._child.after}"

    def type(self, line: str) -> None:
        self._child.sendline(line)

    def _read_on(self) -> None:
        """Read until the end, and close the terminal."""
        self._child.expect(pexpect.EOF)
        self.raw += self._child.before
        self._child.close()

    @property
    def shown(self) -> str:
        """Everything that was shown, without colours."""
        return _STYLE.sub("", self.raw).replace("\r\n", "\n")


class Terminal(Screen):
    """A command at a terminal, with somebody who reads and types."""

    def __init__(
        self, *words: str, cwd: Path, columns: int = 100, into: str | None = None, **env: str
    ) -> None:
        """`into` names a file that gets the standard output, as `>` does."""
        line = shlex.join([sys.executable, "-m", "handrail", *words])
        child: Any = pexpect.spawn(
            "/bin/sh",
            ["-c", f"exec {line}" if into is None else f"exec {line} > {into}"],
            cwd=str(cwd),
            env=environment(HANDRAIL_TOOLS=SHOP, **env),
            dimensions=(50, columns),
            encoding="utf-8",
            timeout=DEADLINE,
        )
        super().__init__(child)

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._child.sendintr()

    def end(self) -> int:
        """Wait until the command ends; its exit code, or minus the signal that ended it."""
        self._read_on()
        return int(
            self._child.exitstatus if self._child.exitstatus is not None else -self._child.signalstatus
        )
