"""Batch: calls of one pass that may overlap, each in its turn.

Every call walks the whole pipeline by itself. Two points of it are passed in the order of the calls: where a
repeated call is recognised, and where a call takes its turn just before it runs. There it says what it will
touch, and waits for those before it that touch the same. A call that waits for a person steps aside and holds
up nobody; once somebody agreed it queues behind whatever is there.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from typing import Literal

from handrail.core.guard.footprint import FREE, Footprint

State = Literal["coming", "placed", "running", "stuck", "gone"]

_NOBODY: set[BatchSlot] = set()
"""Shared by all who wait for nobody; never written to."""


class InOrder:
    """A point that calls pass in their order; whoever steps aside is not waited for."""

    def __init__(self, size: int) -> None:
        self._passed = [False] * size
        self._next = 0
        self._waiting: dict[int, asyncio.Future[None]] = {}

    def is_open(self, number: int) -> bool:
        """Whether everybody before this one has passed."""
        return self._next >= number or self._passed[number]

    async def reach(self, number: int) -> None:
        """Wait until everybody before this one has passed."""
        if self.is_open(number):
            return
        self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._waiting[number]

    def let_pass(self, number: int) -> None:
        if self._passed[number]:
            return
        self._passed[number] = True
        while self._next < len(self._passed) and self._passed[self._next]:
            self._next += 1
        waiting = self._waiting.pop(self._next, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)


class BatchSlot:
    """One call's place in its batch."""

    __slots__ = ("_batch", "_number", "followers", "footprint", "go", "repeats", "state", "waits_for")

    def __init__(self, batch: Batch, number: int) -> None:
        self._batch = batch
        self._number = number
        self.repeats = False
        """Whether the call turned out to be a repetition."""
        self.state: State = "coming"
        self.footprint = FREE
        self.waits_for: set[BatchSlot] = _NOBODY
        self.followers: list[BatchSlot] = []
        self.go: asyncio.Future[None] | None = None

    async def recall(self) -> None:
        """Wait until all calls before this one know whether they repeat another."""
        await self._batch.recalling.reach(self._number)

    def recalled(self) -> None:
        self._batch.recalling.let_pass(self._number)

    async def enter(self, footprint: Footprint) -> bool:
        """Wait until nothing is in the way. False when a call that did not stop will stay in the way."""
        self.footprint = footprint
        await self._batch.taking.reach(self._number)
        self._batch.place(self)
        self._batch.taking.let_pass(self._number)
        if self.state == "running":
            return True
        if not self.stuck:
            self.go = asyncio.get_running_loop().create_future()
            await self.go
        return not self.stuck

    @property
    def stuck(self) -> bool:
        """Whether it waits for a call that was told to stop and did not."""
        return any(other.state == "stuck" for other in self.waits_for)

    def step_aside(self) -> None:
        """Hold up nobody while something else than the batch is waited for."""
        self.recalled()
        self._batch.taking.let_pass(self._number)

    def leave(self, still_at_it: asyncio.Future[object] | None = None) -> None:
        """The call is over. A body that did not stop stays in the way of others until it does."""
        self.step_aside()
        self._batch.left()
        if still_at_it is None or self.state != "running":
            self._batch.remove(self)
            return
        self._batch.hold(self)
        still_at_it.add_done_callback(lambda _: self._batch.remove(self))

    def wake(self) -> None:
        if self.go is not None and not self.go.done():
            self.go.set_result(None)


class Batch:
    """Who touches what, who waits for whom, and how many run."""

    def __init__(self, size: int, limit: int) -> None:
        self.slots = tuple(BatchSlot(self, number) for number in range(size))
        self.recalling = InOrder(size)
        self.taking = InOrder(size)
        self._limit = limit
        self._over = 0
        self._end: asyncio.Future[None] | None = None
        self._running = 0
        self._ready: deque[BatchSlot] = deque()
        self._there: set[BatchSlot] = set()
        self._alone: set[BatchSlot] = set()
        self._readers: defaultdict[str, set[BatchSlot]] = defaultdict(set)
        self._writers: defaultdict[str, set[BatchSlot]] = defaultdict(set)
        self._trees = False
        """Whether any key so far stands for everything below it."""

    def left(self) -> None:
        """One call more is over."""
        self._over += 1
        if self._over == len(self.slots) and self._end is not None and not self._end.done():
            self._end.set_result(None)

    async def over(self) -> None:
        """Wait until all calls are over."""
        if self._over < len(self.slots):
            self._end = asyncio.get_running_loop().create_future()
            await self._end

    def place(self, slot: BatchSlot) -> None:
        """Behind everybody who is there and touches the same."""
        slot.waits_for = others = self._in_the_way_of(slot.footprint)
        for other in others:
            other.followers.append(slot)
        for users in self._lists_for(slot.footprint):
            users.add(slot)
        slot.state = "placed"
        if others:
            return
        if self._running < self._limit and not self._ready:
            slot.state = "running"
            self._running += 1
        else:
            self._ready.append(slot)

    def _in_the_way_of(self, footprint: Footprint) -> set[BatchSlot]:
        """Found by key, so that a batch of many does not compare each with each, unless keys are trees."""
        if footprint.alone:
            return set(self._there)
        self._trees = self._trees or footprint.has_trees
        if not (self._alone or self._writers or footprint.writes):
            return _NOBODY
        if self._trees:
            return {other for other in self._there if footprint.clashes(other.footprint)}
        blockers = set(self._alone)
        for key in footprint.reads:
            blockers.update(self._writers.get(key, ()))
        for key in footprint.writes:
            blockers.update(self._writers.get(key, ()), self._readers.get(key, ()))
        return blockers

    def _lists_for(self, footprint: Footprint) -> list[set[BatchSlot]]:
        lists = [self._there, self._alone] if footprint.alone else [self._there]
        if footprint.reads:
            lists += [self._readers[key] for key in footprint.reads]
        if footprint.writes:
            lists += [self._writers[key] for key in footprint.writes]
        return lists

    def _start(self) -> None:
        while self._ready and self._running < self._limit:
            slot = self._ready.popleft()
            if slot.state == "placed":
                slot.state = "running"
                self._running += 1
                slot.wake()

    def remove(self, slot: BatchSlot) -> None:
        """The call touches nothing any more: whoever waited for it alone may begin."""
        if slot.state == "running":
            self._running -= 1
        slot.state = "gone"
        for users in self._lists_for(slot.footprint):
            users.discard(slot)
        for other in slot.followers:
            other.waits_for.discard(slot)
            if other.state == "placed" and not other.waits_for:
                self._ready.append(other)
        self._start()

    def hold(self, slot: BatchSlot) -> None:
        """The call is over and its body is not: who waits for it is sent away."""
        slot.state = "stuck"
        self._running -= 1
        for other in slot.followers:
            other.wake()
        self._start()
