"""The log in memory: ordered, numbered without gaps, scoped by tenant, filtered, and bounded."""

import asyncio
import logging
import threading
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Context, Handrail, Policy, Principal, tool
from handrail.core.define.call import BoundCall
from handrail.core.tell.events import ToolStarted
from handrail.core.tell.log import open_runs
from handrail.core.tell.teller import Teller
from handrail.ext.events import Event
from handrail.ext.ports import Clock, MemoryLog

ANA = Principal(tenant="acme", user="ana")


@tool("dice.roll", level="read", aliases=["roll"])
async def roll(sides: int = 6) -> int:
    """Roll a die."""
    await asyncio.sleep(0)
    return sides


@tool("dice.rig", level="write")
async def rig(*, ctx: Context) -> str:
    """Rig a die."""
    ctx.append_output("rigged")
    return "done"


def seqs(log: MemoryLog, tenant: str, session: str) -> list[int]:
    return [event.seq for event in log.read(tenant, session=session)]


def told(session: str | None, number: int, tenant: str = "acme") -> ToolStarted:
    call = BoundCall("t", Principal(tenant), f"call_{number}", session=session)
    return ToolStarted(call, "t", float(number), f"run_{number}", {})


@pytest.mark.req("EV-16")
@pytest.mark.parametrize("listening", [False, True])
async def test_many_calls_at_once_number_each_session_without_gaps(listening: bool) -> None:
    async with Handrail([roll, rig], policy=Policy(approval_mode="policy")) as hr:
        heard: list[Event] = []
        if listening:
            hr.subscribe(heard.append)
        await asyncio.gather(
            *(
                hr.call(("dice.roll", "dice.rig")[n % 2], principal=ANA, session=f"s{n % 3}", id=f"c{n}")
                for n in range(90)
            )
        )
        for session, number in (("s0", 75), ("s1", 75), ("s2", 75)):
            assert seqs(hr.log, "acme", session) == list(range(1, number + 1))  # type: ignore[arg-type]
        assert open_runs(hr.log.read("acme")) == set()
        for n in range(90):
            kinds = [event.kind for event in hr.log.read("acme", call_id=f"c{n}")]
            assert kinds == (["started", "completed"], ["started", "chunk", "completed"])[n % 2]


@pytest.mark.req("EV-16")
def test_many_threads_with_loops_of_their_own_number_one_session_without_gaps() -> None:
    hr = Handrail([roll])
    ready = threading.Barrier(6)

    def work(n: int) -> None:
        async def calls() -> None:
            for i in range(50):
                await hr.call("dice.roll", principal=ANA, session="s1", id=f"c{n}.{i}")
                if i % 10 == n:
                    list(hr.log.read("acme", session="s1"))

        ready.wait()
        asyncio.run(calls())

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = list(hr.log.read("acme", session="s1"))
    assert [event.seq for event in events] == list(range(1, 601))
    kinds = defaultdict(list)
    for event in events:
        kinds[event.call_id].append(event.kind)
    assert len(kinds) == 300 and set(map(tuple, kinds.values())) == {("started", "completed")}


@pytest.mark.req("EV-14", "EV-16")
async def test_the_log_is_filtered_by_session_tool_source_status_time_call_and_number() -> None:
    now = iter(range(100, 1000))
    clock = Clock(now=lambda: float(next(now)))
    async with Handrail([roll, rig], clock=clock, policy=Policy(approval_mode="policy")) as hr:
        await hr.call("roll", principal=ANA, session="s1", source="web", id="c1")
        await hr.call("dice.roll", {"sides": "x"}, principal=ANA, session="s2", source="cli", id="c2")
        await hr.call("dice.rig", principal=ANA, session="s1", source="api", id="c3")
        await hr.call("dice.roll", principal=Principal("other"), session="s1", id="c4")

        def kinds(**filters: Any) -> list[tuple[str, str]]:
            return [(event.call_id, event.kind) for event in hr.log.read("acme", **filters)]

        everything = kinds()
        assert everything == [
            ("c1", "started"),
            ("c1", "completed"),
            ("c2", "failed"),
            ("c3", "started"),
            ("c3", "chunk"),
            ("c3", "completed"),
        ]
        assert kinds(tool="dice.roll") == everything[:3]
        assert kinds(session="s1") == everything[:2] + everything[3:]
        assert kinds(source="api") == everything[3:]
        assert kinds(status="completed") == [("c1", "completed"), ("c3", "completed")]
        assert kinds(call_id="c2") == [("c2", "failed")]
        assert kinds(session="s1", after=3) == [("c3", "chunk"), ("c3", "completed")]
        second = [event.at for event in hr.log.read("acme")][1]
        third = [event.at for event in hr.log.read("acme")][2]
        assert kinds(since=second, until=third) == [("c1", "completed")]
        assert kinds(tool="dice.roll", status="failed", source="cli") == [("c2", "failed")]
        assert list(hr.log.read("nobody")) == []


@pytest.mark.req("EV-14")
async def test_the_history_of_a_tool_is_there_whatever_name_it_was_called_by() -> None:
    async with Handrail([roll]) as hr:
        for name in ("dice.roll", "roll", "dice-roll", "dice__roll"):
            await hr.call(name, principal=ANA)
        runs = [event for event in hr.log.read("acme", tool="dice.roll") if event.kind == "started"]
    assert len(runs) == 4


@pytest.mark.req("EV-16")
async def test_what_was_read_once_never_changes() -> None:
    async with Handrail([roll]) as hr:
        await hr.call("dice.roll", principal=ANA, session="s1")
        first = [event.to_dict() for event in hr.log.read("acme")]
        await hr.call("dice.roll", principal=ANA, session="s1")
        later = list(hr.log.read("acme"))
        assert [event.to_dict() for event in later][:2] == first
        with pytest.raises(AttributeError):
            later[0].seq = 9  # type: ignore[misc]


@pytest.mark.req("EV-16")
@pytest.mark.parametrize("session", ["one", None])
@pytest.mark.parametrize("reading", [0, 1, 7, 1000])
async def test_memory_does_not_grow_with_calls_sessions_or_counts(session: str | None, reading: int) -> None:
    log = MemoryLog(keep=40)
    async with Handrail([roll], log=log) as hr:
        for n in range(600):
            await hr.call("dice.roll", principal=ANA, session=session and f"{session}{n % 200}")
            if reading and n % reading == 0:
                list(log.read("acme"))
            assert len(log) <= 2 * log.limit
        assert len(list(log.read("acme"))) <= log.limit
    held = [value for value in vars(log).values() if hasattr(value, "__len__")]
    assert sum(map(len, held)) <= 5 * log.limit


@pytest.mark.req("EV-16")
@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "c", "d", "e"]), st.booleans()), max_size=80),
    st.integers(5, 9),
)
def test_numbers_have_no_gaps_even_when_the_oldest_events_are_gone(
    calls: list[tuple[str, bool]], keep: int
) -> None:
    log = MemoryLog(keep)
    seen: dict[str, int] = {}
    for number, (session, reading) in enumerate(calls):
        log.append(told(session, number))
        if reading:
            for name in {"a", "b", "c", "d", "e"}:
                numbers = seqs(log, "acme", name)
                assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else True
                assert not numbers or numbers[-1] >= seen.get(name, 0)
                seen[name] = numbers[-1] if numbers else seen.get(name, 0)


@pytest.mark.req("EV-16")
def test_a_session_that_pauses_goes_on_counting() -> None:
    log = MemoryLog(keep=4)
    log.append(told("slow", 0))
    for number in range(1, 4):
        log.append(told(f"quick{number}", number))
    for number in range(4, 9):
        log.append(told("busy", number))
    assert seqs(log, "acme", "slow") == []
    log.append(told("slow", 9))
    assert seqs(log, "acme", "slow") == [2]


@pytest.mark.req("EV-15", "EV-16")
def test_notes_that_nobody_read_are_dropped_many_at_a_time_and_leave_no_gap() -> None:
    log = MemoryLog(keep=8)
    teller = Teller(log)
    for number in range(100):
        event = told("s1", number)
        teller.tell((ToolStarted, event.call, event.tool, event.at, event.run_id, event.input))
    events = list(log.read("acme", session="s1"))
    assert [event.at for event in events] == [float(n) for n in range(100 - len(events), 100)]
    assert [event.seq for event in events] == list(range(1, len(events) + 1)) and len(events) >= 8


@pytest.mark.req("EV-16")
def test_events_read_before_the_notes_overflowed_are_forgotten_with_what_came_between() -> None:
    log = MemoryLog(keep=8)
    teller = Teller(log)

    def tell(number: int) -> None:
        event = told("s1", number)
        teller.tell((ToolStarted, event.call, event.tool, event.at, event.run_id, event.input))

    for number in range(6):
        tell(number)
    assert len(list(log.read("acme"))) == 6
    for number in range(6, 100):
        tell(number)
    events = list(log.read("acme", session="s1"))
    assert [event.at for event in events] == [float(n) for n in range(100 - len(events), 100)]
    assert [event.seq for event in events] == list(range(7, 7 + len(events))) and len(events) >= 8


@pytest.mark.req("EV-15")
async def test_who_listens_still_hears_after_another_has_gone() -> None:
    heard: list[str] = []
    async with Handrail([roll]) as hr:
        stop_other = hr.subscribe(lambda event: None)
        stop = hr.subscribe(lambda event: heard.append(event.kind))
        stop_other()
        await hr.call("dice.roll", principal=ANA)
        stop()
        await hr.call("dice.roll", principal=ANA)
        assert heard == ["started", "completed"]
        assert [event.kind for event in hr.log.read(ANA.tenant)] == ["started", "completed"] * 2


@pytest.mark.req("EV-15")
async def test_a_listener_that_fails_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[str] = []

    def broken(event: Event) -> None:
        raise RuntimeError("I am not well")

    async with Handrail([roll, rig], policy=Policy(approval_mode="policy"), on_result=broken) as hr:  # type: ignore[arg-type]
        hr.subscribe(broken)
        hr.subscribe(lambda event: heard.append(event.kind))
        hr.subscribe_registry(broken)
        with caplog.at_level(logging.ERROR):
            assert (await hr.call("dice.roll", principal=ANA)).ok
            assert (await hr.call("dice.rig", principal=ANA)).ok
            hr.registry.unregister("dice.rig")
    assert heard == ["started", "completed", "started", "chunk", "completed"]
    assert "I am not well" in caplog.text


@pytest.mark.req("EV-13")
async def test_who_listens_twice_hears_twice_and_stops_once_for_each() -> None:
    heard: list[str] = []

    def listen(event: Event) -> None:
        heard.append(event.kind)

    async with Handrail([roll]) as hr:
        stop_one, stop_other = hr.subscribe(listen), hr.subscribe(listen)
        await hr.call("dice.roll", principal=ANA)
        assert heard == ["started", "started", "completed", "completed"]
        stop_one()
        stop_one()
        heard.clear()
        await hr.call("dice.roll", principal=ANA)
        assert heard == ["started", "completed"]
        stop_other()
        heard.clear()
        await hr.call("dice.roll", principal=ANA)
        assert heard == []


@pytest.mark.req("EV-15")
def test_listeners_may_come_and_go_in_many_threads() -> None:
    hr = Handrail([roll])
    ready = threading.Barrier(8)

    def come_and_go() -> None:
        ready.wait()
        for _ in range(200):
            hr.subscribe(lambda event: None)()

    threads = [threading.Thread(target=come_and_go) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hr._runtime.teller.listeners.all == ()
