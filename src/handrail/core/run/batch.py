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

_NOBODY: set[Turn] = set()
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


class Turn:
    """One call's place in its batch."""

    __slots__ = ("_batch", "_number", "followers", "footprint", "go", "repeats", "state", "waits_for")

    def __init__(self, batch: Batch, number: int) -> None:
        self._batch = batch
        self._number = number
        self.repeats = False
        """Whether the call turned out to be a repetition."""
        self.state: State = "coming"
        self.footprint = FREE
        self.waits_for: set[Turn] = _NOBODY
        self.followers: list[Turn] = []
        self.go: asyncio.Future[None] | None = None

    async def recall(self) -> None:
        """Wait until all calls before this one know whether they repeat another."""
        await self._batch.recalling.reach(self._number)

    def recalled(self) -> None:
        self._batch.recalling.let_pass(self._number)

    def take(self, footprint: Footprint) -> bool:
        """Whether nothing is in the way, so that the call runs now; else it has to wait."""
        self.footprint = footprint
        if not self._batch.taking.is_open(self._number):
            return False
        self._place()
        return self.state == "running"

    async def wait(self) -> bool:
        """Wait until nothing is in the way. False when a call that did not stop will stay in the way."""
        if self.state == "coming":
            await self._batch.taking.reach(self._number)
            self._place()
        if self.state == "running":
            return True
        if not self.stuck:
            self.go = asyncio.get_running_loop().create_future()
            await self.go
        return not self.stuck

    def _place(self) -> None:
        self._batch.place(self)
        self._batch.taking.let_pass(self._number)

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
        self.turns = tuple(Turn(self, number) for number in range(size))
        self.recalling = InOrder(size)
        self.taking = InOrder(size)
        self._limit = limit
        self._over = 0
        self._end: asyncio.Future[None] | None = None
        self._running = 0
        self._ready: deque[Turn] = deque()
        self._there: set[Turn] = set()
        self._alone: set[Turn] = set()
        self._readers: defaultdict[str, set[Turn]] = defaultdict(set)
        self._writers: defaultdict[str, set[Turn]] = defaultdict(set)
        self._trees = False
        """Whether any key so far stands for everything below it."""

    def left(self) -> None:
        """One call more is over."""
        self._over += 1
        if self._over == len(self.turns) and self._end is not None and not self._end.done():
            self._end.set_result(None)

    async def over(self) -> None:
        """Wait until all calls are over."""
        if self._over < len(self.turns):
            self._end = asyncio.get_running_loop().create_future()
            await self._end

    def place(self, turn: Turn) -> None:
        """Behind everybody who is there and touches the same."""
        turn.waits_for = others = self._in_the_way_of(turn.footprint)
        for other in others:
            other.followers.append(turn)
        for users in self._lists_for(turn.footprint):
            users.add(turn)
        turn.state = "placed"
        if others:
            return
        if self._running < self._limit and not self._ready:
            turn.state = "running"
            self._running += 1
        else:
            self._ready.append(turn)

    def _in_the_way_of(self, footprint: Footprint) -> set[Turn]:
        """Found by key, so that a batch of many does not compare each with each, unless keys are trees."""
        if footprint.alone:
            return set(self._there)
        self._trees = self._trees or footprint.has_trees
        if not (self._alone or self._writers or footprint.writes):
            return _NOBODY
        if self._trees:
            return {other for other in self._there if footprint.clashes(other.footprint)}
        found = set(self._alone)
        for key in footprint.reads:
            found.update(self._writers.get(key, ()))
        for key in footprint.writes:
            found.update(self._writers.get(key, ()), self._readers.get(key, ()))
        return found

    def _lists_for(self, footprint: Footprint) -> list[set[Turn]]:
        lists = [self._there, self._alone] if footprint.alone else [self._there]
        if footprint.reads:
            lists += [self._readers[key] for key in footprint.reads]
        if footprint.writes:
            lists += [self._writers[key] for key in footprint.writes]
        return lists

    def _start(self) -> None:
        while self._ready and self._running < self._limit:
            turn = self._ready.popleft()
            if turn.state == "placed":
                turn.state = "running"
                self._running += 1
                turn.wake()

    def remove(self, turn: Turn) -> None:
        """The call touches nothing any more: whoever waited for it alone may begin."""
        if turn.state == "running":
            self._running -= 1
        turn.state = "gone"
        for users in self._lists_for(turn.footprint):
            users.discard(turn)
        for other in turn.followers:
            other.waits_for.discard(turn)
            if other.state == "placed" and not other.waits_for:
                self._ready.append(other)
        self._start()

    def hold(self, turn: Turn) -> None:
        """The call is over and its body is not: who waits for it is sent away."""
        turn.state = "stuck"
        self._running -= 1
        for other in turn.followers:
            other.wake()
        self._start()
