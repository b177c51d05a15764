"""What every event log does: in memory, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from handrail import Handrail, Policy, Principal, Result, tool
from handrail.core.define.context import Context
from handrail.core.errors import UsageError
from handrail.core.tell.log import FollowableLog
from handrail.core.tell.projections import outcome_of
from handrail.core.tell.runs import Run, RunFilter
from handrail.ext.events import Event, ToolCompleted, ToolStarted
from handrail.ext.ports import MemoryLog
from tests.unit.store.events.sample_events import call, cancelled, completed, events, failed, started

KINDS = ["memory", "sqlite", "postgresql"]


@pytest.fixture(params=KINDS)
def log(request: pytest.FixtureRequest) -> Iterator[FollowableLog]:
    if request.param == "memory":
        yield MemoryLog()
        return
    from handrail.store.database import Database
    from handrail.store.events.log import StoreLog

    url = request.getfixturevalue("postgres_url" if request.param == "postgresql" else "migrated_sqlite_url")
    db = Database(url)
    store = StoreLog(db)
    try:
        yield store
    finally:
        store.close()
        db.close()


def tell(log: FollowableLog, *told: Event) -> None:
    for event in told:
        log.append(event)


def numbers(log: FollowableLog, session: str, tenant: str = "acme") -> list[int]:
    return [event.seq for event in log.read(tenant, session=session)]


async def first(log: FollowableLog, number: int, **given: Any) -> list[Event]:
    """The first events that a follower gets."""
    got: list[Event] = []
    async with asyncio.timeout(30):
        following = log.follow("acme", **given)
        async for event in following:
            got.append(event)
            if len(got) == number:
                break
        await following.aclose()
    return got


@pytest.mark.req("EV-16", "BY-13")
def test_events_are_numbered_without_gaps_in_each_session_and_forward_in_the_tenant(
    log: FollowableLog,
) -> None:
    tell(log, *(started(n, f"s{n % 3}") for n in range(30)))
    for session in ("s0", "s1", "s2"):
        assert numbers(log, session) == list(range(1, 11))
    positions = [event.position for event in log.read("acme")]
    assert len(positions) == 30 and all(one < other for one, other in pairwise(positions))


@pytest.mark.req("EV-09")
async def test_an_event_has_its_number_once_it_is_durable(log: FollowableLog) -> None:
    told = [started(n) for n in range(3)]
    tell(log, *told)
    await log.flush(told[2])
    assert [event.seq for event in told] == [1, 2, 3]
    await log.flush(told[0])


@pytest.mark.req("EV-02", "EV-04", "EV-16")
def test_what_was_told_is_read_back(log: FollowableLog) -> None:
    begun = started(1)
    ended = completed(begun, value={"at": [1, 2.5, None, "ü\x00"]})
    tell(log, begun, ended)
    assert list(log.read("acme")) == [begun, ended]


@pytest.mark.req("EV-02", "EV-03", "EV-04", "EV-05", "EV-06", "EV-07", "EV-08", "ST-03")
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(event=events())
def test_any_event_is_read_back(log: FollowableLog, event: Event) -> None:
    run_id = getattr(event, "run_id", None)
    if run_id is not None and event.type != "tool.started":
        log.append(ToolStarted(event.call, event.tool, event.at, run_id, {}))
    log.append(event)
    back = list(log.read(event.tenant, session=event.session))[-1]
    assert back == event
    assert back.call == event.call


@pytest.mark.req("EV-16")
def test_another_tenant_reads_nothing(log: FollowableLog) -> None:
    tell(log, started(1), started(2, principal=Principal("other")))
    assert [event.call_id for event in log.read("acme")] == ["call_1"]
    assert [event.call_id for event in log.read("other", session="s1")] == ["call_2"]
    assert list(log.read("nobody")) == []
    assert list(log.read("acme", call_id="call_2")) == []


@pytest.mark.req("EV-14", "EV-16")
def test_events_are_filtered(log: FollowableLog) -> None:
    one, two = started(1, "s1", source="web"), started(2, "s2", source="cli", tool="dice.rig")
    three = started(3, "s1")
    tell(log, one, completed(one), two, failed(two), three, cancelled(three))

    def found(**filters: Any) -> list[tuple[str, str]]:
        return [(event.call_id, event.kind) for event in log.read("acme", **filters)]

    everything = found()
    assert everything == [
        ("call_1", "started"),
        ("call_1", "completed"),
        ("call_2", "started"),
        ("call_2", "failed"),
        ("call_3", "started"),
        ("call_3", "cancelled"),
    ]
    assert found(session="s1") == everything[:2] + everything[4:]
    assert found(tool="dice.rig") == everything[2:4]
    assert found(source="web") == everything[:2]
    assert found(status="failed") == [("call_2", "failed")]
    assert found(call_id="call_3") == everything[4:]
    assert found(since=2, until=3) == everything[2:4]
    assert found(session="s1", after=2) == everything[4:]
    assert found(session="s1", tool="dice.rig") == []


@pytest.mark.req("EV-16")
def test_many_threads_number_one_session_without_gaps(log: FollowableLog) -> None:
    ready = threading.Barrier(8)

    def work(n: int) -> None:
        ready.wait()
        for i in range(25):
            log.append(started(n * 100 + i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert numbers(log, "s1") == list(range(1, 201))
    for n in range(8):
        mine = [event.call_id for event in log.read("acme") if int(event.call_id[5:]) // 100 == n]
        assert mine == [f"call_{n * 100 + i}" for i in range(25)]


@pytest.mark.fault("F16")
@pytest.mark.req("BY-13")
async def test_a_follower_gets_what_is_there_and_what_comes(log: FollowableLog) -> None:
    tell(log, started(1), started(2))
    following = asyncio.create_task(first(log, 5, session="s1"))
    for n in range(3, 6):
        await asyncio.sleep(0.01 * (n % 2))
        tell(log, started(n), started(100 + n, "s2"))
    assert [event.seq for event in await following] == [1, 2, 3, 4, 5]
    assert [event.call_id for event in await first(log, 2, session="s1", after=3)] == ["call_4", "call_5"]


@pytest.mark.req("BY-13")
async def test_a_whole_tenant_can_be_followed(log: FollowableLog) -> None:
    tell(log, started(1, "s1"), started(2, "s2"), started(9, principal=Principal("other")))
    got = await first(log, 2)
    assert [event.call_id for event in got] == ["call_1", "call_2"]
    following = asyncio.create_task(first(log, 2, after=got[-1].position))
    await asyncio.sleep(0.01)
    tell(log, started(3, "s1"), started(8, principal=Principal("other")), started(4, None))
    assert [event.call_id for event in await following] == ["call_3", "call_4"]
    beginning = asyncio.create_task(first(log, 7))
    for n in range(5, 8):
        await asyncio.sleep(0.01)
        tell(log, started(n, f"s{n % 3}"))
    assert [event.call_id for event in await beginning] == [f"call_{n}" for n in range(1, 8)]


@pytest.mark.req("BY-13")
async def test_an_unprintable_session_is_followed_and_read_like_any(log: FollowableLog) -> None:
    odd = "a\x00b\ud800" + "x" * 500
    following = asyncio.create_task(first(log, 2, session=odd))
    await asyncio.sleep(0.01)
    tell(log, started(1, odd), started(2, odd), started(3, "other"))
    assert [event.session for event in await following] == [odd, odd]
    assert numbers(log, odd) == [1, 2]


async def _runs(log: FollowableLog, **filters: Any) -> list[str]:
    return [run.id for run in await log.runs("acme", RunFilter(**filters))]


@pytest.mark.req("EV-14")
async def test_runs_are_listed_newest_first_and_filtered(log: FollowableLog) -> None:
    ana, bot = Principal("acme", "ana"), Principal("acme", "bo", agent="bot")
    begun = [
        started(1, "s1", principal=ana, source="web"),
        started(2, "s2", principal=bot, tool="dice.rig"),
        started(3, "s1", principal=bot),
        started(4, "s1", principal=ana, source="cli"),
        started(5, "s3", principal=ana, tool="dice.rig"),
        started(6, "s1", principal=Principal("other")),
    ]
    tell(log, *begun)
    ends = [completed(begun[0]), failed(begun[1]), cancelled(begun[2]), failed(begun[3], "UNKNOWN_OUTCOME")]
    tell(log, *ends)
    refused = started(7).call
    log.append(ToolCompleted(refused, "dice.roll", 9.0, None, Result(data=1), 0.0))

    assert await _runs(log) == ["run_5", "run_4", "run_3", "run_2", "run_1"]
    assert await _runs(log, session="s1") == ["run_4", "run_3", "run_1"]
    assert await _runs(log, tool="dice.rig") == ["run_5", "run_2"]
    assert await _runs(log, source="web") == ["run_1"]
    assert await _runs(log, user="ana") == ["run_5", "run_4", "run_1"]
    assert await _runs(log, agent="bot") == ["run_3", "run_2"]
    assert await _runs(log, since=2, until=4) == ["run_3", "run_2"]
    for status, wanted in (
        ("completed", ["run_1"]),
        ("failed", ["run_2"]),
        ("cancelled", ["run_3"]),
        ("needs_review", ["run_4"]),
        ("running", ["run_5"]),
    ):
        assert await _runs(log, status=status) == wanted
        for one in wanted:
            run = await log.run("acme", one)
            assert run is not None and run.status == status
            more = {"tool": run.tool, "session": run.session, "user": run.user, "source": run.source}
            assert await _runs(log, status=status, **more) == wanted
            assert await _runs(log, status=status, source=run.source) == wanted
            assert await _runs(log, status=status, tool="else") == []
    assert await log.run("acme", "run_1") == Run(
        "run_1", "call_1", "s1", "dice.roll", "ana", None, "web", "completed", None, 1.0, 1.5
    )
    assert await log.run("other", "run_1") is None and await log.run("acme", "run_9") is None
    assert await log.runs("nobody") == []


@pytest.mark.req("EV-14")
async def test_runs_are_paged_by_a_cursor_also_those_that_began_at_once(log: FollowableLog) -> None:
    begun = [started(n, at=float(n // 4)) for n in range(22)]
    tell(log, *begun, *(completed(one) for one in begun[::2]))
    for filters in ({}, {"tool": "dice.roll"}, {"status": "completed"}):
        which = RunFilter(**filters)  # type: ignore[arg-type]
        everything = [run.id for run in await log.runs("acme", which, limit=100)]
        pages: list[str] = []
        after = None
        while page := await log.runs("acme", which, after=after, limit=3):
            pages += [run.id for run in page]
            after = page[-1].cursor
        assert pages == everything and len(set(pages)) == (11 if "status" in filters else 22)


async def test_a_list_that_cannot_be_meant_says_so(log: FollowableLog) -> None:
    with pytest.raises(UsageError, match="not a place in a list"):
        await log.runs("acme", after="rubbish")
    with pytest.raises(UsageError, match="whole number from 1"):
        await log.runs("acme", limit=0)
    with pytest.raises(UsageError, match="not a status of a run"):
        RunFilter(status="refused")  # type: ignore[arg-type]


@tool("dice.roll", level="read")
async def roll(sides: int = 6) -> int:
    """Roll a die."""
    return sides


@tool("dice.rig", level="write")
async def rig(sides: int, *, ctx: Context) -> str:
    """Rig a die."""
    ctx.append_output("rig")
    ctx.append_output("ged")
    if sides == 0:
        raise ValueError("no sides")
    return "done"


@pytest.mark.req("EV-02", "EV-03", "EV-04", "EV-05", "EV-17", "ST-03")
async def test_calls_leave_their_story_in_the_log_and_it_tells_their_outcome(log: FollowableLog) -> None:
    ana = Principal("acme", "ana")
    async with Handrail([roll, rig], log=log, policy=Policy(approval_mode="policy")) as hr:
        outcomes = [
            await hr.call("dice.roll", {"sides": "8"}, principal=ana, session="s1"),
            await hr.call("dice.rig", {"sides": 4}, principal=ana, session="s1"),
            await hr.call("dice.rig", {"sides": 0}, principal=ana, source="api"),
            await hr.call("dice.roll", {"sides": "many"}, principal=ana, session="s1"),
            await hr.call("dice.gone", principal=ana),
        ]
        for outcome in outcomes:
            told = list(log.read("acme", call_id=outcome.call_id))
            folded = outcome_of(told)
            assert folded is not None
            for same in ("status", "result", "call_id", "tool", "run_id", "duration_ms", "repairs"):
                assert getattr(folded, same) == getattr(outcome, same), same
            assert [event.seq for event in told] == sorted(event.seq for event in told)
        chunks = [event.chunk for event in log.read("acme", status="chunk") if event.kind == "chunk"]  # type: ignore[attr-defined]
        assert chunks == ["rig", "ged", "rig", "ged"]
        assert {outcome.status for outcome in outcomes} == {"completed", "failed", "refused"}


@pytest.mark.req("EV-07", "EV-08")
async def test_a_call_that_waits_is_told_as_pending_and_then_as_it_ended(log: FollowableLog) -> None:
    ana, rev = Principal("acme", "ana", agent="bot"), Principal("acme", "rev", permissions={"*"})
    async with Handrail([rig], log=log, policy=Policy(approval_mode="strict")) as hr:
        waiting = await hr.call("dice.rig", {"sides": 4}, principal=ana, session="s1")
        assert waiting.status == "pending"
        told = outcome_of(log.read("acme", call_id=waiting.call_id))
        assert told is not None
        assert (told.status, told.approval_id) == ("pending", waiting.approval_id)
        assert told.result == waiting.result
        assert waiting.approval_id is not None
        await hr.approvals.approve(waiting.approval_id, by=rev)
        done = await hr.wait(waiting.call_id, timeout=20)
        folded = outcome_of(log.read("acme", call_id=waiting.call_id))
        assert folded is not None
        assert (folded.status, folded.approval_id) == ("completed", done.approval_id)
        assert folded.result.data == "done"

        other = await hr.call("dice.rig", {"sides": 5}, principal=ana, session="s1")
        assert other.approval_id is not None
        await hr.approvals.reject(other.approval_id, by=rev, reason="no")
        await hr.wait(other.call_id, timeout=20)
        refused = outcome_of(log.read("acme", call_id=other.call_id))
        assert refused is not None and (refused.status, refused.code) == ("refused", "REJECTED")


def test_the_fold_of_a_running_or_unknown_call_is_open() -> None:
    begun = started(1)
    assert outcome_of([]) is None
    assert outcome_of([begun]) is None
    review = outcome_of([begun, failed(begun, "UNKNOWN_OUTCOME")])
    assert review is not None and review.status == "needs_review"
    ended = outcome_of([begun, cancelled(begun)])
    assert ended is not None and ended.status == "cancelled" and ended.call_id == call(1).id
