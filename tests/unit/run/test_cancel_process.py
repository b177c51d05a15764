"""Cancelling and timing out bodies in processes of their own: the whole tree ends, by force if need be."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from handrail import Handrail, Policy
from handrail.core.tell.log import open_runs
from handrail.ext.ports import MemoryClaims
from tests.harness.child_processes import no_leftover_processes
from tests.unit.run import process_tools as tools

WITHOUT_ASKING = Policy(approval_mode="policy")


async def pids_of(hr: Handrail) -> asyncio.Future[list[int]]:
    """The process ids that a body will tell as progress."""
    told: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()

    def hear(event) -> None:
        if event.kind == "progress" and not told.done():
            told.set_result(event.told["pids"])

    hr.subscribe(hear)
    return told


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one that only waits for its parent to notice has."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


def all_gone(pids: list[int], seconds: float = 20) -> bool:
    """Whether all of them end in time: the kernel may need a moment after a kill."""
    deadline = time.monotonic() + seconds
    while not all(map(is_gone, pids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.req("BY-18", "CX-07", "CX-08", "EX-21")
async def test_cancelling_kills_a_stubborn_body_and_its_stubborn_child() -> None:
    claims = MemoryClaims()
    async with Handrail([tools.stubborn], policy=WITHOUT_ASKING, claims=claims, cancel_grace=0.1) as hr:
        told = await pids_of(hr)
        call = asyncio.create_task(hr.call("work.stubborn", id="c1", session="s"))
        pids = await told
        assert len(claims) == 1
        assert await hr.cancel("c1", "the user left")
        out = await call
        assert (out.status, out.code) == ("cancelled", "CANCELLED")
        assert len(claims) == 0
        events = [event.kind for event in hr.log.read("local", session="s")]
        assert events == ["started", "cancelled"]
    assert all_gone(pids)


@pytest.mark.req("BY-18", "EX-24", "EX-21")
async def test_a_timeout_kills_a_stubborn_body_and_its_stubborn_child() -> None:
    for seconds in (1, 5, 25):  # long enough, sooner or later, for the process to come up
        claims = MemoryClaims()
        limits: dict[str, Any] = {"cancel_grace": 0.1, "timeout": seconds}
        async with Handrail([tools.stubborn], policy=WITHOUT_ASKING, claims=claims, **limits) as hr:
            told = await pids_of(hr)
            out = await hr.call("work.stubborn", session="s")
            assert (out.status, out.code) == ("failed", "TIMEOUT")
            assert len(claims) == 0
            assert [event.kind for event in hr.log.read("local", session="s")] == ["started", "failed"]
        if told.done():
            break
    assert all_gone(await told)


@pytest.mark.req("EX-24", "BY-18")
async def test_a_timeout_shorter_than_the_start_of_a_process_leaves_none() -> None:
    with no_leftover_processes():
        async with Handrail([tools.stubborn], policy=WITHOUT_ASKING, timeout=0.01) as hr:
            out = await hr.call("work.stubborn", session="s")
            assert (out.status, out.code) == ("failed", "TIMEOUT")
            assert not open_runs(hr.log.read("local"))


@pytest.mark.req("CX-06", "BY-18")
@pytest.mark.parametrize(
    ("name", "given", "left"),
    [
        ("work.tidy", tools.tidy, "tidied [True]"),
        ("work.tidy_later", tools.tidy_later, "tidied"),
    ],
)
async def test_a_body_hears_the_signal_and_tidies_up_within_the_grace(tmp_path, name, given, left) -> None:
    path = tmp_path / "left"
    async with Handrail([given], policy=WITHOUT_ASKING, cancel_grace=30) as hr:
        told = await pids_of(hr)
        call = asyncio.create_task(hr.call(name, {"path": str(path)}, id="c1"))
        pids = await told
        assert await hr.cancel("c1")
        out = await call
    assert out.status == "cancelled" and not out.result.metadata
    assert path.read_text() == left
    assert all_gone(pids)


@pytest.mark.req("CX-08", "BY-18")
async def test_cancelling_the_callers_task_twice_kills_at_once_and_reaches_the_caller() -> None:
    async with Handrail([tools.stubborn], policy=WITHOUT_ASKING, cancel_grace=600) as hr:
        told = await pids_of(hr)
        call = asyncio.create_task(hr.call("work.stubborn", session="s"))
        pids = await told
        call.cancel()
        await asyncio.sleep(0)  # the first one is now waiting for the grace to pass
        while not call.done():
            call.cancel()
            await asyncio.sleep(0)
        assert call.cancelled()
        assert [event.kind for event in hr.log.read("local", session="s")] == ["started", "cancelled"]
    assert all_gone(pids)


@pytest.mark.req("CX-08", "BY-18")
async def test_cancelling_while_the_process_starts_leaves_nothing() -> None:
    with no_leftover_processes():
        async with Handrail([tools.stubborn], policy=WITHOUT_ASKING) as hr:
            started = asyncio.Event()
            hr.subscribe(lambda event: started.set() if event.kind == "started" else None)
            call = asyncio.create_task(hr.call("work.stubborn", id="c1"))
            await started.wait()
            assert await hr.cancel("c1")
            assert (await call).status == "cancelled"
            assert not open_runs(hr.log.read("local"))


@pytest.mark.req("CX-08", "BY-18")
async def test_what_a_body_started_ends_with_it_when_it_returns() -> None:
    async with Handrail([tools.daemon], policy=WITHOUT_ASKING) as hr:
        told = await pids_of(hr)
        out = await hr.call("work.daemon", {"then": "return"})
        assert (out.status, out.result.data) == ("completed", "started")
    assert all_gone(await told)


@pytest.mark.req("CX-08", "BY-12", "BY-18")
async def test_what_a_body_started_ends_with_it_when_it_is_killed() -> None:
    async with Handrail([tools.daemon], policy=WITHOUT_ASKING) as hr:
        told = await pids_of(hr)
        out = await hr.call("work.daemon", {"then": "crash"})
        assert (out.status, out.code) == ("needs_review", "UNKNOWN_OUTCOME")
    assert all_gone(await told)


HOST = """
import asyncio
from handrail import Handrail, Policy
from tests.unit.run import process_tools as tools

async def main():
    hr = Handrail([tools.stubborn], policy=Policy(approval_mode="policy"))
    hr.subscribe(lambda event: print(*event.told["pids"], flush=True) if event.kind == "progress" else None)
    await hr.call("work.stubborn")

asyncio.run(main())
"""


@pytest.mark.req("BY-18")
def test_a_host_that_is_killed_takes_the_bodys_process_and_its_child_along() -> None:
    with subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE) as host:
        assert host.stdout is not None
        pids = [int(pid) for pid in host.stdout.readline().split()]
        assert len(pids) == 2
        host.send_signal(signal.SIGKILL)
    assert all_gone(pids)
