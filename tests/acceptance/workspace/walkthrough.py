"""The walk of docs/workspace.md: its commands in a small repository, and what they answer.

When they answer something else, `python -m tests.acceptance.workspace.walkthrough` writes it into the page.
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from pathlib import Path

from examples.small_repository import make
from tests.acceptance.command_line import DEADLINE, environment
from tests.acceptance.forked_cli import fork_server
from tests.docs import cli_sessions
from tests.docs.code_blocks import ROOT

PAGE = ROOT / "docs" / "workspace.md"
HOME = "/home/ana/prices"
_VARIES = ((r"\bin \d+\.\d+s\b", "in 0.001s"), (r"\b(after|in) \d+(\.\d+)? s\b", r"\1 … s"))
_CARETS = r"(?m)^ *[~^]+\n"
"""Which part of a line raised, as newer Pythons show."""
_TIMES = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


def prepare(folder: Path) -> None:
    """The repository, with the settings of the page."""
    make(folder, **{"handrail.toml": cli_sessions.fenced("toml", PAGE)[0]})


def answer(command: str, folder: Path) -> str:
    """What a command says there to whoever reads both streams, with times that are the same each time."""
    program, *words = shlex.split(command)
    assert program == "handrail", command
    with tempfile.NamedTemporaryFile(encoding="utf-8", mode="r") as said:
        fork_server().run(
            "tests.acceptance.forked_cli:play",
            timeout=DEADLINE * 2,
            words=words,
            folder=str(folder),
            env=environment(),
            streams=[os.devnull, said.name, said.name],
        )
        text = said.read().replace(str(folder), HOME)
    for pattern, same in (*_VARIES, (_TIMES, "…"), (_CARETS, "")):
        text = re.sub(pattern, same, text)
    return text


def main() -> None:
    """Write what the commands answer now into the page."""
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        for command, shown in list(cli_sessions.steps(PAGE)):
            said = answer(command, Path(folder))
            text = text.replace(f"$ {command}\n{shown}", f"$ {command}\n{said}", 1)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
