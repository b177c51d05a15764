"""What every place for idempotency keys does: in memory, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from handrail import Outcome, Principal, Result
from handrail.core.define.call import BoundCall
from handrail.core.guard.idempotency import KeyEntry, KeyId, key_id
from handrail.core.tell.events import NeedsApproval, ToolCompleted, ToolFailed, ToolStarted
from tests.contract.backends import KINDS, Backend, BackendProcess, backend_of
from tests.contract.test_approvals import question

ANA = Principal("acme", "ana", agent="ops")
K1 = key_id(ANA, "k1")
pytestmark = [pytest.mark.req("BY-12"), pytest.mark.fault("F05")]


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


@pytest.fixture(params=KINDS[1:])
def rows(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


def call(id: str = "c1", tenant: str = "acme") -> BoundCall:
    return BoundCall("pay.send", replace(ANA, tenant=tenant), id, session="s1", idempotency_key="k1")


def outcome(status: Any = "completed", id: str = "c1", code: str | None = None) -> Outcome:
    return Outcome(status, Result(status == "completed", 5, code=code), id, "pay.send")


def tell(process: BackendProcess, kind: Any, of: BoundCall, **more: Any) -> None:
    """Tell an event, where a log keeps it; of an end, the beginning too."""
    told: dict[Any, tuple[Any, ...]] = {
        ToolStarted: ("r1", {}),
        ToolCompleted: ("r1", Result(data=5), 1.0),
        ToolFailed: ("r1", Result.fail("no", **more), 1.0),
        NeedsApproval: ("a1", {}, "why"),
    }
    if process.log is None:
        return
    if kind in (ToolCompleted, ToolFailed):
        process.log.append(ToolStarted(of, "pay.send", 1000.0, *told[ToolStarted]))
    process.log.append(kind(of, "pay.send", 1000.0, *told[kind]))


async def end(process: BackendProcess, id: str = "c1", status: Any = "completed") -> None:
    tell(process, ToolCompleted if status == "completed" else ToolFailed, call(id))
    process.keys.finish(K1, outcome(status, id))


async def ask(process: BackendProcess) -> None:
    """Begin a call that waits for a person."""
    await process.keys.begin(K1, "f1", "c1")
    tell(process, NeedsApproval, call())
    process.keys.finish(K1, outcome("pending"))


async def test_whoever_comes_first_has_the_key(place: Backend) -> None:
    keys = place.process().keys
    entry, ours = await keys.begin(K1, "f1", "c1")
    assert (ours, entry.state, entry.fingerprint) == (True, "new", "f1")
    assert (await keys.begin(K1, "f1", "c2"))[1] is False


async def test_another_process_meets_the_key_with_the_arguments_it_stands_for(place: Backend) -> None:
    await place.process().keys.begin(K1, "f1", "c1")
    entry, ours = await place.process().keys.begin(K1, "f2", "c2")
    assert (ours, entry.fingerprint, entry.outcome) == (False, "f1", None)


@pytest.mark.parametrize(
    "other",
    [
        replace(ANA, tenant="other"),
        replace(ANA, user="bo"),
        replace(ANA, user=None),
        replace(ANA, user=""),
        replace(ANA, agent=None),
        replace(ANA, agent="helper"),
    ],
    ids=str,
)
async def test_a_key_is_its_principals_own(place: Backend, other: Principal) -> None:
    keys = place.process().keys
    assert (await keys.begin(K1, "f1", "c1"))[1]
    assert (await keys.begin(key_id(other, "k1"), "f2", "c2"))[1]
    assert (await keys.begin(key_id(ANA, "k2"), "f1", "c3"))[1]


@pytest.mark.parametrize("name", ["", "k" * 10_000, "k\x00\n", "ключ ⌁", "\ud800"])
async def test_any_text_is_a_key(place: Backend, name: str) -> None:
    key: KeyId = key_id(ANA, name)
    assert (await place.process().keys.begin(key, "f1", "c1"))[1]
    assert not (await place.process().keys.begin(key, "f1", "c2"))[1]
    assert (await place.process().keys.begin(key_id(ANA, name + "x"), "f1", "c3"))[1]


async def test_the_outcome_is_there_for_whoever_comes_later_from_wherever(place: Backend) -> None:
    process = place.process()
    await process.keys.begin(K1, "f1", "c1")
    process.keys.dispatched(K1)
    await end(process)
    await process.settled()
    for later in (process, place.process()):
        entry, ours = await later.keys.begin(K1, "f1", "c2")
        assert (ours, entry.state) == (False, "done")
        assert entry.outcome is not None and (entry.outcome.status, entry.outcome.result.data) == (
            *("completed", 5),
        )


async def ended_of(entry: KeyEntry) -> None:
    await asyncio.wait_for(entry.over(), 20)


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_twin_waits_until_the_first_is_done(place: Backend, elsewhere: bool) -> None:
    process = place.process()
    await process.keys.begin(K1, "f1", "c1")
    process.keys.dispatched(K1)
    there = place.process() if elsewhere else process
    entry, ours = await there.keys.begin(K1, "f1", "c2")
    waiting = asyncio.create_task(ended_of(entry))
    await asyncio.wait([waiting], timeout=0.1)
    assert not ours and not waiting.done()
    await end(process)
    await waiting
    after, ours = await there.keys.begin(K1, "f1", "c2")
    assert not ours and after.outcome is not None and after.outcome.call_id == "c1"


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_key_that_was_given_up_is_anybodys(place: Backend, elsewhere: bool) -> None:
    process = place.process()
    await process.keys.begin(K1, "f1", "c1")
    there = place.process() if elsewhere else process
    entry, _ = await there.keys.begin(K1, "f1", "c2")
    process.keys.release(K1)
    await ended_of(entry)
    assert entry.outcome is None
    assert (await there.keys.begin(K1, "f2", "c2"))[1]


async def test_a_call_that_waits_for_a_person_says_so_and_then_goes_on_under_its_key(place: Backend) -> None:
    process = place.process()
    await ask(process)
    await process.settled()
    there = place.process()
    entry, ours = await there.keys.begin(K1, "f1", "c2")
    assert not ours and entry.outcome is not None
    assert (entry.state, entry.outcome.status, entry.outcome.call_id) == ("waiting", "pending", "c1")

    there.keys.dispatched(K1)  # approved: another process takes it up
    await there.settled()
    for process in (there, place.process()):
        entry, ours = await process.keys.begin(K1, "f1", "c3")
        assert (ours, entry.fingerprint, entry.outcome) == (False, "f1", None)
    await end(there)
    await there.settled()
    entry, _ = await place.process().keys.begin(K1, "f1", "c3")
    assert entry.outcome is not None and entry.outcome.status == "completed"


@pytest.mark.parametrize(("status", "again"), [("failed", True), ("completed", False)])
async def test_a_replay_gets_the_key_of_what_failed_and_of_nothing_else(
    place: Backend, status: str, again: bool
) -> None:
    process = place.process()
    await process.keys.begin(K1, "f1", "c1")
    process.keys.reopen(K1)
    process.keys.dispatched(K1)
    await end(process, status=status)
    process.keys.reopen(K1)
    await process.settled()
    assert (await place.process().keys.begin(K1, "f1", "c2"))[1] is again


async def test_who_asks_while_an_approved_call_is_taken_up_waits_for_its_end(rows: Backend) -> None:
    process = rows.process()
    await ask(process)
    await process.settled()

    writes, go_on = threading.Event(), threading.Event()

    def hold_up(conn: object) -> None:
        writes.set()
        go_on.wait(30)

    process.rows.post("acme", hold_up)
    await asyncio.to_thread(writes.wait, 30)
    asks = asyncio.create_task(process.keys.begin(K1, "f1", "c2"))
    await asyncio.sleep(0)  # it has asked, and the answer has to wait
    process.keys.dispatched(K1)
    tell(process, ToolStarted, call())
    go_on.set()
    entry, ours = await asks
    assert not ours and not entry.ended.done(), "it runs, so nobody may say that it is lost"

    await end(process, status="failed")
    await entry.over()
    assert entry.outcome is not None and entry.outcome.status == "failed"

    process.keys.reopen(K1)
    dead = rows.process()
    await process.settled()
    assert (await dead.keys.begin(K1, "f1", "c3"))[1]
    dead.keys.dispatched(K1)
    tell(dead, ToolStarted, call("c3"))
    await dead.settled()
    rows.kill(dead)
    entry, ours = await process.keys.begin(K1, "f1", "c4")
    assert not ours and entry.state == "dispatched" and entry.ended.done(), "this one is lost"


async def test_who_asks_while_a_call_is_ended_and_forgotten_asks_anew(rows: Backend) -> None:
    asking, process = rows.process(), rows.process()
    await ask(asking)
    await asking.settled()
    process.keys.dispatched(K1)  # taken up here, where nobody knows for which arguments
    await process.settled()

    go_on = threading.Event()
    held = [asyncio.create_task(process.rows.read("acme", lambda conn: go_on.wait(30))) for _ in range(4)]
    asks = asyncio.create_task(process.keys.begin(K1, "f1", "c2"))
    await asyncio.sleep(0)  # all who read are busy, so that it has to wait for its answer
    await end(process)
    process.keys.collected(K1, "c1")
    await process.settled()
    go_on.set()
    await asyncio.gather(*held)
    entry, ours = await asks
    assert ours and entry.fingerprint == "f1"


@pytest.mark.req("BY-06")
async def test_what_was_collected_may_be_asked_for_anew_and_what_was_not_may_not(place: Backend) -> None:
    process = place.process()
    await ask(process)
    process.keys.collected(K1, "c1")
    await process.settled()
    assert not (await place.process().keys.begin(K1, "f1", "c2"))[1], "it still waits"
    process.keys.dispatched(K1)
    await end(process)
    process.keys.collected(K1, "c0")
    await process.settled()
    assert not (await place.process().keys.begin(K1, "f1", "c2"))[1], "another call was collected"
    process.keys.collected(K1, "c1")
    process.keys.collected(key_id(ANA, "k2"), "c1")
    await process.settled()
    assert (await place.process().keys.begin(K1, "f1", "c2"))[1]
    process.keys.collected(K1, "c1")
    await process.settled()
    assert not (await place.process().keys.begin(K1, "f1", "c3"))[1], "c2 has only begun"


async def test_of_a_hundred_at_once_in_two_processes_one_has_the_key(place: Backend) -> None:
    both = [place.process(), place.process()]
    met = await asyncio.gather(*(both[n % 2].keys.begin(K1, "f1", f"c{n}") for n in range(100)))
    assert sum(ours for _, ours in met) == 1


async def test_whoever_is_cancelled_while_asking_leaves_no_key_behind(place: Backend) -> None:
    process = place.process()
    asking = asyncio.create_task(process.keys.begin(K1, "f1", "c1"))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait([asking])
    await process.settled()
    if asking.cancelled():
        assert (await place.process().keys.begin(K1, "f2", "c2"))[1]


async def test_what_a_dead_process_only_began_is_anybodys(rows: Backend) -> None:
    dead = rows.process()
    await dead.keys.begin(K1, "f1", "c1")
    waiting, _ = await rows.process().keys.begin(K1, "f1", "c2")
    rows.kill(dead)
    await ended_of(waiting)
    process = rows.process()
    assert (await process.keys.begin(K1, "f2", "c2"))[1]
    assert not (await rows.process().keys.begin(K1, "f2", "c3"))[1]


@pytest.mark.fault("F02")
@pytest.mark.parametrize("told", [False, True], ids=["key dispatched", "only its start is told"])
async def test_what_a_dead_process_dispatched_is_lost_to_whoever_comes(rows: Backend, told: bool) -> None:
    dead = rows.process()
    await dead.keys.begin(K1, "f1", "c1")
    if told:
        tell(dead, ToolStarted, call())
    else:
        dead.keys.dispatched(K1)
    await dead.rows.flushed()
    rows.kill(dead)
    entry, ours = await rows.process().keys.begin(K1, "f1", "c2")
    assert (ours, entry.state, entry.outcome, entry.ended.done()) == (False, "dispatched", None, True)


async def test_what_a_dead_process_had_told_holds_though_its_key_did_not_hear_of_it(rows: Backend) -> None:
    dead = rows.process()
    await dead.keys.begin(K1, "f1", "c1")
    dead.keys.dispatched(K1)
    tell(dead, ToolCompleted, call())
    await dead.rows.flushed()
    rows.kill(dead)
    entry, ours = await rows.process().keys.begin(K1, "f1", "c2")
    assert not ours and entry.outcome is not None and entry.outcome.status == "completed"


async def test_an_interrupted_run_that_may_be_made_again_gives_its_key_back(rows: Backend) -> None:
    dead = rows.process()
    await dead.keys.begin(K1, "f1", "c1")
    dead.keys.dispatched(K1)
    tell(dead, ToolFailed, call(), code="INTERRUPTED")
    await dead.rows.flushed()
    rows.kill(dead)
    entry, ours = await rows.process().keys.begin(K1, "f2", "c2")
    assert (ours, entry.fingerprint) == (False, "f1"), "it began with other arguments"
    assert (await rows.process().keys.begin(K1, "f1", "c2"))[1]


@pytest.mark.parametrize("kept", [True, False], ids=["in the book", "in no book"])
async def test_a_question_that_outlived_its_process_is_not_asked_twice(rows: Backend, kept: bool) -> None:
    dead = rows.process()
    await dead.keys.begin(K1, "f1", "c1")
    if kept:
        await dead.book.add(replace(question(), call=call()))
    tell(dead, NeedsApproval, call())
    await dead.rows.flushed()
    rows.kill(dead)
    entry, ours = await rows.process().keys.begin(K1, "f1", "c2")
    assert ours is not kept
    assert not kept or (entry.outcome is not None and entry.outcome.status == "pending")


async def test_a_process_that_was_given_up_for_dead_changes_nothing_any_more(rows: Backend) -> None:
    frozen, other = rows.process(), rows.process()
    await frozen.keys.begin(K1, "f1", "c1")
    await frozen.rows.flushed()
    rows.dead.add(frozen.rows.holder)
    assert (await other.keys.begin(K1, "f1", "c2"))[1]
    frozen.keys.dispatched(K1)
    frozen.keys.finish(K1, outcome())
    frozen.keys.release(K1)
    await frozen.rows.flushed()
    entry, ours = await rows.process().keys.begin(K1, "f1", "c3")
    assert (ours, entry.outcome, entry.ended.done()) == (False, None, False)


async def test_old_keys_are_swept_once_they_are_done(rows: Backend) -> None:
    process = rows.process()
    keys: Any = process.keys
    for name in ("old", "busy"):
        await keys.begin(key_id(ANA, name), "f", "c1")
    keys.finish(key_id(ANA, "old"), outcome())
    rows.clock.turn(100)
    await keys.begin(key_id(ANA, "new"), "f", "c3")
    keys.finish(key_id(ANA, "new"), outcome("completed", "c3"))
    await process.rows.flushed()
    assert keys.sweep(1050.0) == 1
    with process.rows.reading("acme") as conn:
        left = conn.exec_driver_sql("SELECT key FROM idempotency_keys ORDER BY key").scalars().all()
    assert left == ["busy", "new"]
