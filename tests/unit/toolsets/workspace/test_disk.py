"""Errands of the disk's threads: begun at once, done when they hear the word, called off until then."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from handrail.toolsets.workspace.disk import Disk
from tests.harness.polling import until


@pytest.fixture
def disk() -> Iterator[Disk]:
    disk = Disk()
    yield disk
    disk.close()


class Work:
    """Something to do, in steps that a test can wait for and hold up."""

    def __init__(self) -> None:
        self.prepared, self.heard, self.may_end = threading.Event(), threading.Event(), threading.Event()
        self.done: list[str] = []

    def __call__(self, word: Callable[[], None]) -> None:
        self.prepared.set()
        word()
        self.heard.set()
        assert self.may_end.wait(20)
        self.done.append("done")


async def _when(happened: threading.Event) -> None:
    assert await asyncio.to_thread(happened.wait, 20)


async def test_it_is_prepared_at_once_and_done_at_the_word(disk: Disk) -> None:
    work = Work()
    work.may_end.set()
    errand = disk.begin(work)
    await _when(work.prepared)
    assert not work.heard.is_set()
    errand.go()
    await errand.over()
    assert work.done == ["done"] and not errand.call_off()


async def test_what_is_called_off_is_not_done_and_its_thread_goes_on(disk: Disk) -> None:
    work, next_work = Work(), Work()
    errand = disk.begin(work)
    await _when(work.prepared)
    assert errand.call_off() and not errand.call_off()
    next_work.may_end.set()
    other = disk.begin(next_work)
    other.go()
    await other.over()
    assert work.done == [] and next_work.done == ["done"]


async def test_what_was_called_off_before_its_thread_came_to_it_is_not_done(disk: Disk) -> None:
    in_the_way = [Work() for _ in range(8)]
    errands = [disk.begin(one) for one in in_the_way]
    work = Work()
    late = disk.begin(work)
    assert late.call_off()
    for errand, one in zip(errands, in_the_way, strict=True):
        one.may_end.set()
        errand.go()
        await errand.over()
    await _when(work.prepared)
    assert work.done == []


async def test_who_is_cancelled_before_the_word_is_heard_calls_it_off(disk: Disk) -> None:
    work = Work()
    errand = disk.begin(work)
    waiting = asyncio.create_task(errand.over())
    await _when(work.prepared)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert work.done == [] and not work.heard.is_set()


@pytest.mark.parametrize("times", [1, 3])
async def test_who_is_cancelled_too_late_waits_for_the_end(disk: Disk, times: int) -> None:
    work = Work()
    errand = disk.begin(work)
    errand.go()
    await _when(work.heard)
    waiting = asyncio.create_task(errand.over())
    await asyncio.sleep(0)
    for _ in range(times):
        waiting.cancel()
        await asyncio.sleep(0)
    assert not waiting.done()
    work.may_end.set()
    await waiting
    assert work.done == ["done"]


async def test_what_it_fails_with_is_raised_where_it_is_waited_for(disk: Disk) -> None:
    def fail(word: Callable[[], None]) -> None:
        word()
        raise OSError(5, "no disk")

    errand = disk.begin(fail)
    errand.go()
    with pytest.raises(OSError, match="no disk"):
        await errand.over()


@pytest.mark.parametrize("closed", [True, False])
async def test_errands_overlap_and_the_threads_end_with_the_disk(closed: bool) -> None:
    disk, meeting = Disk(), threading.Barrier(3, timeout=20)
    before = set(threading.enumerate())

    def meet(word: Callable[[], None]) -> None:
        meeting.wait()

    errands = [disk.begin(meet) for _ in range(3)]
    for errand in errands:
        await errand.over()
    threads = [one for one in threading.enumerate() if one.name == "handrail-disk" and one not in before]
    assert len(threads) == 3
    if closed:
        disk.close()
    del disk
    until(lambda: not any(one.is_alive() for one in threads))


async def test_one_after_the_other_they_need_one_thread(disk: Disk) -> None:
    for _ in range(20):
        work = Work()
        work.may_end.set()
        errand = disk.begin(work)
        errand.go()
        await errand.over()
        until(lambda: disk._idle._value == 1)
    assert disk._threads == 1


def test_a_loop_that_ended_meanwhile_is_not_missed(disk: Disk) -> None:
    work = Work()

    async def leave() -> None:
        disk.begin(work).go()
        await _when(work.heard)

    asyncio.run(leave())
    work.may_end.set()
    until(lambda: bool(work.done))


def test_a_disk_that_held_up_the_loop_is_slow_for_a_while(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    disk.took(0.01)
    assert not disk.is_slow
    disk.took(0.06)
    assert disk.is_slow
    now[0] += 9.9
    assert disk.is_slow
    now[0] += 0.2
    assert not disk.is_slow


def test_a_fork_has_threads_of_its_own(disk: Disk) -> None:
    async def done() -> None:
        work = Work()
        work.may_end.set()
        errand = disk.begin(work)
        errand.go()
        async with asyncio.timeout(20):
            await errand.over()

    asyncio.run(done())
    until(lambda: disk._idle._value == 1)
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(done())
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
