"""Disk: threads that wait for it, so that the event loop need not."""

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
_REST = 10.0
"""Seconds for which a slow disk is left to threads altogether."""

Word = Callable[[], None]
"""Waits until what was prepared is wanted. Raises CalledOff when it is not."""


class CalledOff(Exception):
    """What was prepared is not wanted any more."""


class Errand:
    """What a thread prepares, and does once it hears the word. Until then it can be called off."""

    __slots__ = ("_ended", "_failure", "_first", "_is_over", "_is_said", "_loop", "_silence", "_work")

    def __init__(self, work: Callable[[Word], None]) -> None:
        self._work = work
        self._loop = asyncio.get_running_loop()
        self._ended = self._loop.create_future()
        self._is_over = self._is_said = False
        self._failure: BaseException | None = None
        self._silence = threading.Lock()
        self._silence.acquire()
        self._first = threading.Lock()
        """Held by the first one: who hears the word, or who calls it off."""

    def go(self) -> None:
        """Give the word."""
        self._is_said = True
        self._silence.release()

    def call_off(self) -> bool:
        """Whether it was not too late: nothing is done then."""
        is_first = self._first.acquire(blocking=False)
        if not self._is_said:
            self.go()
        return is_first

    async def over(self) -> None:
        """Wait for its end. Who is cancelled meanwhile calls it off, or waits on when it is too late."""
        try:
            await self._ended
        except asyncio.CancelledError:
            if self.call_off():
                raise
            while not self._is_over:
                self._ended = self._loop.create_future()
                with suppress(asyncio.CancelledError):
                    await self._ended
        if self._failure is not None:
            raise self._failure

    def attend(self) -> None:
        """In the thread: all of it."""
        try:
            self._work(self._hear)
        except BaseException as error:
            self._failure = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any longer
            self._loop.call_soon_threadsafe(self._end)

    def _hear(self) -> None:
        self._silence.acquire()
        if not self._first.acquire(blocking=False):
            raise CalledOff

    def _end(self) -> None:
        self._is_over = True
        if not self._ended.done():
            self._ended.set_result(None)


class Disk:
    """Threads that wait for what is on the disk, and for the word: never for somebody who waits for them."""

    def __init__(self) -> None:
        self._slow_until = 0.0
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._errands: SimpleQueue[Errand | None] = SimpleQueue()
        self._threads = 0
        self._idle = threading.Semaphore(0)
        self._process = os.getpid()

    @property
    def is_slow(self) -> bool:
        """Whether it held up a loop lately."""
        return time.monotonic() < self._slow_until

    def took(self, seconds: float) -> None:
        """So long was a loop held up."""
        if seconds > _LONG:
            self._slow_until = time.monotonic() + _REST

    def begin(self, work: Callable[[Word], None]) -> Errand:
        """Begin it in a thread. It hears the word before it does what cannot be taken back."""
        errand = Errand(work)
        if self._process != os.getpid():  # the threads stayed behind in the one that this is a fork of
            self._begin_anew()
        if not self._idle.acquire(blocking=False) and self._threads < _THREADS:
            self._threads += 1
            thread = threading.Thread(
                target=_attend, args=(self._errands, self._idle), name="handrail-disk", daemon=True
            )
            thread.start()
        self._errands.put(errand)
        return errand

    def close(self) -> None:
        """No more comes: the threads end with what they are at."""
        for _ in range(self._threads):
            self._errands.put(None)
        self._begin_anew()

    __del__ = close


def _attend(errands: SimpleQueue[Errand | None], idle: threading.Semaphore) -> None:
    while (errand := errands.get()) is not None:
        errand.attend()
        idle.release()
