"""Stopping: Ctrl-C in the middle of a call, a signal from outside, a reader that goes away."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.command_line import DEADLINE, SHOP, Terminal, environment

LATE = """
from handrail import define


def late(init):
    print("set up", flush=True)
    return {"description": "Read late.", "level": "read", "execute": lambda args: "read"}


late_read = define("late.read", late)
"""


@pytest.mark.req("BY-18")
def test_ctrl_c_cancels_the_call_and_its_body_cleans_up(tmp_path: Path) -> None:
    terminal = Terminal("run", "slow.wait", "--trace", "trace.txt", cwd=tmp_path)
    terminal.until("Waiting")
    terminal.interrupt()
    assert terminal.end() == 130
    assert "Stopping; press Ctrl-C again to leave at once." in terminal.shown
    assert "cancelled CANCELLED: Cancelled: Ctrl-C." in terminal.shown
    assert (tmp_path / "trace.txt").read_text() == "cleaned up"


def test_ctrl_c_with_json_still_gives_one_document(tmp_path: Path) -> None:
    terminal = Terminal("run", "slow.wait", "--json", cwd=tmp_path, into="answer.json")
    terminal.until("Waiting")
    terminal.interrupt()
    assert terminal.end() == 130
    told = json.loads((tmp_path / "answer.json").read_text())
    assert (told["status"], told["code"]) == ("cancelled", "CANCELLED")


def test_a_body_that_heeds_nothing_is_left_behind_with_a_word_about_it(tmp_path: Path) -> None:
    terminal = Terminal("run", "slow.stubborn", cwd=tmp_path, HANDRAIL_CANCEL_GRACE="0.05")
    terminal.until("Waiting")
    terminal.interrupt()
    terminal.until("It did not heed the interruption")
    assert terminal.end() == 130


def test_a_second_ctrl_c_leaves_at_once(tmp_path: Path) -> None:
    terminal = Terminal("run", "slow.stubborn", cwd=tmp_path, HANDRAIL_CANCEL_GRACE="600")
    terminal.until("Waiting")
    terminal.interrupt()
    terminal.until("Stopping")
    terminal.interrupt()
    assert terminal.end() == 130


def test_ctrl_c_while_arguments_are_typed_leaves_at_once(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(LATE)
    terminal = Terminal("run", "--tools", "late.py", "late.read", "--args", "-", cwd=tmp_path)
    terminal.until("set up")
    terminal.interrupt()
    assert terminal.end() == 130


def test_a_disk_that_is_full_and_an_input_that_is_closed_are_told_in_words(tmp_path: Path) -> None:
    said = {}
    for ending in (
        "tools > /dev/full",
        "run stock.count --item bolt > /dev/full",
        "run stock.count --args - <&-",
    ):
        done = subprocess.run(
            ["/bin/sh", "-c", f"{shlex.quote(sys.executable)} -m handrail {ending}"],
            cwd=tmp_path,
            env=environment(HANDRAIL_TOOLS=SHOP),
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )
        assert "Traceback" not in done.stderr and "Exception" not in done.stderr
        said[ending.partition(" ")[0], done.returncode] = done.stderr
    assert "No space left on device" in said["tools", 1] and "No space left" in said["run", 1]
    assert "error: standard input is closed" in said["run", 2]


def test_a_termination_signal_cancels_too(tmp_path: Path) -> None:
    process = _started("run", "slow.wait", "--trace", "trace.txt", cwd=tmp_path)
    assert process.stderr is not None
    _until(process, b"Waiting")
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130
    assert b"Cancelled: it was told to end." in err
    assert (tmp_path / "trace.txt").read_text() == "cleaned up"


def test_ctrl_c_while_a_module_is_imported_ends_quietly(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text(
        "import sys, threading\nprint('importing', file=sys.stderr, flush=True)\nthreading.Event().wait()\n"
    )
    process = _started("tools", "--tools", "endless.py", cwd=tmp_path)
    _until(process, b"importing\n")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, err) == (130, b"Cancelled.\n")


@pytest.mark.parametrize("words", [["run", "big.list"], ["run", "big.list", "--json"]])
def test_a_reader_that_goes_away_ends_it_without_a_word(tmp_path: Path, words: list[str]) -> None:
    process = _started(*words, cwd=tmp_path)
    assert process.stdout is not None
    os.read(process.stdout.fileno(), 10)
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait(timeout=DEADLINE) == 141
    process.stderr.close()


def _started(*words: str, cwd: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "handrail", *words],
        cwd=cwd,
        env=environment(HANDRAIL_TOOLS=SHOP),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )


def _until(process: subprocess.Popen[bytes], text: bytes) -> None:
    """Wait until standard error has a text; the test's own deadline bounds it."""
    assert process.stderr is not None
    heard = b""
    while text not in heard:
        piece = os.read(process.stderr.fileno(), 1)
        assert piece, f"it ended before it said {text!r}: {heard!r}"
        heard += piece
