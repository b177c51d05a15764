"""The command line in processes that start at once: forks of one that has imported everything already.

For tests that need many commands, in pipes or at a terminal. Those about starting and ending a process run
`python -m handrail`.
"""

from __future__ import annotations

import atexit
import functools
import os
import sys
import tempfile
import termios
from concurrent.futures import Future
from pathlib import Path

from pexpect.fdpexpect import fdspawn

from tests.acceptance.command_line import DEADLINE, SHOP, CommandResult, Screen, environment
from tests.harness.background_process import BackgroundProcess
from tests.harness.fork_server import ROOT, ForkServer

PRELOADED = (
    *(
        f"handrail.doors.cli.{name}"
        for name in ("commands run plan undo tools explain new approvals dlq admin events runs".split())
    ),
    *(
        f"handrail.{name}"
        for name in "app databases jobs.durable_jobs identity.api_keys store.events.verify".split()
    ),
    *(f"handrail.store.{name}" for name in "approvals idempotency dead_letters usage migrate".split()),
    *("psycopg", "sqlalchemy.dialects.sqlite", "sqlalchemy.dialects.postgresql.psycopg"),
    *(
        "jsonschema_rs.canonical",
        "handrail.policy_file",
        "pydantic._internal._dataclasses",
        "typer._adapters",
    ),
    *("handrail.toolsets.workspace", "tree_sitter", "tree_sitter_bash"),
)


@functools.cache
def fork_server() -> ForkServer:
    """The one of this process, which ends it."""
    opened = ForkServer(*PRELOADED)
    atexit.register(opened.close)
    return opened


@functools.cache
def server_fork_server() -> ForkServer:
    """One that has imported what servers need, which is much more."""
    opened = ForkServer(*PRELOADED, "tests.acceptance.preload_server")
    atexit.register(opened.close)
    return opened


def handrail(*words: str, cwd: Path, stdin: str = "", **env: str) -> CommandResult:
    """Run a command until it ends."""
    with tempfile.TemporaryDirectory() as folder:
        given, out, err = (Path(folder, name) for name in ("in", "out", "err"))
        given.write_text(stdin, encoding="utf-8")
        code = fork_server().run(
            "tests.acceptance.forked_cli:play",
            timeout=DEADLINE * 2,
            words=words,
            folder=str(cwd),
            env=environment(**env),
            streams=[str(given), str(out), str(err)],
        )
        return CommandResult(code, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8"))


def shop(*words: str, cwd: Path, stdin: str = "", **env: str) -> CommandResult:
    """The same with the tools of the shop."""
    return handrail(*words, cwd=cwd, stdin=stdin, **{"HANDRAIL_TOOLS": SHOP, **env})


def run_in_background(*words: str, cwd: Path, env: dict[str, str]) -> BackgroundProcess:
    """A command that goes on, such as a server; `heard` is its standard error."""
    streams = [os.devnull, os.devnull]
    return BackgroundProcess(
        server_fork_server(),
        "tests.acceptance.forked_cli:play",
        words=words,
        folder=str(cwd),
        env=env,
        streams=streams,
    )


class ForkedCli:
    """Runs commands of the shop: for those who are handed what to run commands with."""

    def __call__(self, *words: str, cwd: Path, **env: str) -> CommandResult:
        return shop(*words, cwd=cwd, **env)


class Terminal(Screen):
    """A command at a terminal, with somebody who reads and types."""

    def __init__(
        self, *words: str, cwd: Path, columns: int = 100, into: str | None = None, **env: str
    ) -> None:
        """`into` names a file that gets the standard output, as `>` does."""
        ours, theirs = os.openpty()
        termios.tcsetwinsize(theirs, (50, columns))
        name = os.ttyname(theirs)
        self._ended: Future[int] = fork_server().start(
            "tests.acceptance.forked_cli:play",
            words=words,
            folder=str(cwd),
            env=environment(**{"HANDRAIL_TOOLS": SHOP, **env}),
            streams=[name, into or name, name],
        )
        self._ended.add_done_callback(lambda _: os.close(theirs))  # and so it is seen to be over
        super().__init__(fdspawn(ours, encoding="utf-8", timeout=DEADLINE))

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._child.send("\x03")

    def end(self) -> int:
        """Wait until the command ends; its exit code, or minus the signal that ended it."""
        self._read_on()
        return self._ended.result(DEADLINE)


def play(
    words: list[str], folder: str, env: dict[str, str], streams: list[str], said: str | None = None
) -> None:
    """In the fork: be the command that was typed."""
    os.setsid()  # a terminal that is opened next is that of this process
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    for number, path in enumerate([*streams, *([] if said is None else [said])]):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND), number)
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    sys.path[:] = _path(folder, env)
    sys.argv = ["handrail", *words]
    from handrail.app import main

    try:
        main()
    except SystemExit as ended:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ended.code if isinstance(ended.code, int) else 1)


def _path(folder: str, env: dict[str, str]) -> list[str]:
    """Where `python -m` looks for modules: here, and not where those of the tests are."""
    named = [one for one in env.get("PYTHONPATH", "").split(os.pathsep) if one]
    ours = {str(ROOT), str(ROOT / "src")}
    return [folder, *named, *(one for one in sys.path if one not in ours), str(ROOT / "src")]
