"""Errands of the disk's threads: begun at once, done when they hear the word, called off until then."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from handrail.toolsets.workspace.disk_threads import DiskThreads
from tests.harness.poll import poll_until


@pytest.fixture
def disk() -> Iterator[DiskThreads]:
    disk = DiskThreads()
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


async def test_it_is_prepared_at_once_and_done_at_the_word(disk: DiskThreads) -> None:
    work = Work()
    work.may_end.set()
    task = disk.start(work)
    await _when(work.prepared)
    assert not work.heard.is_set()
    task.go()
    await task.wait()
    assert work.done == ["done"] and not task.cancel()


async def test_what_is_called_off_is_not_done_and_its_thread_goes_on(disk: DiskThreads) -> None:
    work, next_work = Work(), Work()
    task = disk.start(work)
    await _when(work.prepared)
    assert task.cancel() and not task.cancel()
    next_work.may_end.set()
    other = disk.start(next_work)
    other.go()
    await other.wait()
    assert work.done == [] and next_work.done == ["done"]


async def test_what_was_called_off_before_its_thread_came_to_it_is_not_done(disk: DiskThreads) -> None:
    in_the_way = [Work() for _ in range(8)]
    tasks = [disk.start(one) for one in in_the_way]
    work = Work()
    late = disk.start(work)
    assert late.cancel()
    for task, one in zip(tasks, in_the_way, strict=True):
        one.may_end.set()
        task.go()
        await task.wait()
    await _when(work.prepared)
    assert work.done == []


async def test_who_is_cancelled_before_the_word_is_heard_calls_it_off(disk: DiskThreads) -> None:
    work = Work()
    task = disk.start(work)
    waiting = asyncio.create_task(task.wait())
    await _when(work.prepared)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert work.done == [] and not work.heard.is_set()


@pytest.mark.parametrize("times", [1, 3])
async def test_who_is_cancelled_too_late_waits_for_the_end(disk: DiskThreads, times: int) -> None:
    work = Work()
    task = disk.start(work)
    task.go()
    await _when(work.heard)
    waiting = asyncio.create_task(task.wait())
    await asyncio.sleep(0)
    for _ in range(times):
        waiting.cancel()
        await asyncio.sleep(0)
    assert not waiting.done()
    work.may_end.set()
    await waiting
    assert work.done == ["done"]


async def test_what_it_fails_with_is_raised_where_it_is_waited_for(disk: DiskThreads) -> None:
    def fail(word: Callable[[], None]) -> None:
        word()
        raise OSError(5, "no disk")

    task = disk.start(fail)
    task.go()
    with pytest.raises(OSError, match="no disk"):
        await task.wait()


@pytest.mark.parametrize("closed", [True, False])
async def test_errands_overlap_and_the_threads_end_with_the_disk(closed: bool) -> None:
    disk, meeting = DiskThreads(), threading.Barrier(3, timeout=20)
    before = set(threading.enumerate())

    def meet(word: Callable[[], None]) -> None:
        meeting.wait()

    tasks = [disk.start(meet) for _ in range(3)]
    for task in tasks:
        await task.wait()
    threads = [one for one in threading.enumerate() if one.name == "handrail-disk" and one not in before]
    assert len(threads) == 3
    if closed:
        disk.close()
    del disk
    poll_until(lambda: not any(one.is_alive() for one in threads))


async def test_one_after_the_other_they_need_one_thread(disk: DiskThreads) -> None:
    for _ in range(20):
        work = Work()
        work.may_end.set()
        task = disk.start(work)
        task.go()
        await task.wait()
        poll_until(lambda: disk._idle._value == 1)
    assert disk._threads == 1


def test_a_loop_that_ended_meanwhile_is_not_missed(disk: DiskThreads) -> None:
    work = Work()

    async def leave() -> None:
        disk.start(work).go()
        await _when(work.heard)

    asyncio.run(leave())
    work.may_end.set()
    poll_until(lambda: bool(work.done))


def test_a_disk_that_held_up_the_loop_is_slow_for_a_while(
    disk: DiskThreads, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    disk.record_delay(0.01)
    assert not disk.is_slow
    disk.record_delay(0.06)
    assert disk.is_slow
    now[0] += 9.9
    assert disk.is_slow
    now[0] += 0.2
    assert not disk.is_slow


def test_a_fork_has_threads_of_its_own(disk: DiskThreads) -> None:
    async def done() -> None:
        work = Work()
        work.may_end.set()
        task = disk.start(work)
        task.go()
        async with asyncio.timeout(20):
            await task.wait()

    asyncio.run(done())
    poll_until(lambda: disk._idle._value == 1)
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(done())
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
