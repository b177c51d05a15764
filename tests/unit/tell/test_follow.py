"""Following: who listens is woken, in any loop and from any thread, and nothing falls between."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail import Handrail, Principal, tool
from handrail.core.define.call import BoundCall
from handrail.core.tell.events import Event, ToolStarted
from handrail.core.tell.follow import LogNotifier, follow
from handrail.ext.ports import MemoryLog

ANA = Principal("acme", "ana")
pytestmark = [pytest.mark.req("BY-13"), pytest.mark.fault("F16")]


def told(number: int, session: str = "s1") -> ToolStarted:
    return ToolStarted(BoundCall("t", ANA, f"c{number}", session=session), "t", 1.0, f"run_{number}", {})


class Shelf:
    """Events that become visible one after the other, some while they are being looked for."""

    def __init__(self) -> None:
        self.notifier = LogNotifier()
        self.log = MemoryLog()
        self.while_reading: list[Event] = []

    def add(self, event: Event) -> None:
        self.log.append(event)
        self.notifier.notify(event.tenant, (event.session,))

    async def fetch(self, after: int) -> list[Event]:
        found = list(self.log.read("acme", session="s1", after=after))
        if self.while_reading:  # too late for this look, and the bell rings before anybody waits
            self.add(self.while_reading.pop())
            await asyncio.sleep(0)
        return found


@settings(max_examples=40)
@given(before=st.integers(0, 3), during=st.integers(0, 3), after=st.integers(1, 3), seen=st.integers(0, 3))
async def test_nothing_falls_between_looking_and_listening(
    before: int, during: int, after: int, seen: int
) -> None:
    shelf = Shelf()
    for n in range(before):
        shelf.add(told(n))
    shelf.while_reading = [told(10 + n) for n in range(during)]
    wanted = list(range(seen + 1, before + during + after + 1))
    got: list[int] = []

    async def read() -> None:
        # no patience: only the bell can wake it
        async with aclosing(follow(shelf.fetch, shelf.notifier, "acme", "s1", seen)) as events:
            async for event in events:
                got.append(event.seq)
                if got == wanted:
                    return

    reading = asyncio.create_task(read())
    for n in range(after):
        await asyncio.sleep(0)
        shelf.add(told(20 + n))
    if wanted:
        await asyncio.wait_for(reading, 10)
    else:
        reading.cancel()
    assert got == wanted


async def test_a_tenant_is_followed_by_position_over_all_its_sessions() -> None:
    log = MemoryLog()
    log.append(told(0, "s0"))
    async with asyncio.timeout(10), aclosing(log.follow("acme")) as events:
        for n in range(12):
            event = await anext(events)
            assert (event.session, event.seq) == (f"s{n % 3}", n // 3 + 1)
            log.append(told(n + 1, f"s{(n + 1) % 3}"))


def test_the_bell_is_heard_in_loops_of_other_threads() -> None:
    notifier, heard, ready = LogNotifier(), threading.Event(), threading.Event()

    async def listen() -> None:
        with notifier.listen("acme", "s1") as rung, notifier.listen("acme", None) as any_rung:
            ready.set()
            await asyncio.wait_for(asyncio.gather(rung.wait(), any_rung.wait()), 10)
        heard.set()

    thread = threading.Thread(target=lambda: asyncio.run(listen()))
    thread.start()
    assert ready.wait(10)
    notifier.notify("other", ("s1",))
    notifier.notify("acme", ("s2",))
    assert not heard.is_set()
    notifier.notify("acme", ("s1",))
    thread.join(10)
    assert heard.is_set() and not notifier


@tool("dice.roll", level="read")
async def roll() -> int:
    """Roll a die."""
    return 4


async def test_calls_are_followed_as_they_happen_and_cost_nothing_once_nobody_does() -> None:
    async with Handrail([roll]) as hr:
        log = hr.log
        assert isinstance(log, MemoryLog)
        await hr.call("dice.roll", principal=ANA, session="s1")
        async with asyncio.timeout(10), aclosing(log.follow("acme", session="s1")) as events:
            kinds = [(await anext(events)).kind, (await anext(events)).kind]
            third = asyncio.create_task(anext(events))
            await asyncio.sleep(0)
            assert log.followed
            await hr.call("dice.roll", principal=ANA, session="s1")
            kinds += [(await third).kind, (await anext(events)).kind]
        assert kinds == ["started", "completed"] * 2
        assert not log.followed and hr._runtime.teller.tell == log.notes.append
