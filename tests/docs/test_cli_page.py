"""cli.md and the README: their commands work, sessions are what is answered, tables are complete."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from handrail import load_policies
from handrail.doors.cli.commands import COMMANDS, CommandEntry
from handrail.doors.cli.exit_codes import ExitCode
from handrail.doors.cli.new import STYLES
from handrail.settings import KINDS
from tests.docs import cli_sessions
from tests.docs.code_blocks import ROOT

PAGE = cli_sessions.PAGE.read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.timeout(180)
def test_every_session_answers_what_the_page_shows(tmp_path: Path) -> None:
    cli_sessions.prepare(tmp_path)
    for command, shown in cli_sessions.steps():
        assert cli_sessions.answer(command, tmp_path) == shown, command


def test_the_commands_of_the_readme_work(tmp_path: Path) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = page.partition("## At the terminal")[2].split("```")[1].split("\n")[1:-1]
    cli_sessions.put_command(tmp_path)
    for command in commands:
        here = command.replace("pytest ", f"{sys.executable} -m pytest -p no:cacheprovider ", 1)
        said = cli_sessions.answer(f'{here}\necho "exit code $?"', tmp_path)
        assert said.endswith("\nexit code 0\n"), f"{command}\n{said}"
    assert len(commands) == 6


def test_the_file_of_agents_loads(tmp_path: Path) -> None:
    (tmp_path / "agents.yaml").write_text(cli_sessions.fenced("yaml")[0])
    assert list(load_policies(tmp_path / "agents.yaml")) == ["clerk", "planner"]


def test_every_exit_code_is_in_the_table() -> None:
    for code in ExitCode:
        assert f"\n| {code.value} | {code.meaning} | " in PAGE


def test_every_command_setting_and_style_is_named() -> None:
    for name, entry in COMMANDS.items():
        commands = [name] if isinstance(entry, CommandEntry) else [f"{name} {inner}" for inner in entry[1]]
        assert all(f"`handrail {command}" in PAGE for command in commands)
    assert [word for word in (*KINDS, *STYLES) if f"`{word}`" not in PAGE] == []
