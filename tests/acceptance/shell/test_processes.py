"""However a command ends, its last process is gone when the call is over."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from handrail import Call
from handrail.toolsets.workspace.shell import CommandLimits, ShellOptions
from tests.acceptance.shell.shells import ANN, a_mark, a_shell, alive
from tests.harness.poll import poll_until

BOTH = pytest.mark.parametrize("boxed", [True, False], ids=["boxed", "bare"])
_DAEMON = "(setsid nohup env -i /bin/sleep {} >/dev/null 2>&1 &) ; setsid -f /bin/sleep {} ; echo done"


def options(boxed: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ShellOptions:
    if not boxed:
        monkeypatch.setenv("PATH", str(tmp_path))
    return ShellOptions(unsandboxed=not boxed)


async def until_alive(mark: str) -> None:
    await asyncio.to_thread(poll_until, lambda: alive(mark))


@BOTH
@pytest.mark.req("BF-08", "BY-18")
@pytest.mark.fault("F23")
async def test_a_daemon_that_left_its_group_ends_with_the_command(
    tmp_path: Path, boxed: bool, monkeypatch: pytest.MonkeyPatch
):
    mark = a_mark()
    async with a_shell(tmp_path, options(boxed, monkeypatch, tmp_path)) as shell:
        outcome = await shell.run(_DAEMON.format(mark, mark))
        assert outcome.result.data["stdout"] == "done\n"
        assert alive(mark) == []


@BOTH
@pytest.mark.req("BF-08", "BF-12", "EX-24")
@pytest.mark.fault("F23")
async def test_a_command_that_takes_too_long_is_ended_whole(
    tmp_path: Path, boxed: bool, monkeypatch: pytest.MonkeyPatch
):
    mark = a_mark()
    async with a_shell(tmp_path, options(boxed, monkeypatch, tmp_path)) as shell:
        for seconds in (0.7, 5, 25):  # until the shell had the time to begin
            outcome = await shell.run(f"echo begun; setsid sleep {mark} & sleep {mark}", timeout=seconds)
            assert (outcome.status, outcome.result.code) == ("failed", "TIMEOUT")
            assert f"{seconds:g} s" in str(outcome.result.error)
            assert alive(mark) == []
            if "begun" in str(outcome.result.output):
                break
        assert "begun" in str(outcome.result.output)


@BOTH
@pytest.mark.req("BY-18", "BF-08")
@pytest.mark.fault("F11")
async def test_a_cancelled_call_leaves_no_process(
    tmp_path: Path, boxed: bool, monkeypatch: pytest.MonkeyPatch
):
    mark = a_mark()
    async with a_shell(tmp_path, options(boxed, monkeypatch, tmp_path)) as shell:
        calling = asyncio.ensure_future(shell.run(f"setsid sleep {mark} & sleep {mark}"))
        await until_alive(mark)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        assert alive(mark) == []
        assert (await shell.run("echo free")).result.data["stdout"] == "free\n"


@pytest.mark.req("BY-18")
@pytest.mark.fault("F11")
async def test_a_call_that_is_cancelled_as_it_starts_leaves_no_process(tmp_path: Path):
    mark = a_mark()
    async with a_shell(tmp_path) as shell:
        for turns in range(12):
            calling = asyncio.ensure_future(shell.run(f"sleep {mark}"))
            for _ in range(turns):
                await asyncio.sleep(0)
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
        assert alive(mark) == []


@BOTH
@pytest.mark.req("BY-18")
@pytest.mark.fault("F11")
def test_a_killed_program_leaves_no_process(tmp_path: Path, boxed: bool):
    mark = a_mark()
    how = "run_sandboxed(c, SandboxSpec(r), r" if boxed else "run_bare(c, r"
    program = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from handrail.toolsets.workspace.shell.run import run_bare, run_sandboxed\n"
        "from handrail.toolsets.workspace.shell.sandbox import CommandLimits, SandboxSpec\n"
        f"r, c = Path(sys.argv[1]), 'setsid sleep {mark} & sleep {mark}'\n"
        f"asyncio.run({how}, CommandLimits(), 60, print))\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) as process:
        poll_until(lambda: len(alive(mark)) >= 2)
        os.kill(process.pid, signal.SIGKILL)
    poll_until(lambda: not alive(mark))


@pytest.mark.req("BF-12")
@pytest.mark.fault("F23")
async def test_endless_output_is_cut_with_a_marker_and_costs_little_memory(tmp_path: Path):
    limits = CommandLimits(output=8 * 1024**2)
    async with a_shell(tmp_path, ShellOptions(limits=limits)) as shell:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        outcome = await shell.run("yes & yes >&2 & head -c 10000000000 /dev/zero")
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert outcome.result.code == "LIMIT_REACHED"
    assert "printed too much" in str(outcome.result.error)
    assert "bytes left out here]" in str(outcome.result.output)
    assert grown < 100 * 1024**2


@BOTH
@pytest.mark.req("BF-08")
@pytest.mark.fault("F23")
async def test_a_command_that_starts_too_many_processes_is_ended(
    tmp_path: Path, boxed: bool, monkeypatch: pytest.MonkeyPatch
):
    mark = a_mark()
    given = options(boxed, monkeypatch, tmp_path)
    given = ShellOptions(unsandboxed=given.unsandboxed, limits=CommandLimits(processes=60))
    async with a_shell(tmp_path, given) as shell:
        outcome = await shell.run(f"for i in $(seq 90); do sleep {mark} & done; sleep {mark}", timeout=20)
        assert outcome.status == "failed"
        assert alive(mark) == []


@pytest.mark.req("BF-08")
@pytest.mark.fault("F23")
async def test_many_processes_together_use_no_more_memory_than_one_may(tmp_path: Path):
    given = ShellOptions(limits=CommandLimits(memory=200 * 1024**2))
    eat = "python3 -c 'import signal; x = bytearray(90_000_000); signal.pause()'"
    async with a_shell(tmp_path, given) as shell:
        outcome = await shell.run(" & ".join([eat] * 4) + " & wait", timeout=50)
    assert outcome.result.code == "LIMIT_REACHED"
    assert "memory" in str(outcome.result.error)


@pytest.mark.req("BP-07")
async def test_commands_of_a_batch_run_one_after_the_other(tmp_path: Path):
    async with a_shell(tmp_path) as shell:
        step = {"command": "test ! -e busy && touch busy && cat /dev/null && sleep 0.1 && rm busy"}
        calls = [Call(name, step, ANN) for name in ("bash", "shell_exec", "bash")]
        outcomes = await shell.handrail.call_many(calls)
    assert [one.result.data["exit_code"] for one in outcomes] == [0, 0, 0]


@pytest.mark.req("BY-18", "BF-08")
@pytest.mark.fault("F11")
async def test_a_call_that_is_cancelled_by_its_name_is_told_so_and_leaves_no_process(tmp_path: Path):
    mark = a_mark()
    async with a_shell(tmp_path) as shell:
        told: list[str] = []
        shell.handrail.subscribe(lambda event: told.append(event.type))
        asked = {"command": f"setsid sleep {mark} & sleep {mark}"}
        calling = asyncio.ensure_future(shell.handrail.call("bash", asked, principal=ANN, id="c"))
        await until_alive(mark)
        assert await shell.handrail.cancel("c", "enough")
        outcome = await calling
        assert outcome.status == "cancelled"
        assert "tool.cancelled" in told
        assert alive(mark) == []
