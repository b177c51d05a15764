"""What a command prints is seen while it runs, and once; what to do next is said in flags that there are."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.forked_cli import Terminal, handrail
from tests.acceptance.workspace import walkthrough

PRINTS = "echo one; echo two >&2; exit 3"


def test_whoever_watched_is_told_only_how_it_ended(tmp_path: Path) -> None:
    walkthrough.prepare(tmp_path)
    said = walkthrough.answer(f"handrail run bash --command '{PRINTS}'", tmp_path)
    assert [said.count(word) for word in ("one\n", "two\n")] == [1, 1]
    assert "ended with exit code 3" in said


def test_a_pipe_gets_all_of_it(tmp_path: Path) -> None:
    done = handrail("run", "bash", "--command", PRINTS, cwd=tmp_path, HANDRAIL_WORKSPACE=".")
    assert done.out == "[exit code 3]\none\n[stderr]\ntwo\n"
    assert sorted(done.err.splitlines()) == ["one", "two"]


def test_more_time_is_given_with_the_flag_that_the_tool_has(tmp_path: Path) -> None:
    done = handrail(
        *("run", "bash", "--command", "sleep 60", "--arg-timeout", "0.2"),
        cwd=tmp_path,
        HANDRAIL_WORKSPACE=".",
    )
    assert done.err.endswith("  Give it more time with --arg-timeout SECONDS.\n")


def test_an_empty_list_is_an_empty_cell(tmp_path: Path) -> None:
    handrail("run", "task_create", "--subject", "Read", cwd=tmp_path, HANDRAIL_WORKSPACE=".")
    screen = Terminal("run", "task_list", cwd=tmp_path, HANDRAIL_WORKSPACE=".")
    screen.until("Behind these")
    screen.end()
    assert "T1" in screen.raw and "[]" not in screen.raw


def test_at_a_terminal_a_diff_has_its_colours_and_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    screen = Terminal(
        *("run", "edit_file", "--path", "a.txt", "--search", "one", "--replace", "two"),
        cwd=tmp_path,
        HANDRAIL_WORKSPACE=".",
    )
    assert screen.end() == 0
    assert "\x1b[31m-one\x1b[0m" in screen.raw and "\x1b[32m+two\x1b[0m" in screen.raw
    assert screen.raw.count("Edited a.txt") == 1


def test_a_script_is_asked_about_line_by_line(tmp_path: Path) -> None:
    script = "rm -f x\ncat > y <<E\n  hi\nE"
    screen = Terminal("run", "bash", "--command", script, cwd=tmp_path, HANDRAIL_WORKSPACE=".")
    screen.until("[a]pprove")
    lines = [line.rstrip() for line in screen.shown.splitlines()]
    at = lines.index('    command = "rm -f x\\n')
    assert lines[at + 1 : at + 4] == ["      cat > y <<E\\n", "        hi\\n", '      E"']
    screen.type("r")
    screen.until("Why?")
    screen.type("")
    assert screen.end() == 5
