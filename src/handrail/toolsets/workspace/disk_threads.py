"""Disk threads: they wait for the disk, so that the event loop need not."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue

_THREADS = 8
_LONG = 0.05
"""Seconds that nobody may hold up the loop without consequences."""
_SLOW_PERIOD = 10.0
"""Seconds for which a slow disk is left to threads altogether."""

WaitForGo = Callable[[], None]
"""Waits until what was prepared is wanted. Raises TaskCancelled when it is not."""


class TaskCancelled(Exception):
    """What was prepared is not wanted any more."""


class DiskTask:
    """What a thread prepares, and does once `go` was called. Until then it can be cancelled."""

    __slots__ = ("_claim", "_ended", "_failure", "_go_lock", "_is_go", "_is_over", "_loop", "_work")

    def __init__(self, work: Callable[[WaitForGo], None]) -> None:
        self._work = work
        self._loop = asyncio.get_running_loop()
        self._ended = self._loop.create_future()
        self._is_over = self._is_go = False
        self._failure: BaseException | None = None
        self._go_lock = threading.Lock()
        self._go_lock.acquire()
        self._claim = threading.Lock()
        """Held by whichever comes first: the thread that goes on, or who cancels it."""

    def go(self) -> None:
        """Let the thread do it."""
        self._is_go = True
        self._go_lock.release()

    def cancel(self) -> bool:
        """Whether it was not too late: nothing is done then."""
        is_first = self._claim.acquire(blocking=False)
        if not self._is_go:
            self.go()
        return is_first

    async def wait(self) -> None:
        """Wait for its end. Who is cancelled meanwhile cancels it, or waits on when it is too late."""
        try:
            await self._ended
        except asyncio.CancelledError:
            if self.cancel():
                raise
            while not self._is_over:
                self._ended = self._loop.create_future()
                with suppress(asyncio.CancelledError):
                    await self._ended
        if self._failure is not None:
            raise self._failure

    def run(self) -> None:
        """In the thread: all of it."""
        try:
            self._work(self._wait_for_go)
        except BaseException as error:
            self._failure = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any longer
            self._loop.call_soon_threadsafe(self._end)

    def _wait_for_go(self) -> None:
        self._go_lock.acquire()
        if not self._claim.acquire(blocking=False):
            raise TaskCancelled

    def _end(self) -> None:
        self._is_over = True
        if not self._ended.done():
            self._ended.set_result(None)


class DiskThreads:
    """Threads that wait for the disk and for `go`: never for somebody who waits for them."""

    def __init__(self) -> None:
        self._slow_until = 0.0
        self._reset()

    def _reset(self) -> None:
        self._tasks: SimpleQueue[DiskTask | None] = SimpleQueue()
        self._threads = 0
        self._idle = threading.Semaphore(0)
        self._process = os.getpid()

    @property
    def is_slow(self) -> bool:
        """Whether it held up a loop lately."""
        return time.monotonic() < self._slow_until

    def record_delay(self, seconds: float) -> None:
        """So long was a loop held up."""
        if seconds > _LONG:
            self._slow_until = time.monotonic() + _SLOW_PERIOD

    def start(self, work: Callable[[WaitForGo], None]) -> DiskTask:
        """Begin it in a thread. It waits for `go` before it does what cannot be taken back."""
        task = DiskTask(work)
        if self._process != os.getpid():  # the threads stayed behind in the one that this is a fork of
            self._reset()
        if not self._idle.acquire(blocking=False) and self._threads < _THREADS:
            self._threads += 1
            thread = threading.Thread(
                target=_run_tasks, args=(self._tasks, self._idle), name="handrail-disk", daemon=True
            )
            thread.start()
        self._tasks.put(task)
        return task

    def close(self) -> None:
        """No more comes: the threads end with what they are at."""
        for _ in range(self._threads):
            self._tasks.put(None)
        self._reset()

    __del__ = close


def _run_tasks(tasks: SimpleQueue[DiskTask | None], idle: threading.Semaphore) -> None:
    while (task := tasks.get()) is not None:
        task.run()
        idle.release()
