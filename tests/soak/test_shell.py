"""The shell under attack, in full numbers: bombs, floods, daemons, and command lines made by chance."""

from __future__ import annotations

import resource
import shlex
import time
from pathlib import Path
from random import Random

import psutil
import pytest

from handrail.toolsets.workspace.shell import CommandLimits, ShellOptions, classify
from tests.acceptance.shell.shells import a_mark, a_shell, alive
from tests.harness.shell_commands import BashProbe, disguised_commands, shell_commands

_BOMBS = (
    ":(){ :|:& };:",
    "f() { setsid sleep 60 & f | f & }; f",
    "while :; do (while :; do sleep 60 & done) & done",
)


@pytest.mark.alone
@pytest.mark.fault("F23")
async def test_a_fork_bomb_ends_and_the_machine_lives(tmp_path: Path) -> None:
    before = len(psutil.pids())
    async with a_shell(tmp_path) as shell:
        for bomb in _BOMBS:
            start = time.monotonic()
            outcome = await shell.run(bomb, timeout=5)
            assert time.monotonic() - start < 20
            assert outcome.status == "failed" or outcome.result.data["exit_code"] is not None
        assert await shell.out("echo alive") == "alive\n"
    assert len(psutil.pids()) < before + 200


@pytest.mark.fault("F23")
async def test_ten_gigabytes_of_output_are_cut_and_cost_little_memory(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with a_shell(tmp_path) as shell:
        ended = await shell.run("head -c 10000000000 /dev/zero", timeout=300)
        endless = await shell.run("yes", timeout=300)
    async with a_shell(tmp_path, ShellOptions(limits=CommandLimits(output=20 * 1024**3))) as shell:
        read = await shell.run("head -c 1000000000 /dev/zero", timeout=300)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert (ended.result.code, endless.result.code) == ("LIMIT_REACHED", "LIMIT_REACHED")
    assert "bytes left out here]" in str(ended.result.output)
    assert read.result.data["exit_code"] == 0 and read.result.data["truncated"]
    assert "[999,000,000 bytes left out here]" in str(read.result.output)
    assert grown < 150 * 1024**2


@pytest.mark.fault("F23")
async def test_fifty_daemons_are_gone_with_their_commands(tmp_path: Path) -> None:
    mark = a_mark()
    async with a_shell(tmp_path) as shell:
        for _ in range(50):
            outcome = await shell.run(f"setsid -f /bin/sleep {mark}; (setsid nohup sleep {mark} &)")
            assert outcome.result.data["exit_code"] == 0
            assert alive(mark) == []


@pytest.mark.fault("F22")
@pytest.mark.parametrize("seed", range(3))
def test_bash_starts_nothing_unknown_in_what_is_judged_safe(tmp_path: Path, seed: int) -> None:
    chance, proof = Random(seed), BashProbe(tmp_path)
    lines = (shell_commands(chance) for _ in range(30_000))
    safe = [line for line in lines if "evil" in line and classify(line).is_safe]
    assert [line for line in safe if proof.changes_something(line)] == []


@pytest.mark.fault("F22")
@pytest.mark.parametrize("seed", range(3))
def test_what_bash_makes_of_a_safe_line_is_safe_as_well(tmp_path: Path, seed: int) -> None:
    chance, proof = Random(seed), BashProbe(tmp_path)
    lines = {disguised_commands(chance) for _ in range(30_000)}
    safe = [line for line in sorted(lines) if classify(line).is_safe]
    assert [
        line for line in safe if not all(classify(shlex.join(one)).is_safe for one in proof.starts(line))
    ] == []
