"""Undo at a terminal, where each command is a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.command_line import CommandResult
from tests.acceptance.forked_cli import handrail


def run(root: Path, tool: str, *words: str) -> CommandResult:
    return handrail("run", tool, *words, cwd=root, HANDRAIL_WORKSPACE=".")


@pytest.mark.req("BT-03", "BT-04", "FC-03", "BY-14")
def test_each_command_undoes_what_the_last_one_changed(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_bytes(b"one\r\ntwo\r\n")
    assert run(tmp_path, "edit_file", "--path", "notes.txt", "--search", "two", "--replace", "2").code == 0
    assert run(tmp_path, "write_file", "--path", "new/more.txt", "--content", "more\n").code == 0

    shown = run(tmp_path, "undo_turn", "--preview")
    assert shown.code == 0 and "new/more.txt (removed)" in shown.out
    assert (tmp_path / "new/more.txt").exists()

    assert run(tmp_path, "undo_turn").code == 0
    assert not (tmp_path / "new").exists() and notes.read_bytes() == b"one\r\n2\r\n"
    assert run(tmp_path, "undo_file", "--path", "notes.txt").code == 0
    assert notes.read_bytes() == b"one\r\ntwo\r\n"
    assert run(tmp_path, "undo_turn", "--redo").code == 0
    assert notes.read_bytes() == b"one\r\n2\r\n"

    notes.write_bytes(b"by an editor\n")
    refused = run(tmp_path, "undo_file", "--path", "notes.txt")
    assert refused.code != 0 and "CHANGED_ELSEWHERE" in refused.out + refused.err
    assert notes.read_bytes() == b"by an editor\n"
