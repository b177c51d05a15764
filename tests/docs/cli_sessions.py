"""Sessions: the commands that cli.md and a page of the examples show, and what they answer.

When the command line says something else, `python -m tests.docs.cli_sessions` writes it into the pages.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.docs.code_blocks import ROOT

PAGE = ROOT / "docs" / "cli.md"
AGENTS = ROOT / "examples" / "agent_policy" / "README.md"


def fenced(language: str, page: Path = PAGE) -> list[str]:
    """The blocks of a page in a language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def steps(page: Path = PAGE) -> Iterator[tuple[str, str]]:
    """Every command of every session, and what the page shows after it."""
    for session in fenced("console", page):
        for step in session.split("$ ")[1:]:
            command, _, output = step.partition("\n")
            yield command, output


def prepare(project: Path, page: Path = PAGE) -> None:
    """The folder in which the sessions of a page play."""
    if page == PAGE:
        shutil.copy(ROOT / "docs_src" / "cli_shop.py", project / "shop.py")
        (project / "handrail.toml").write_text(fenced("toml")[0])
    else:
        shutil.copytree(page.parent, project, dirs_exist_ok=True)
    put_command(project)


def put_command(project: Path) -> None:
    """The command `handrail` as this Python has it."""
    (project / "bin").mkdir()
    command = project / "bin" / "handrail"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m handrail "$@"\n')
    command.chmod(0o755)


def answer(command: str, project: Path) -> str:
    """What a command says there, with ids and times that are the same each time."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("HANDRAIL_")}
    env["PATH"] = f"{project / 'bin'}:{env['PATH']}"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=project,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=30,
        check=False,
    )
    said = re.sub(r"approval approval_\w+", "approval ID", done.stdout)
    said = re.sub(r"\b(approval|call|run)_[0-9a-f]{6,}_\w+", r"\1_ID", said)
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\b\d+ ms\b", "…", said)


def main() -> None:
    """Write what the commands answer now into the pages."""
    for page in (PAGE, AGENTS):
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            prepare(Path(folder), page)
            for command, shown in list(steps(page)):
                said = answer(command, Path(folder))
                text = text.replace(f"$ {command}\n{shown}", f"$ {command}\n{said}", 1)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
