"""The command line in processes that start at once: forks of one that has imported everything already.

For tests that need many commands. Those about starting and ending a process run `python -m handrail`.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from tests.acceptance.command_line import DEADLINE, SHOP, Done, environment
from tests.harness.nursery import Nursery

PRELOADED = (
    *(
        f"handrail.doors.cli.{name}"
        for name in "root run plan undo approve dlq keys tenants events runs verify".split()
    ),
    *(
        f"handrail.{name}"
        for name in "app databases jobs.durable identity.key_office store.events.verify".split()
    ),
    *(f"handrail.store.{name}" for name in "approvals.book keys.keys letters.letters usage migrate".split()),
    *("psycopg", "sqlalchemy.dialects.sqlite", "sqlalchemy.dialects.postgresql.psycopg"),
)


class Quick:
    """Runs commands, each in a process of its own."""

    def __init__(self, nursery: Nursery) -> None:
        self._nursery = nursery

    def __call__(self, *words: str, cwd: Path, **env: str) -> Done:
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            code = self._nursery.run(
                "tests.acceptance.quick:play",
                timeout=DEADLINE * 2,
                words=words,
                folder=str(cwd),
                env=environment(**{"HANDRAIL_TOOLS": SHOP, **env}),
                out=str(out),
                err=str(err),
            )
            return Done(code, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8"))


def play(words: list[str], folder: str, env: dict[str, str], out: str, err: str) -> None:
    """In the fork: be the command that was typed."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    sys.argv = ["handrail", *words]
    from handrail.app import main

    try:
        main()
    except SystemExit as ended:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ended.code if isinstance(ended.code, int) else 1)
