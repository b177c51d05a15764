"""What a command prints is seen while it runs, and once."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.quick import handrail
from tests.acceptance.workspace import walk

PRINTS = "echo one; echo two >&2; exit 3"


def test_whoever_watched_is_told_only_how_it_ended(tmp_path: Path) -> None:
    walk.prepare(tmp_path)
    said = walk.answer(f"handrail run bash --command '{PRINTS}'", tmp_path)
    assert [said.count(word) for word in ("one\n", "two\n")] == [1, 1]
    assert "ended with exit code 3" in said


def test_a_pipe_gets_all_of_it(tmp_path: Path) -> None:
    done = handrail("run", "bash", "--command", PRINTS, cwd=tmp_path, HANDRAIL_WORKSPACE=".")
    assert done.out == "[exit code 3]\none\n[stderr]\ntwo\n"
    assert sorted(done.err.splitlines()) == ["one", "two"]
