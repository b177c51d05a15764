"""call_many: the calls of one pass at once, without touching each other."""

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Call, Handrail, Policy, Tool, define, tool
from handrail.ext.errors import UsageError
from handrail.ext.guard import approve
from handrail.ext.tools import path_key
from tests.unit.run.batch_model import (
    ANA,
    BatchRecorder,
    ModelCall,
    batch_handrail,
    calls,
    check_batch,
    endings,
    plans,
)

WITHOUT_ASKING = Policy(approval_mode="policy")


@pytest.mark.req("BP-02", "BP-09", "BP-11", "BY-11")
@given(plan=plans(endings), limit=st.integers(1, 10))
async def test_calls_that_touch_the_same_never_overlap_keep_their_order_and_see_each_others_writes(
    plan: list[ModelCall], limit: int
) -> None:
    await check_batch(plan, limit)


@pytest.mark.req("BP-02")
@given(plan=plans(endings))
async def test_what_happens_to_one_call_is_nothing_to_the_others(plan: list[ModelCall]) -> None:
    """The same pass without the calls that end badly gives the others the same results."""
    fine = [(n, one) for n, one in enumerate(plan) if one.ending == "well"]
    with_all, alone = BatchRecorder(plan), BatchRecorder(plan)
    async with batch_handrail(with_all) as hr:
        everything = await hr.call_many(calls(plan))
    async with batch_handrail(alone) as hr:
        every = calls(plan)
        only = await hr.call_many([every[n] for n, _ in fine])
    assert [everything[n].result.data for n, _ in fine] == [out.result.data for out in only]
    assert {n: with_all.seen[n] for n, _ in fine} == {n: alone.seen[n] for n, _ in fine}


@pytest.mark.req("BP-01", "BY-11")
@given(plan=plans(), limit=st.integers(1, 12))
async def test_calls_that_touch_nothing_of_each_other_all_overlap(plan: list[ModelCall], limit: int) -> None:
    """Every call waits until as many run as can: a scheduler that held one back would never end."""
    free = [ModelCall(one.reads, frozenset({f"own{n}"}), False, 0) for n, one in enumerate(plan)]
    together = min(limit, len(free))
    full = asyncio.Event()
    running = 0

    @tool(
        "stage.plain_keyed", level="read", reads=lambda args: free[args.number].reads, concurrency="parallel"
    )
    async def body(number: int) -> int:
        """Play a part."""
        nonlocal running
        running += 1
        if running == together:
            full.set()
        await full.wait()
        return number

    async with Handrail([body]) as hr, asyncio.timeout(20):
        outcomes = await hr.call_many(calls(free), limit=limit)
    assert [out.result.data for out in outcomes] == list(range(len(free)))


@pytest.mark.req("BP-08", "BP-09")
async def test_each_answer_belongs_to_its_call_id_and_an_id_twice_is_refused() -> None:
    @tool("dice.roll", level="read")
    async def roll(sides: int) -> int:
        """Roll."""
        return sides

    async with Handrail([roll]) as hr:
        asked = [Call("dice.roll", {"sides": n}, id=name) for n, name in ((1, "x"), (2, "y"), (3, "x"))]
        first, second, third = await hr.call_many(asked)
        assert (first.call_id, first.result.data, second.call_id, second.result.data) == ("x", 1, "y", 2)
        assert (third.call_id, third.status, third.code) == ("x", "refused", "CALL_ID_IN_USE")
        named = await hr.call_many([Call("dice.roll", {"sides": 4}), Call("dice.roll", {"sides": 4})])
        assert len({out.call_id for out in named}) == 2
        assert await hr.call_many([]) == []


@pytest.mark.req("BP-02", "BY-11")
async def test_only_a_call_that_waits_for_a_person_pauses() -> None:
    """A write that nobody has approved yet holds up neither what follows nor what touches the same."""
    answer = asyncio.Event()
    ran: list[str] = []

    async def approver(request: object) -> object:
        await answer.wait()
        return approve(by="ben")

    @tool("file.write", level="write", writes=lambda args: [args.path])
    async def write(path: str) -> str:
        """Write."""
        ran.append(f"write {path}")
        return path

    @tool("file.read", level="read", reads=lambda args: [args.path])
    async def read(path: str, last: bool = False) -> str:
        """Read."""
        ran.append(f"read {path}")
        if last:
            answer.set()
        return path

    async with Handrail([write, read], approver=approver) as hr, asyncio.timeout(20):
        outcomes = await hr.call_many(
            [
                Call("file.write", {"path": "a"}, principal=ANA, session="s"),
                Call("file.read", {"path": "b"}, principal=ANA, session="s"),
                Call("file.read", {"path": "a", "last": True}, principal=ANA, session="s"),
            ],
            limit=1,
        )
    assert [out.status for out in outcomes] == ["completed"] * 3
    assert ran == ["read b", "read a", "write a"]


@pytest.mark.req("BY-11")
async def test_an_approved_call_waits_for_whoever_touches_the_same_by_then() -> None:
    answered, reading, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()
    ran: list[str] = []

    async def approver(request: object) -> object:
        await reading.wait()
        answered.set()
        return approve(by="ben")

    @tool("file.write", level="write", writes=lambda args: ["a"])
    async def write() -> None:
        """Write."""
        ran.append("write")

    @tool("file.read", level="read", reads=lambda args: ["a"])
    async def read() -> None:
        """Read."""
        reading.set()
        await go_on.wait()
        ran.append("read")

    async with Handrail([write, read], approver=approver) as hr, asyncio.timeout(20):
        batch = asyncio.ensure_future(hr.call_many([Call("file.write", {}), Call("file.read", {})]))
        await answered.wait()
        for _ in range(50):
            await asyncio.sleep(0)
        assert ran == []
        go_on.set()
        assert [out.status for out in await batch] == ["completed", "completed"]
    assert ran == ["read", "write"]


@pytest.mark.req("BY-18", "BP-02")
@pytest.mark.parametrize("times", [1, 2])
async def test_who_cancels_the_batch_cancels_all_of_it(times: int) -> None:
    began, ended = asyncio.Semaphore(0), []

    @tool("slow.wait", level="read")
    async def wait(number: int) -> None:
        """Wait."""
        began.release()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(number)

    async with Handrail([wait]) as hr:
        batch = asyncio.ensure_future(
            hr.call_many([Call("slow.wait", {"number": n}) for n in range(5)], limit=3)
        )
        for _ in range(3):
            await began.acquire()
        for _ in range(times):
            batch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await batch
        assert sorted(ended) == [0, 1, 2] and hr._runtime.running == {}
        told = [event.kind for event in hr.log.read("local")]
        assert sorted(told) == ["cancelled"] * 5 + ["started"] * 3


@pytest.mark.req("BP-02")
async def test_a_body_that_cancels_its_own_task_ends_only_itself() -> None:
    @tool("odd.stop", level="read")
    async def stop() -> None:
        """Stop itself."""
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    @tool("odd.go", level="read")
    async def go() -> str:
        """Go on."""
        await asyncio.sleep(0)
        return "there"

    async with Handrail([stop, go]) as hr:
        first, second = await hr.call_many([Call("odd.stop", {}), Call("odd.go", {})])
    assert (first.status, second.result.data) == ("cancelled", "there")


@pytest.mark.req("BY-11", "EX-19")
async def test_what_a_thread_that_did_not_stop_may_still_write_is_left_alone() -> None:
    inside, let_go = threading.Event(), threading.Event()

    @tool("file.write", level="write", writes=lambda args: [args.path], timeout=0.5)
    def write(path: str) -> str:
        """Write."""
        inside.set()
        let_go.wait(20)
        return path

    @tool("file.read", level="read", reads=lambda args: [args.path])
    async def read(path: str) -> str:
        """Read."""
        return path

    async with Handrail([write, read], policy=WITHOUT_ASKING, cancel_grace=0.01) as hr:
        try:
            late, same, other, tree = await hr.call_many(
                [
                    Call("file.write", {"path": "a/x"}),
                    Call("file.read", {"path": "a/x"}),
                    Call("file.read", {"path": "b"}),
                    Call("file.read", {"path": "a/"}),
                ]
            )
        finally:
            let_go.set()
    assert inside.is_set() and late.code == "TIMEOUT"
    assert (same.status, same.code, tree.code) == ("refused", "RESOURCE_BUSY", "RESOURCE_BUSY")
    assert other.ok


@pytest.mark.req("BP-01", "BP-11")
@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "many"])
async def test_a_limit_that_is_none_and_calls_that_are_none_are_said_so(limit: Any) -> None:
    async with Handrail() as hr:
        with pytest.raises(UsageError, match="The limit of a batch is a whole number from 1 on"):
            await hr.call_many([], limit=limit)
        with pytest.raises(UsageError, match="Give Call objects"):
            await hr.call_many([{"tool": "x"}])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="max_parallel"):
        Handrail(max_parallel=limit)


@pytest.mark.req("BP-11")
async def test_the_engine_has_a_limit_of_its_own() -> None:
    running, most = 0, 0

    @tool("slow.step", level="read")
    async def step() -> None:
        """Step."""
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1

    async with Handrail([step], max_parallel=3) as hr:
        await hr.call_many([Call("slow.step", {}) for _ in range(20)])
        assert most == 3
        await hr.call_many([Call("slow.step", {}) for _ in range(20)], limit=7)
        assert most == 7


@pytest.mark.req("BP-10")
def test_one_file_has_one_key_however_its_path_is_spelled(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "Ä.txt").write_text("x")
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path)
    spellings = [
        "real/Ä.txt",
        "./real/../real/Ä.txt",
        "link/Ä.txt",
        "REAL/ä.TXT",
        str(tmp_path / "real/A\u0308.txt"),
    ]
    assert len({path_key(path) for path in spellings}) == 1
    assert path_key("Ä.txt", str(tmp_path / "link")) == path_key("real/Ä.txt")
    assert path_key("real/other.txt") != path_key("real/Ä.txt")
    assert isinstance(path_key("a\0b"), str)


def slow_to_set_up(name: str, ready: asyncio.Event, **definition: Any) -> Tool:
    async def initialise(init: object) -> dict[str, Any]:
        await ready.wait()
        return definition

    return define(name, initialise)


@pytest.mark.req("BP-11", "BY-11")
async def test_a_read_waits_for_a_write_before_it_that_is_still_being_set_up() -> None:
    ready, looked = asyncio.Event(), asyncio.Event()
    ran: list[str] = []

    @tool("file.read", level="read", reads=lambda args: ["a"])
    async def read() -> None:
        """Read."""
        ran.append("read")

    @tool("clock.look", level="read")
    async def look() -> None:
        """Look."""
        looked.set()

    async def writes(args: object) -> None:
        ran.append("write")

    write = slow_to_set_up(
        "file.write", ready, description="Write.", level="draft", writes=lambda args: ["a"], execute=writes
    )
    async with Handrail([write, read, look]) as hr, asyncio.timeout(20):
        batch = asyncio.ensure_future(hr.call_many([Call("file.write", {}), Call("file.read", {})]))
        await hr.call("clock.look")
        for _ in range(20):
            await asyncio.sleep(0)
        assert ran == []
        ready.set()
        await batch
    assert ran == ["write", "read"]


@pytest.mark.req("BP-02", "BY-12")
@pytest.mark.parametrize("twin", ["key", "dedup"])
async def test_who_waits_for_a_twin_holds_up_nobody(twin: str) -> None:
    """The first call ends only after the third: the second, its twin, must let that pass."""
    third_ran = asyncio.Event()

    @tool("slow.first", level="read")
    async def first() -> str:
        """Wait."""
        await third_ran.wait()
        return "done"

    @tool("slow.third", level="read")
    async def third() -> None:
        """Go."""
        third_ran.set()

    async with Handrail([first, third]) as hr, asyncio.timeout(20):
        key = "k" if twin == "key" else None
        outcomes = await hr.call_many(
            [
                Call("slow.first", {}, idempotency_key=key),
                Call("slow.first", {}, idempotency_key=key),
                Call("slow.third", {}),
            ],
            dedup=hr.dedup() if twin == "dedup" else None,
        )
    assert [out.status for out in outcomes] == ["completed", "duplicate", "completed"]
    assert outcomes[1].result.data == "done"


@pytest.mark.req("BP-02", "BY-11")
async def test_a_read_waits_for_a_call_before_it_of_which_nobody_knows_what_it_touches() -> None:
    told: list[str] = []

    @tool("any.thing", level="read", concurrency="sequential")
    async def anything() -> None:
        """Touch nobody knows what."""
        told.append("begins")
        for _ in range(5):
            await asyncio.sleep(0)
        told.append("ends")

    @tool("page.read", level="read", reads=lambda args: ["page"])
    async def read() -> None:
        """Read a page."""
        told.append("reads")

    async with Handrail([anything, read]) as hr:
        outcomes = await hr.call_many([Call("any.thing", {}, ANA), Call("page.read", {}, ANA)])
    assert all(one.ok for one in outcomes)
    assert told == ["begins", "ends", "reads"]
