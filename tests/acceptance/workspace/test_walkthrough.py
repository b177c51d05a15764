"""docs/workspace.md: search, read, edit, run the tests and undo in a repository, as the page shows it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from examples.small_repository import FILES
from tests.acceptance.workspace import walkthrough
from tests.docs import cli_sessions


@pytest.mark.req("BF-01", "BF-03", "BF-06", "BF-08", "BT-03", "BT-04")
@pytest.mark.timeout(180)
def test_every_command_of_the_walk_answers_what_the_page_shows(tmp_path: Path) -> None:
    walkthrough.prepare(tmp_path)
    commands = []
    for command, shown in cli_sessions.steps(walkthrough.PAGE):
        assert walkthrough.answer(command, tmp_path) == shown, command
        commands.append(command.split()[2])
    assert {"grep", "read_file", "edit_file", "bash", "undo_file", "undo_turn"} <= set(commands)

    left = subprocess.run(
        ["git", "status", "--short"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert left.stdout == "", "what the walk changed it has undone, and what we keep is nothing for git"
    assert (tmp_path / "prices/discount.py").read_text() == FILES["prices/discount.py"]
