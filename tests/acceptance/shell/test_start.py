"""A command begins when everything that ends it is in place, and not before."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import psutil
import pytest

from handrail.toolsets.workspace.shell import sandbox_process
from handrail.toolsets.workspace.shell.run import run_sandboxed
from handrail.toolsets.workspace.shell.sandbox import (
    READY,
    CommandLimits,
    SandboxSpec,
    etc_folder,
    sweep_etc_copies,
    wait_script,
)
from tests.acceptance.shell.shells import a_mark, a_shell, alive
from tests.acceptance.shell.test_processes import BOTH, options
from tests.harness.poll import poll_until

_BASH = ("/bin/bash", "-c")
_KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from handrail.toolsets.workspace.shell import run
from handrail.toolsets.workspace.shell.sandbox_process import SandboxProcess
from handrail.toolsets.workspace.shell.sandbox import etc_folder
from handrail.toolsets.workspace.shell.run import run_sandboxed
from handrail.toolsets.workspace.shell.sandbox import CommandLimits, SandboxSpec


class Killed(SandboxProcess):
    def _send(self, word):
        super()._send(word)
        end_in(number * 2)  # bubblewrap is still at work here where the word comes too early
        signal.pause()


def end_in(milliseconds):  # by the clock, whose signal nobody handles: as sudden as SIGKILL
    signal.setitimer(signal.ITIMER_REAL, max(milliseconds, 0.001) / 1000)


root = Path(sys.argv[1])
shown = SandboxSpec(root, readable=(Path("/usr/share"),) * 80)
etc_folder()
for number in range(20):
    child = os.fork()
    if child == 0:
        if number < 8:
            run.SandboxProcess = Killed
        else:
            end_in(number)
        asyncio.run(run_sandboxed(f"exec sleep {sys.argv[2]}", shown, root, CommandLimits(), 60, len))
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGALRM
"""


@pytest.mark.req("BY-18", "BF-08")
@pytest.mark.fault("F11")
def test_a_program_that_is_killed_as_a_command_starts_leaves_no_command(tmp_path: Path):
    mark = a_mark()
    subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path), mark], check=True, timeout=60)
    poll_until(lambda: not alive(mark))
    poll_until(lambda: not [one for one in _boxes(str(tmp_path)) if one.children()])
    for one in _boxes(str(tmp_path)):  # those that never began
        one.kill()


@pytest.mark.req("BY-18")
@pytest.mark.fault("F11")
@pytest.mark.parametrize(
    ("word", "heard", "runs"), [("go\n", True, True), ("", True, False), ("go\n", False, False)]
)
def test_a_command_waits_for_the_word_of_somebody_who_hears_it(
    tmp_path: Path, word: str, heard: bool, runs: bool
):
    hearing, ready = os.pipe()
    if not heard:
        os.close(hearing)
    line = [*_BASH, f"{wait_script(ready)}touch ran"]
    subprocess.run(line, cwd=tmp_path, input=word, text=True, pass_fds=(ready,), timeout=20)
    os.close(ready)
    if heard:
        assert os.read(hearing, 100) == READY
        os.close(hearing)
    assert (tmp_path / "ran").exists() is runs


@pytest.mark.req("BY-18")
@pytest.mark.fault("F11")
async def test_the_word_comes_when_the_sandbox_says_that_it_is_ready():
    process = await asyncio.create_subprocess_exec("cat", stdin=PIPE, stdout=PIPE)
    assert process.stdin is not None and process.stdout is not None
    hearing, telling = os.pipe()
    box = sandbox_process.SandboxProcess(process, os.fdopen(hearing, "rb", 0))
    os.write(telling, b'{"child-pid": %d}' % process.pid)
    for _ in range(100):  # the loop takes what is in the pipe in its next turns
        await asyncio.sleep(0)
    assert not box.has_begun and not process.stdin.is_closing(), "it spoke too early"
    os.write(telling, READY)
    os.close(telling)
    assert await process.stdout.read() == b"go\n"
    assert box.has_begun
    await box.end()


def _boxes(root: str) -> list[psutil.Process]:
    every = psutil.process_iter(["name", "cmdline"])
    return [one for one in every if one.info["name"] == "bwrap" and root in (one.info["cmdline"] or ())]


@pytest.mark.fault("F11")
def test_a_sandbox_that_never_began_is_swept_when_the_next_program_starts(tmp_path: Path):
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    folder, ours = tmp_path / f"handrail-etc-{gone.pid}-x", tmp_path / f"handrail-etc-{os.getpid()}-x"
    boxes = []
    for one in (folder, ours):
        one.mkdir()
        line = [
            "bwrap",
            "--ro-bind",
            "/",
            "/",
            "--tmpfs",
            "/tmp",
            "--ro-bind",
            str(one),
            "/tmp/etc",
            "sleep",
            "60",
        ]
        boxes.append(subprocess.Popen(line, start_new_session=True))
    poll_until(lambda: all(psutil.Process(box.pid).children() for box in boxes))
    sweep_etc_copies(tmp_path)
    assert boxes[0].wait(20) == -signal.SIGKILL
    assert not folder.exists() and ours.exists()
    assert boxes[1].poll() is None
    for box in boxes:
        os.killpg(box.pid, signal.SIGKILL)
    boxes[1].wait()


def test_what_is_shown_of_etc_is_made_again_when_somebody_cleaned_up():
    before = etc_folder()
    assert (before / "passwd").read_text() == Path("/etc/passwd").read_text()
    assert etc_folder() == before
    (before / "gai.conf").unlink()
    after = etc_folder()
    assert after != before and (after / "passwd").exists()


def test_a_forked_process_has_a_copy_of_its_own_and_leaves_ours():
    ours = etc_folder()
    program = (
        "import os\nfrom handrail.toolsets.workspace.shell.sandbox import etc_folder\n"
        "ours = etc_folder()\n"
        "child = os.fork()\n"
        "if child == 0:\n    assert etc_folder() != ours\n    raise SystemExit\n"
        "assert os.waitpid(child, 0)[1] == 0 and ours.is_dir()\n"
        "print(ours)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=True
    )
    assert not Path(done.stdout.strip()).exists() and ours.is_dir()


@BOTH
@pytest.mark.req("BF-08")
@pytest.mark.fault("F23")
async def test_a_command_yields_to_others_and_goes_first_when_memory_is_short(
    tmp_path: Path, boxed: bool, monkeypatch: pytest.MonkeyPatch
):
    async with a_shell(tmp_path, options(boxed, monkeypatch, tmp_path)) as shell:
        printed = await shell.out("nice; cat /proc/self/oom_score_adj; (nice)")
    assert printed.split() == ["10", "1000", "10"]


@pytest.mark.req("EX-24", "BF-08")
@pytest.mark.fault("F11")
async def test_a_sandbox_that_hangs_as_it_starts_is_ended_by_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    mark = a_mark()
    (tmp_path / "bwrap").write_text(f"#!/bin/sh\n/bin/sleep {mark} & exec /bin/sleep {mark}\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sandbox_process, "_GRACE", 0.2)
    heard: list[bytes] = []
    ran = await run_sandboxed("echo ran", SandboxSpec(tmp_path), tmp_path, CommandLimits(), 0.5, heard.append)
    assert (ran.ended, ran.stdout.text()) == ("timeout", "") and heard == []
    poll_until(lambda: not alive(mark))
