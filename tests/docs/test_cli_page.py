"""cli.md: its sessions are what the command line answers, its tables are complete."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.doors.cli.exits import Exit
from handrail.doors.cli.new import STYLES
from handrail.doors.cli.root import COMMANDS, Entry
from handrail.policyfile import load_policies
from handrail.settings import READERS
from tests.docs.blocks import ROOT

PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")


def fenced(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def steps() -> Iterator[tuple[str, str]]:
    """Every command of every session, and what the page shows after it."""
    for session in fenced("console"):
        for step in session.split("$ ")[1:]:
            command, _, output = step.partition("\n")
            yield command, output


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "docs_src" / "cli_shop.py", tmp_path / "shop.py")
    (tmp_path / "handrail.toml").write_text(fenced("toml")[0])
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "handrail"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m handrail "$@"\n')
    command.chmod(0o755)
    return tmp_path


def test_every_session_answers_what_the_page_shows(project: Path) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("HANDRAIL_")}
    env["PATH"] = f"{project / 'bin'}:{env['PATH']}"
    for command, shown in steps():
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
        assert re.sub(r"approval approval_\w+", "approval ID", done.stdout) == shown, command


def test_the_file_of_agents_loads(tmp_path: Path) -> None:
    (tmp_path / "agents.yaml").write_text(fenced("yaml")[0])
    assert list(load_policies(tmp_path / "agents.yaml")) == ["clerk", "planner"]


def test_every_exit_code_is_in_the_table() -> None:
    for code in Exit:
        assert f"\n| {code.value} | {code.meaning} | " in PAGE


def test_every_command_setting_and_style_is_named() -> None:
    for name, entry in COMMANDS.items():
        commands = [name] if isinstance(entry, Entry) else [f"{name} {inner}" for inner in entry[1]]
        assert all(f"`handrail {command}" in PAGE for command in commands)
    assert [word for word in (*READERS, *STYLES) if f"`{word}`" not in PAGE] == []
